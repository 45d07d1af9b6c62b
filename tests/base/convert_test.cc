#include "base/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"

namespace lamella {
namespace {

template <class To, class From>
std::vector<To> converted(const DType& from, const std::vector<From>& in, const DType& to) {
  std::vector<To> out(in.size());
  convert_elements(from, reinterpret_cast<const std::byte*>(in.data()), to, reinterpret_cast<std::byte*>(out.data()),
                   static_cast<int64_t>(in.size()));
  return out;
}

// The compiler's own half-precision type is the judge.
TEST(Half, EveryHalfBecomesItsFloatAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(half));
    const float found = half_to_float(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(found)))) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(expected)) << bits;
      EXPECT_EQ(float_to_half(found), half);
    }
  }
}

TEST(Half, FloatsRoundToTheNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    // Exponents around the range of halves, and values about halfway between two of them.
    uint32_t bits = (random() & 0x807fffff) | ((90 + random() % 60) << 23);
    if (i % 2 == 0) bits = (bits & ~uint32_t{0x1fff}) | (0x1000 + random() % 3 - 1);
    const auto value = std::bit_cast<float>(bits);
    ASSERT_EQ(float_to_half(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
}

TEST(Half, DoublesAreRoundedOnce) {
  std::mt19937_64 random(2);
  std::vector<double> values;
  for (int i = 0; i < 200000; ++i) {
    // Just beside the middle of two halves: a detour over float would land on the middle.
    const uint64_t half_bits = random() % 0x7c00;
    const double low = half_to_float(static_cast<uint16_t>(half_bits));
    const double high = half_to_float(static_cast<uint16_t>(half_bits + 1));
    if (std::isinf(high)) continue;
    const double middle = (low + high) / 2;
    values.push_back(std::nextafter(middle, i % 2 == 0 ? -1e9 : 1e9));
    values.push_back(-middle);
  }
  values.insert(values.end(), {65519.999999999, 65520.0, 1e300, -1e300, 5e-324, 2.9802322387695312e-08,
                               std::nextafter(2.9802322387695312e-08, 1)});
  const auto found = converted<uint16_t>(DType::float_(8), values, DType::float_(2));
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(found[i], std::bit_cast<uint16_t>(static_cast<_Float16>(values[i]))) << values[i];
  }
}

TEST(Convert, FloatsThatDoNotFitBecomeTheNearest) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {kInf, -kInf, NAN, 1e30f, -1e30f, 255.9f, -0.9f, 256, 127.5f, -128.9f, 3.99f};
  EXPECT_EQ(converted<uint8_t>(DType::float_(4), in, DType::uint(1)),
            (std::vector<uint8_t>{255, 0, 0, 255, 0, 255, 0, 255, 127, 0, 3}));
  EXPECT_EQ(converted<int8_t>(DType::float_(4), in, DType::int_(1)),
            (std::vector<int8_t>{127, -128, 0, 127, -128, 127, 0, 127, 127, -128, 3}));
  const std::vector<double> wide = {9223372036854775808.0, -9223372036854775808.0, 9223372036854774784.0,
                                    1.8446744073709552e19};
  EXPECT_EQ(converted<int64_t>(DType::float_(8), wide, DType::int_(8)),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, 9223372036854774784, INT64_MAX}));
  EXPECT_EQ(converted<uint64_t>(DType::float_(8), wide, DType::uint(8)),
            (std::vector<uint64_t>{uint64_t{1} << 63, 0, 9223372036854774784, UINT64_MAX}));
}

