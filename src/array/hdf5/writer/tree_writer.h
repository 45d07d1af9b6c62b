#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "array/sink.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// A chunk that was stored, for the index.
struct StoredChunk {
  int64_t chunk = 0;  // row-major number in the grid
  int64_t position = 0;
  uint32_t size = 0;
  uint32_t mask = 0;
};

// Grows without moving: for large arrays it is most of the memory that the sink takes.
using ChunkTable = std::deque<StoredChunk>;

// Writes a version 1 B-tree over the chunks at the end of the file, bottom up, and returns the address of its root;
// kNowhere for no chunks. Sorts them.
int64_t write_chunk_tree(store::WriteFile& file, ChunkTable& chunks, const Grid& grid, int64_t item_size);

struct GroupAddresses {
  int64_t tree = 0;
  int64_t heap = 0;
};
// Writes local heap, symbol nodes and B-tree of a group whose members are (name, address of the object header).
GroupAddresses write_group(store::WriteFile& file, std::vector<std::pair<std::string, int64_t>> members);

}  // namespace lamella::array::hdf5
