#pragma once

#include "array/hdf5/links.h"
#include "array/hdf5/object_header.h"

namespace lamella::array::hdf5 {

// The links of a group of the oldest form: a version 1 B-tree of symbol nodes whose names lie in a local heap. By name.
std::vector<Link> read_symbol_table(const Container& container, const Message& message);

}  // namespace lamella::array::hdf5
