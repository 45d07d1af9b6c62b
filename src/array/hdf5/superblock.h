#pragma once

#include <cstdint>

#include "store/file.h"

namespace lamella::array::hdf5 {

constexpr int64_t kUndefined = -1;  // an address of all ones: "there is none"

// What stands at the start of a file. Addresses in the file count from `base`.
struct Superblock {
  int version = 0;
  int offset_size = 8;          // bytes of an address
  int length_size = 8;          // bytes of a length
  int64_t base = 0;             // where the signature stands: after the user block
  int64_t root = kUndefined;    // object header of the root group
  int64_t end = 0;              // end of the file, absolute
  int chunk_tree_entries = 64;  // most children of a node of a chunk B-tree
};

// Finds and checks it. Throws Corrupt, also for a file that is shorter than it says.
Superblock read_superblock(const store::ReadFile& file);

}  // namespace lamella::array::hdf5
