#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lamella {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// Owns a block of memory, aligned to 64 bytes, contents undefined. Large blocks are recycled: fresh pages cost far more
// than the work that is done on them. Move-only.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Bytes bytes() { return {data_, static_cast<size_t>(size_)}; }
  ConstBytes bytes() const { return {data_, static_cast<size_t>(size_)}; }

  // Forgets the tail; the block stays as it is.
  void shrink(int64_t size);

  static Buffer copy_of(ConstBytes bytes);

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  int64_t allocated_ = 0;
};

// The blocks that buffers and vectors (base/vector.h) are made of: aligned to 64 bytes, contents undefined; large ones
// come from a process-wide set of recycled mappings. A block is given back with the size that it was asked for.
std::byte* allocate_block(int64_t size);
void free_block(std::byte* data, int64_t size) noexcept;

// Gives recycled blocks that are not in use back to the operating system.
void release_idle_buffers();

// Upper bound of the idle bytes that are kept for recycling; the default is 64 MiB.
void set_idle_buffer_limit(int64_t bytes);

}  // namespace lamella
