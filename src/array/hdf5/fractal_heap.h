#pragma once

#include <map>
#include <vector>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

// Where dense links and attributes lie: objects in blocks whose sizes double from row to row. Blocks are read at the
// first need and kept. One thread at a time. Throws Unsupported for heaps with filters.
class FractalHeap {
 public:
  FractalHeap(const Container& container, int64_t address);

  int64_t id_size() const { return id_size_; }
  // The object of an id, as B-tree records hold it. The bytes live as long as the heap.
  ConstBytes object(ConstBytes id);

 private:
  struct Direct {
    int64_t address;
    int64_t size;
  };
  void load_indirect(int64_t address, int64_t rows, int64_t offset, int depth);
  int64_t row_size(int64_t row) const;
  ConstBytes managed(int64_t offset, int64_t length);
  ConstBytes huge(ByteReader id);
  ConstBytes keep(int64_t address, int64_t size, const char* what);

  const Container& container_;
  int64_t address_;
  WalkLimit limit_;
  int64_t id_size_ = 0, offset_width_ = 0, length_width_ = 0, huge_tree_ = kUndefined;
  int64_t width_ = 0, start_size_ = 0, most_direct_ = 0, direct_rows_ = 0;
  bool checksums_ = false;
  std::map<int64_t, Direct> direct_;  // by the offset of the block in the heap
  std::map<int64_t, Block> blocks_;   // by address
};

}  // namespace lamella::array::hdf5
