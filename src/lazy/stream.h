#pragma once

#include "lazy/expr.h"

namespace lamella::lazy {

// Can the chunks of `array` be decoded front to back without ever being whole in memory?
bool can_stream(const array::Array& array);

// `array` for readers that go through it in row-major order and have no room for a chunk: each chunk is decoded as a
// stream whose place is remembered between reads. Going back within a chunk decodes it from its start again. Reads take
// turns.
ExprPtr stream(std::shared_ptr<const array::Array> array);

}  // namespace lamella::lazy
