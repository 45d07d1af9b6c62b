#pragma once

#include <functional>

#include "base/strided.h"
#include "lazy/expr.h"
#include "plan/layout.h"

namespace lamella::plan {

// Where the samples of an array come from.
struct Sampler {
  std::function<void(const Box& box, const View& to)> read;  // `to` is one run, row-major
  Shape grain;                // the pieces in which reading is cheapest; empty: any region costs the same
  int64_t working_bytes = 0;  // that reading takes beside the destination
  bool anywhere = true;       // false: only the beginning is reached at little cost
};

Sampler sampler_of(const lazy::Expr& source, bool anywhere);

// The spec with the candidate that makes two sample chunks of the array smallest, the first of equals; as it is where
// there is nothing to choose, too little to gain or no memory for a trial. Follows from its arguments and the data
// alone, so that a run that is repeated decides the same.
array::ArraySpec settle_codecs(const ArrayLayout& layout, const Sampler& sampler, int64_t memory);

// What it will take to store the array by `spec`, by the same two samples: bytes, exact where nothing is compressed,
// and seconds of one thread.
struct Expected {
  int64_t bytes = 0;
  double seconds = 0;
};
Expected expect(const array::ArraySpec& spec, const Sampler& sampler, int64_t memory);

}  // namespace lamella::plan
