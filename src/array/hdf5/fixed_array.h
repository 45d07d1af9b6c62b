#pragma once

#include <functional>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

// An element of a chunk array. Size -1: the array holds addresses only, chunks have no filter.
struct ArrayElement {
  int64_t address = kUndefined;
  int64_t size = -1;
  uint32_t mask = 0;
};

// Takes one of `size` bytes, with filters when the array's client is 1.
ArrayElement take_element(const Container& container, ByteReader& in, int client, int64_t size);

// Calls `visit` with the number and place of each element of a fixed array that is written, in order.
void walk_fixed_array(const Container& container, int64_t address,
                      const std::function<void(int64_t, const ArrayElement&)>& visit);

}  // namespace lamella::array::hdf5
