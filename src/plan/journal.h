#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/sink.h"

namespace lamella::plan {

// Remembers in a file beside the data which chunks were appended where, so that a killed run can be repeated up to that
// point without reading or encoding anything. Entries are written after the bytes that they speak of. Not thread-safe.
class Journal {
 public:
  struct Entry {
    int64_t array = 0;  // number of the array, in order of creation
    int64_t unit = 0;   // row-major number of the chunk, or of the block of contiguous storage
    array::Placement placement;
  };

  // Starts an empty one, or, with `resume`, reads what an earlier run left; a torn last entry is dropped.
  Journal(const std::string& path, bool resume);
  ~Journal();
  Journal(const Journal&) = delete;

  // The entry of the earlier run that comes next, if it is for this array and unit. Entries are taken in order, once
  // each.
  std::optional<array::Placement> replay(int64_t array, int64_t unit);
  bool replaying() const { return next_ < entries_.size(); }

  void record(const Entry& entry);
  void flush();

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

}  // namespace lamella::plan
