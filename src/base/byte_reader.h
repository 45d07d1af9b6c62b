#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/error.h"

namespace lamella {

// Takes little-endian numbers and runs of bytes off foreign bytes. Every take is bounds-checked and throws Corrupt with
// the offset. `base` is the position of the first byte in the file, for messages only. Does not own the bytes.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes, int64_t base = 0) : bytes_(bytes), base_(base) {}

  int64_t position() const { return static_cast<int64_t>(position_); }
  int64_t remaining() const { return static_cast<int64_t>(bytes_.size() - position_); }

  void seek(int64_t position) {
    if (position < 0 || position > static_cast<int64_t>(bytes_.size())) fail("position " + std::to_string(position));
    position_ = static_cast<size_t>(position);
  }
  void skip(int64_t n) { take(n); }

  ConstBytes take(int64_t n) {
    if (n < 0 || n > remaining()) fail(std::to_string(n) + " bytes");
    ConstBytes out = bytes_.subspan(position_, static_cast<size_t>(n));
    position_ += static_cast<size_t>(n);
    return out;
  }

  template <class T>
  T take() {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint8_t u8() { return take<uint8_t>(); }
  uint16_t u16() { return take<uint16_t>(); }
  uint32_t u32() { return take<uint32_t>(); }
  uint64_t u64() { return take<uint64_t>(); }

  // A little-endian unsigned number of 1 to 8 bytes.
  uint64_t uint(int width) {
    uint64_t value = 0;
    std::memcpy(&value, take(width).data(), static_cast<size_t>(width));
    return value;
  }

  // A NUL-terminated string; the NUL is taken too.
  std::string_view c_string() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + position_;
    const size_t length = strnlen(begin, bytes_.size() - position_);
    take(static_cast<int64_t>(length) + 1);
    return {begin, length};
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::Corrupt, what + " wanted at offset " + std::to_string(base_ + position()) + ", " +
                                        std::to_string(remaining()) + " left");
  }

 private:
  ConstBytes bytes_;
  int64_t base_;
  size_t position_ = 0;
};

}  // namespace lamella
