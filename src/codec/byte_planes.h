#pragma once

#include <cstddef>
#include <cstdint>

namespace lamella::codec {

// `n` elements of `size` bytes ↔ `size` planes of n bytes: plane j holds byte j of every element. No overlap.
void split_planes(const std::byte* elements, int64_t n, int64_t size, std::byte* planes);
void join_planes(const std::byte* planes, int64_t n, int64_t size, std::byte* elements);

}  // namespace lamella::codec
