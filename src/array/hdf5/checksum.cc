#include "array/hdf5/checksum.h"

#include <bit>
#include <cstring>

namespace lamella::array::hdf5 {

uint32_t lookup3(ConstBytes bytes) {
  const std::byte* data = bytes.data();
  size_t left = bytes.size();
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(left);
  uint32_t b = a, c = a;
  uint32_t word[3];
  while (left > 12) {
    std::memcpy(word, data, 12);
    a += word[0], b += word[1], c += word[2];
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
    data += 12, left -= 12;
  }
  if (left == 0) return c;
  std::memset(word, 0, sizeof(word));
  std::memcpy(word, data, left);
  a += word[0], b += word[1], c += word[2];
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace lamella::array::hdf5
