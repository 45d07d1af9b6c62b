#pragma once

#include "plan/run.h"
#include "plan/steps.h"

namespace lamella::plan {

// Writes a matrix in another, sparse layout: counting and bucket passes first, then data and indices in the order of
// their entries, then indptr. The three arrays get chunks of equally many entries.
void run_sparse(Run& run, const SparseStep& step, const WriteOptions& options);

// The plan of it, in the form of CopyPlan::describe, with "needed_bytes".
Json describe_sparse(const SparseStep& step, int64_t memory);

// About how long one thread goes through it, by its first majors; 0 where a few cost as much as all.
double sampled_seconds(const SparseStep& step);

}  // namespace lamella::plan
