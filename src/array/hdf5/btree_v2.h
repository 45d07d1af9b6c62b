#pragma once

#include <functional>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

// Calls `visit` with the bytes of each record of a version 2 B-tree, in order of keys. `type` is checked against the
// header's: 5 link names, 6 link order, 8 attribute names, 9 attribute order, 10 and 11 chunks without and with
// filters, …
void walk_btree2(const Container& container, int64_t address, std::initializer_list<int> types,
                 const std::function<void(ByteReader)>& visit);

}  // namespace lamella::array::hdf5
