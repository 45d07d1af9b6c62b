#pragma once

#include <memory>

#include "array/array.h"
#include "base/json.h"
#include "lazy/expr.h"
#include "plan/block.h"
#include "plan/run.h"

namespace lamella::plan {

// How one expression becomes one array. Made without touching data; the same arguments give the same plan.
struct CopyPlan {
  lazy::ExprPtr source;
  array::ArraySpec spec;
  bool pass_through = false;  // encoded chunks go as they are
  BlockChoice choice;         // when they do not
  // Where blocks would read the source more than a few times: the way into an intermediate file of tiles from which
  // they are read instead. Else null.
  std::shared_ptr<const CopyPlan> tiles;
  Shape limit;               // shards that must be written one after the other; empty: none
  int64_t thread_bytes = 0;  // resident bytes of each thread that reads or encodes
  int64_t needed_bytes = 0;  // the least memory that would do
  int64_t peak_bytes = 0;    // what it will take with `memory`

  int64_t decoded_bytes() const;
  int64_t work_bytes() const;  // decoded bytes that go through memory, as Meter counts them
  Json describe(const std::string& path) const;
};

// `single_shards`: shards must be written one after the other. `memory` as in Run.
CopyPlan plan_copy(lazy::ExprPtr source, const array::ArraySpec& spec, bool single_shards, int64_t memory);

// The way into an intermediate file for one who will read `source` `times` times in pieces of `choice`; null when going
// through the file is not less reading, or elements are no plain bytes.
std::shared_ptr<const CopyPlan> plan_tiles(const lazy::ExprPtr& source, const BlockProblem& problem,
                                           const BlockChoice& choice, int times, int64_t memory);

// Runs it: creates nothing, appends every chunk to `writer` (array number `array` of the journal), and finishes it.
void run_copy(Run& run, const CopyPlan& plan, array::ArrayWriter& writer, int64_t array);

// The pieces in which reading is cheapest, as Expr::grain(), with a guess for contiguous storage.
Shape grain_of(const lazy::Expr& source);

// The two halves of a block's way into chunked storage, for jobs that make their blocks themselves. `block` begins at
// chunk edges; the journal's order is row-major within the block. Puts back what an interrupted run appended of the
// block; the number of chunks that this was.
int64_t restore_block(Run& run, array::ArrayWriter& writer, int64_t array, const Box& block);
// Encodes the other chunks, from decoded bytes, in parallel and appends them in order.
void append_block(Run& run, array::ArrayWriter& writer, int64_t array, const Box& block, int64_t restored,
                  const View& data);

}  // namespace lamella::plan
