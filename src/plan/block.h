#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/shape.h"

namespace lamella::plan {

// What the choice of a block depends on.
struct BlockProblem {
  Shape shape;  // of the array
  int64_t item_size = 1;
  Shape unit;   // of the target: a chunk, or rows of contiguous storage
  Shape grain;  // of the source: its chunks; empty when any region costs the same
  Shape limit;  // a block stays within such a cell of the target (a shard that must be written alone); empty: none
  bool runs_only = false;  // a block must be one run in row-major order
  int64_t memory = 0;      // bytes that one block may have
};

// A rectangle of whole units that is read, encoded and appended at a time.
struct BlockChoice {
  Shape block;
  double passes = 1;  // how often each piece of the source is read on average
  int64_t bytes = 0;  // of one decoded block
  int64_t blocks = 0;
  bool fits = true;  // false: even one unit is more than `memory`
};

// Tiles of an intermediate file between a source and blocks that would read it again and again: what is written in
// pieces of the source and read in such blocks, each in one pass or little more.
Shape choose_tile(const BlockProblem& problem, const BlockChoice& choice);

// The smallest block of a handy size that reads the source as few times as the memory allows. Depends on nothing but
// its argument: the same problem gives the same blocks, and so the same bytes, on every machine.
BlockChoice choose_block(const BlockProblem& problem);

}  // namespace lamella::plan
