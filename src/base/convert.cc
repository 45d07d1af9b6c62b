#include "base/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/profile.h"

namespace lamella {
namespace {

constexpr int64_t kBlock = 512;  // elements that are swapped or widened at a time, on the stack

// Of the 16 bytes of a long double 10 hold the number. What the others hold by chance would make equal files differ.
template <class T>
constexpr size_t kBytesThatCount = std::is_same_v<T, long double> ? 10 : sizeof(T);

struct Half {
  uint16_t bits;
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// A float on the way to a half. What it loses of a wider number is kept as an odd last bit, far below the bits of a
// half, so that the half is rounded once, not twice.
template <class From>
float narrowed(From value) {
  const auto nearest = static_cast<float>(value);
  if constexpr (std::is_floating_point_v<From> && sizeof(From) > sizeof(float)) {
    if (std::isfinite(nearest) && static_cast<From>(nearest) != value) {
      const bool away = std::abs(static_cast<From>(nearest)) > std::abs(value);
      const uint32_t towards_zero = std::bit_cast<uint32_t>(nearest) - (away ? 1 : 0);
      return std::bit_cast<float>(towards_zero | 1);
    }
  }
  return nearest;
}

template <class To, class From>
To number(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return number<To>(half_to_float(value.bits));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{float_to_half(narrowed(value))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    // The limits as floats round away from what the integer holds, hence the comparisons with "or equal".
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// in_step, out_step: bytes from one scalar to the next, so that the parts of complex numbers can be taken one by one.
template <class From, class To>
void convert_run(const std::byte* in, int64_t in_step, std::byte* out, int64_t out_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    To value;
    if constexpr (std::is_same_v<From, bool>) value = number<To>(load<uint8_t>(in + i * in_step) != 0);
    else value = number<To>(load<From>(in + i * in_step));
    std::memcpy(out + i * out_step, &value, kBytesThatCount<To>);
    if constexpr (kBytesThatCount<To> < sizeof(To))
      std::memset(out + i * out_step + kBytesThatCount<To>, 0, sizeof(To) - kBytesThatCount<To>);
  }
}

template <class Body>
void with_type(TypeKind kind, int64_t size, const Body& body) {
  if (kind == TypeKind::Bool) return body(bool{});
  if (kind == TypeKind::Int) {
    switch (size) {
      case 1: return body(int8_t{});
      case 2: return body(int16_t{});
      case 4: return body(int32_t{});
      default: return body(int64_t{});
    }
  }
  if (kind == TypeKind::UInt) {
    switch (size) {
      case 1: return body(uint8_t{});
      case 2: return body(uint16_t{});
      case 4: return body(uint32_t{});
      default: return body(uint64_t{});
    }
  }
  switch (size) {
    case 2: return body(Half{});
    case 4: return body(float{});
    case 8: return body(double{});
    default: return body(static_cast<long double>(0));
  }
}

// Both native.
void convert_native(const DType& from, const std::byte* in, const DType& to, std::byte* out, int64_t n) {
  const bool complex_in = from.kind == TypeKind::Complex, complex_out = to.kind == TypeKind::Complex;
  const int64_t in_size = complex_in ? from.size / 2 : from.size;
  const int64_t out_size = complex_out ? to.size / 2 : to.size;
  const TypeKind in_kind = complex_in ? TypeKind::Float : from.kind;
  const TypeKind out_kind = complex_out ? TypeKind::Float : to.kind;
  with_type(in_kind, in_size, [&](auto a) {
    with_type(out_kind, out_size, [&](auto b) {
      convert_run<decltype(a), decltype(b)>(in, from.size, out, to.size, n);
      if (complex_in) convert_run<decltype(a), decltype(b)>(in + in_size, from.size, out + out_size, to.size, n);
    });
  });
  if (complex_out && !complex_in) {
    for (int64_t i = 0; i < n; ++i) std::memset(out + i * to.size + out_size, 0, static_cast<size_t>(out_size));
  }
}

}  // namespace

bool can_convert(const DType& from, const DType& to) {
  return from.is_numeric() && to.is_numeric() && (from.kind != TypeKind::Complex || to.kind == TypeKind::Complex);
}

void convert_elements(const DType& from, const std::byte* in, const DType& to, std::byte* out, int64_t n) {
  if (!can_convert(from, to)) {
    throw Error(ErrorKind::Unsupported, "no conversion from " + to_string(from) + " to " + to_string(to));
  }
  if (n == 0) return;
  const Timed timed(Stage::Transform, n * to.size);
  if (from.kind == to.kind && from.size == to.size) {
    std::memcpy(out, in, static_cast<size_t>(n * to.size));
    if (from.big_endian != to.big_endian) swap_bytes(to, out, n);
    return;
  }
  std::byte native[kBlock * 32];
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t part = std::min(kBlock, n - done);
    const std::byte* source = in + done * from.size;
    if (from.big_endian) {
      std::memcpy(native, source, static_cast<size_t>(part * from.size));
      swap_bytes(from, native, part);
      source = native;
    }
    convert_native(from, source, to, out + done * to.size, part);
  }
  if (to.big_endian) swap_bytes(to, out, n);
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds beyond 65504
  if (magnitude < 0x38800000) {                                              // subnormal: in units of 2^-24
    const float scaled = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(scaled)));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

}  // namespace lamella
