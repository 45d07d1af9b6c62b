#pragma once

#include <bit>
#include <cstring>

#include "base/byte_reader.h"

namespace lamella::codec {

// The frames of HDF5's compressors count in big-endian numbers.
template <class T>
T take_big_endian(ByteReader& reader) {
  const T value = reader.take<T>();
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
  else return static_cast<T>(__builtin_bswap32(value));
}

template <class T>
void put_big_endian(std::byte* out, T value) {
  if constexpr (sizeof(T) == 8) value = static_cast<T>(__builtin_bswap64(value));
  else value = static_cast<T>(__builtin_bswap32(value));
  std::memcpy(out, &value, sizeof(T));
}

}  // namespace lamella::codec
