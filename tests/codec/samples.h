#pragma once

#include <algorithm>
#include <cstring>
#include <random>

#include "codec/codec.h"

namespace lamella::codec {

// `values` different byte values: few of them compress well.
inline Buffer random_bytes(int64_t n, uint32_t seed, int values = 256) {
  std::mt19937 random(seed);
  Buffer out(n);
  for (std::byte& b : out.bytes()) b = static_cast<std::byte>(random() % static_cast<uint32_t>(values));
  return out;
}

inline Buffer encode_whole(const BytesCodec& codec, ConstBytes in) {
  Buffer out(codec.encoded_bound(static_cast<int64_t>(in.size())));
  out.shrink(codec.encode(in, out.bytes()));
  return out;
}

inline bool equal(ConstBytes a, ConstBytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Gives the bytes in pieces of `step`, as a file that is read would.
inline BytesCodec::Pull in_pieces(ConstBytes bytes, size_t step) {
  return [bytes, step](Bytes out) mutable {
    const size_t n = std::min({step, out.size(), bytes.size()});
    if (n > 0) std::memcpy(out.data(), bytes.data(), n);
    bytes = bytes.subspan(n);
    return static_cast<int64_t>(n);
  };
}

}  // namespace lamella::codec
