#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "array/sink.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/threads.h"
#include "codec/spec.h"
#include "plan/recipe.h"

namespace lamella::plan {

// How to write: everything that the user may say about the target.
struct WriteOptions {
  std::string target;
  array::SinkFormat format = array::SinkFormat::Zarr3;
  bool zip = false;
  std::optional<codec::CodecList>
      codecs;  // bytes→bytes codecs of every array that is no scalar; absent: kept, or the format's habit
  std::optional<Shape> chunks;  // for arrays of this rank
  std::optional<Shape> shards;  // for arrays of this rank; Zarr v3 only
  bool no_shards = false;       // Zarr v3: a file for each chunk
  bool overwrite = false;
  bool resume = false;
  int64_t memory = 0;  // budget of the whole process in bytes; 0: default_memory_budget()
  bool memory_on_top =
      false;            // the budget is for what comes on top of what the process has resident now (an interpreter)
  int threads = 0;      // 0: available_processors()
  std::string command;  // what makes this run the same run when resumed: verb, inputs and options in one string
};

struct WriteResult {
  int64_t elements = 0;
  int64_t read_bytes = 0;     // decoded bytes of the sources, once
  int64_t written_bytes = 0;  // size of the target
  double seconds = 0;
  int64_t peak_bytes = 0;  // peak resident memory of the process
};

// Writes the recipe to options.target: plan, run, commit. The target appears whole or not at all. Throws; then nothing
// is left behind, except what --resume can go on with when the process was killed.
WriteResult write(const Recipe& recipe, const WriteOptions& options, Progress* progress = nullptr,
                  const CancelFlag* cancel = nullptr);

// The plan without running it: per element the tasks, passes over the source, bytes read and written, the expected
// peak; or that the budget is too small and which would do. Plain data.
Json describe(const Recipe& recipe, const WriteOptions& options);

}  // namespace lamella::plan
