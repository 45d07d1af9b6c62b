#pragma once

#include "array/array.h"
#include "plan/convert.h"

namespace lamella::plan {

struct ArrayLayout {
  array::ArraySpec spec;
  // Codecs that are worth a trial (plan/trial.h), the one to prefer first; empty where those of `spec` are settled.
  std::vector<codec::CodecList> candidates;
};

// Chooses how an array lies in the target: chunks, shards, codecs. What the user named goes first, then what the source
// has where the target can express it and an ordinary reader of the target's format will understand it, then the
// format's habit. Touches no data. `memory` keeps chunks that the source has from being taken over when they are too
// big to work with.
ArrayLayout choose_layout(const ArrayItem& item, const WriteOptions& options, int64_t memory);

// A chunk shape of about `bytes`: the longest axis is halved until it fits.
Shape chunk_of_about(const Shape& shape, int64_t item_size, int64_t bytes);

}  // namespace lamella::plan
