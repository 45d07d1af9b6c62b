#pragma once

#include <memory>

#include "array/sink.h"
#include "store/store.h"

namespace lamella::array::zarr {

// Writes a hierarchy of Zarr `version` 2 or 3 as zarr-python does. Chunks and shards go to the store as they come;
// metadata documents are written at the commit, children before their parents, the root's last.
std::unique_ptr<Sink> create_zarr_sink(std::shared_ptr<store::Store> store, int version, bool resume, bool consolidate);

}  // namespace lamella::array::zarr