TEST(Convert, IntegersWrapAndAllButZeroIsTrue) {
  EXPECT_EQ(converted<int8_t>(DType::int_(4), std::vector<int32_t>{127, 128, -129, 256}, DType::int_(1)),
            (std::vector<int8_t>{127, -128, 127, 0}));
  EXPECT_EQ(converted<uint64_t>(DType::int_(1), std::vector<int8_t>{-1}, DType::uint(8)),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(converted<uint8_t>(DType::float_(8), std::vector<double>{0, -0.0, 0.1, NAN}, DType::boolean()),
            (std::vector<uint8_t>{0, 0, 1, 1}));
  // A foreign byte that is neither 0 nor 1 is no undefined bool.
  EXPECT_EQ(converted<int32_t>(DType::boolean(), std::vector<uint8_t>{0, 1, 2, 255}, DType::int_(4)),
            (std::vector<int32_t>{0, 1, 1, 1}));
}

TEST(Convert, ComplexNumbers) {
  using C = std::complex<double>;
  EXPECT_EQ(converted<C>(DType::float_(4), std::vector<float>{1.5f, -2}, DType::make(TypeKind::Complex, 16)),
            (std::vector<C>{{1.5, 0}, {-2, 0}}));
  EXPECT_EQ(converted<C>(DType::make(TypeKind::Complex, 8), std::vector<std::complex<float>>{{1, 2}, {3, -4}},
                         DType::make(TypeKind::Complex, 16)),
            (std::vector<C>{{1, 2}, {3, -4}}));
  EXPECT_FALSE(can_convert(DType::make(TypeKind::Complex, 8), DType::float_(4)));
  EXPECT_FALSE(can_convert(DType::string(), DType::float_(4)));
  EXPECT_THROW(convert_elements(DType::string(), nullptr, DType::int_(4), nullptr, 0), Error);
}

// The bytes of a long double that hold no number are zero, whatever memory held.
TEST(Convert, PadsLongDoublesWithZeros) {
  const std::vector<double> numbers = {0, 1.5, -1e300, std::nan("")};
  for (const DType& to : {DType::make(TypeKind::Float, 16), DType::make(TypeKind::Float, 16, true),
                          DType::make(TypeKind::Complex, 32), DType::make(TypeKind::Complex, 32, true)}) {
    std::vector<std::byte> out(numbers.size() * static_cast<size_t>(to.size), std::byte{0xff});
    convert_elements(DType::float_(8), reinterpret_cast<const std::byte*>(numbers.data()), to, out.data(), 4);
    for (size_t i = 0; i < out.size(); ++i) {
      const bool number = to.big_endian ? i % 16 >= 6 : i % 16 < 10;
      EXPECT_TRUE(number || out[i] == std::byte{0}) << to_string(to) << " " << i;
    }
  }
}

// Every pair of numeric types, either byte order, more elements than a block: small integers survive all of them.
TEST(Convert, SmallNumbersSurviveEveryPair) {
  std::vector<DType> types = {DType::boolean()};
  for (int64_t size : {1, 2, 4, 8}) types.insert(types.end(), {DType::int_(size), DType::uint(size)});
  for (int64_t size : {2, 4, 8, 16}) types.push_back(DType::float_(size));
  for (int64_t size : {8, 16, 32}) types.push_back(DType::make(TypeKind::Complex, size));
  const size_t plain = types.size();
  for (size_t i = 0; i < plain; ++i) {
    if (types[i].size == 1) continue;
    types.push_back(types[i]);
    types.back().big_endian = true;
  }
  constexpr int64_t kCount = 1100;
  std::vector<uint8_t> numbers(kCount);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint8_t>(i * 7 % 128);
  for (const DType& from : types) {
    for (const DType& to : types) {
      if (!can_convert(from, to)) continue;
      const bool boolean = from.kind == TypeKind::Bool || to.kind == TypeKind::Bool;
      std::vector<std::byte> in(static_cast<size_t>(kCount * from.size)), out(static_cast<size_t>(kCount * to.size));
      convert_elements(DType::uint(1), reinterpret_cast<const std::byte*>(numbers.data()), from, in.data(), kCount);
      convert_elements(from, in.data(), to, out.data(), kCount);
      if (to.kind == TypeKind::Complex) {  // back over its real part, which leads
        DType real = DType::float_(to.size / 2);
        real.big_endian = to.big_endian;
        std::vector<std::byte> parts(static_cast<size_t>(kCount * real.size));
        for (int64_t i = 0; i < kCount; ++i)
          std::memcpy(parts.data() + i * real.size, out.data() + i * to.size, static_cast<size_t>(real.size));
        convert_elements(real, parts.data(), DType::float_(8), (out.resize(kCount * 8), out.data()), kCount);
      } else {
        std::vector<std::byte> doubles(kCount * 8);
        convert_elements(to, out.data(), DType::float_(8), doubles.data(), kCount);
        out = doubles;
      }
      for (size_t i = 0; i < numbers.size(); ++i) {
        double value;
        std::memcpy(&value, out.data() + i * 8, 8);
        ASSERT_EQ(value, boolean ? numbers[i] != 0 : numbers[i]) << to_string(from) << " " << to_string(to) << " " << i;
      }
    }
  }
}

TEST(Convert, NothingAtAll) { convert_elements(DType::int_(4), nullptr, DType::int_(4), nullptr, 0); }

}  // namespace
}  // namespace lamella
