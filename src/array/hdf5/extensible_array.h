#pragma once

#include "array/hdf5/fixed_array.h"

namespace lamella::array::hdf5 {

// Calls `visit` with the number and place of each element of an extensible array that is written, in order: those of
// the index block, of the data blocks it points to, of those that super blocks point to.
void walk_extensible_array(const Container& container, int64_t address,
                           const std::function<void(int64_t, const ArrayElement&)>& visit);

}  // namespace lamella::array::hdf5
