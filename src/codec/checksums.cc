#include "codec/checksums.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace lamella::codec {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bits reversed

// tables[k][b]: the effect of byte b followed by k zero bytes, so that eight bytes go in one step.
constexpr auto make_tables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}
constexpr auto kTables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(ConstBytes bytes) {
  uint64_t crc = 0xffffffff;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto tail = static_cast<uint32_t>(crc);
  for (; at < bytes.size(); ++at) tail = _mm_crc32_u8(tail, static_cast<uint8_t>(bytes[at]));
  return ~tail;
}
#endif

}  // namespace

uint32_t crc32c_by_tables(ConstBytes bytes) {
  uint32_t crc = 0xffffffff;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> (8 * k) & 0xff];
  }
  for (; at < bytes.size(); ++at) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<uint8_t>(bytes[at])) & 0xff];
  return ~crc;
}

uint32_t crc32c(ConstBytes bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return crc32c_by_instruction(bytes);
#endif
  return crc32c_by_tables(bytes);
}

uint32_t fletcher32(ConstBytes bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t words = bytes.size() / 2;
  uint32_t sum1 = 0, sum2 = 0;
  while (words > 0) {
    const size_t run = words < 360 ? words : 360;  // the most before sum2 could overflow
    for (size_t i = 0; i < run; ++i, data += 2) {
      sum1 += static_cast<uint32_t>(data[0] << 8 | data[1]);
      sum2 += sum1;
    }
    words -= run;
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
  }
  if (bytes.size() % 2 != 0) {
    sum1 += static_cast<uint32_t>(*data << 8);
    sum2 += sum1;
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
  }
  sum1 = (sum1 & 0xffff) + (sum1 >> 16);
  sum2 = (sum2 & 0xffff) + (sum2 >> 16);
  return sum2 << 16 | sum1;
}

}  // namespace lamella::codec
