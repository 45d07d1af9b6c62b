#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"

namespace lamella::array::hdf5 {

// Little-endian numbers and runs of bytes, one behind the other.
class ByteWriter {
 public:
  ByteWriter& put(uint64_t value, int width) {
    const size_t at = bytes_.size();
    bytes_.resize(at + static_cast<size_t>(width));
    for (int i = 0; i < width; ++i) bytes_[at + static_cast<size_t>(i)] = static_cast<std::byte>(value >> (8 * i));
    return *this;
  }
  ByteWriter& u8(uint64_t value) { return put(value, 1); }
  ByteWriter& u16(uint64_t value) { return put(value, 2); }
  ByteWriter& u32(uint64_t value) { return put(value, 4); }
  ByteWriter& u64(uint64_t value) { return put(value, 8); }
  ByteWriter& address(int64_t value) { return put(static_cast<uint64_t>(value), 8); }  // -1 is the undefined address
  ByteWriter& put(ConstBytes bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ByteWriter& text(std::string_view text) {
    return put({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  }
  ByteWriter& zeros(int64_t n) {
    bytes_.resize(bytes_.size() + static_cast<size_t>(n));
    return *this;
  }
  ByteWriter& pad(int64_t multiple) { return zeros((multiple - size() % multiple) % multiple); }
  ByteWriter& pad_to(int64_t size) {
    if (size > this->size()) zeros(size - this->size());
    return *this;
  }

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  ConstBytes bytes() const { return bytes_; }
  std::byte* data() { return bytes_.data(); }
  void clear() { bytes_.clear(); }
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }

 private:
  std::vector<std::byte> bytes_;
};

constexpr int64_t kNowhere = -1;

}  // namespace lamella::array::hdf5
