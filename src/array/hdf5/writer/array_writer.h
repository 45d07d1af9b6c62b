#pragma once

#include <memory>
#include <vector>

#include "array/hdf5/writer/byte_writer.h"
#include "array/hdf5/writer/tree_writer.h"
#include "array/sink.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// The file and where the next byte goes. Space is given out in the order of the calls and nothing is left unwritten, so
// that a repeated run gives out and leaves the same, whatever lies behind `end` from an interrupted one.
struct Output {
  std::unique_ptr<store::WriteFile> file;
  int64_t end = 0;

  int64_t append(ConstBytes bytes);
  void align();                    // to 8 bytes
  int64_t reserve(int64_t bytes);  // aligned; the caller writes all of them before the commit
};

// What the commit needs to know of an array.
struct ArrayRecord {
  ArraySpec spec;
  int64_t position = kNowhere;  // contiguous
  ChunkTable chunks;
};

// Throws Unsupported or Invalid for what no dataset can be. Creating one that passes does not fail for its form.
void check_spec(const ArraySpec& spec);

// Both outlive the writer.
std::unique_ptr<ArrayWriter> create_array_writer(Output& output, ArrayRecord& record);

}  // namespace lamella::array::hdf5
