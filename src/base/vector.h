#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.h"

namespace lamella {

template <class T>
struct BlockAllocator {
  using value_type = T;
  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) {}

  T* allocate(size_t n) { return reinterpret_cast<T*>(allocate_block(static_cast<int64_t>(n * sizeof(T)))); }
  void deallocate(T* data, size_t n) noexcept {
    free_block(reinterpret_cast<std::byte*>(data), static_cast<int64_t>(n * sizeof(T)));
  }
  // resize() leaves new elements undefined.
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  bool operator==(const BlockAllocator&) const { return true; }
};

// A vector for working storage: its memory is recycled as that of a Buffer, and what resize() adds is not set.
template <class T>
using Vector = std::vector<T, BlockAllocator<T>>;

}  // namespace lamella
