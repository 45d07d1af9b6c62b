#pragma once

#include <functional>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

// Calls `visit` with the address of each symbol node below a version 1 B-tree of a group, in order of names.
void walk_group_tree(const Container& container, int64_t address, const std::function<void(int64_t)>& visit);

// A chunk as its key in a version 1 B-tree has it; `offset` points to `rank` element offsets that live during the call.
struct TreeChunk {
  int64_t address;
  uint32_t size;
  uint32_t mask;
  const std::byte* offset;  // rank × uint64, little-endian
};

// Calls `visit` for each chunk, in row-major order. One read a node.
void walk_chunk_tree(const Container& container, int64_t address, int rank,
                     const std::function<void(const TreeChunk&)>& visit);

}  // namespace lamella::array::hdf5
