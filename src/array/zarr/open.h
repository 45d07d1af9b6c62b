#pragma once

#include <memory>

#include "array/array.h"
#include "store/store.h"

namespace lamella::array::zarr {

// The group or array at the root of a store, of Zarr v2 or v3 (where documents of both are there: v3). A zip whose only
// content is one folder is opened at that folder. Member documents are what counts: consolidated metadata is a cache
// that may be stale, and local stores do not need it.
Node open_root(std::shared_ptr<store::Store> store);

// 2 or 3.
int version(const Node& node);

}  // namespace lamella::array::zarr
