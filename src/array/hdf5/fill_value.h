#pragma once

#include <cstddef>
#include <vector>

#include "array/hdf5/object_header.h"

namespace lamella::array::hdf5 {

// The bytes of the fill value that the header of a dataset defines; empty when it defines none.
std::vector<std::byte> find_fill_value(const Container& container, const ObjectHeader& header);

}  // namespace lamella::array::hdf5
