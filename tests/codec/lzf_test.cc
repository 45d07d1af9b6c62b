#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "codec/codec.h"

namespace lamella::codec {
namespace {

using Stream = std::vector<std::byte>;

// Streams made by hand, and what they mean, one byte after the other.
struct Twin {
  Stream stored, decoded;

  void literals(int n) {
    stored.push_back(static_cast<std::byte>(n - 1));
    for (int i = 0; i < n; ++i) {
      stored.push_back(static_cast<std::byte>(decoded.size() * 37 + 11));
      decoded.push_back(stored.back());
    }
  }
  void match(int distance, int length) {
    const int extra = length - 2, back = distance - 1;
    stored.push_back(static_cast<std::byte>(std::min(extra, 7) << 5 | back >> 8));
    if (extra >= 7) stored.push_back(static_cast<std::byte>(extra - 7));
    stored.push_back(static_cast<std::byte>(back & 255));
    for (int i = 0; i < length; ++i) decoded.push_back(decoded[decoded.size() - static_cast<size_t>(distance)]);
  }
};

Stream decode(const Stream& stored, size_t room) {
  const auto codec = make_bytes_codec({"lzf", Json::object()}, 1);
  Stream out(room + 8, std::byte{0xee});  // what lies behind the room must stay
  const int64_t n = codec->decode(stored, Bytes(out).first(room));
  EXPECT_TRUE(std::all_of(out.end() - 8, out.end(), [](std::byte b) { return b == std::byte{0xee}; }));
  out.resize(static_cast<size_t>(n));
  return out;
}

TEST(Lzf, MatchesOfEveryDistanceAndLength) {
  for (int distance = 1; distance <= 40; ++distance) {
    for (int length = 3; length <= 264; length += length < 40 ? 1 : 7) {
      for (int tail : {0, 1, 31, 32}) {  // near the end of the memory, and far from it
        Twin twin;
        twin.literals(std::min(distance, 32));
        if (distance > 32) twin.literals(distance - 32);
        twin.match(distance, length);
        if (tail > 0) twin.literals(tail);
        ASSERT_EQ(decode(twin.stored, twin.decoded.size()), twin.decoded) << distance << " " << length << " " << tail;
      }
    }
  }
}

TEST(Lzf, LiteralsOfEveryLengthAtTheEnd) {
  for (int first = 1; first <= 32; ++first) {
    for (int second = 1; second <= 32; ++second) {
      Twin twin;
      twin.literals(first);
      twin.literals(second);
      ASSERT_EQ(decode(twin.stored, twin.decoded.size()), twin.decoded);
      ASSERT_EQ(decode(twin.stored, twin.decoded.size() + 100), twin.decoded);
      EXPECT_THROW(decode(twin.stored, twin.decoded.size() - 1), Error);
    }
  }
}

TEST(Lzf, RefusesAMatchBeforeTheStart) {
  Twin twin;
  twin.literals(32);
  Stream stored = twin.stored;
  stored.push_back(std::byte{1 << 5});
  stored.push_back(std::byte{32});  // a distance of 33
  EXPECT_THROW(decode(stored, 1000), Error);
}

}  // namespace
}  // namespace lamella::codec
