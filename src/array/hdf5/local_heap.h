#pragma once

#include <string>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

// The names of a symbol-table group. Loaded whole.
class LocalHeap {
 public:
  LocalHeap(const Container& container, int64_t address);
  std::string name_at(int64_t offset) const;

 private:
  Block data_;
};

}  // namespace lamella::array::hdf5
