#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/buffer.h"

namespace lamella {

// Owns the bytes behind the StringRefs of a read. Adding is thread-safe; what was added lives as long as the heap.
class Heap {
 public:
  void adopt(std::shared_ptr<const void> owner) {
    std::lock_guard lock(mutex_);
    owners_.push_back(std::move(owner));
  }
  // Takes the buffer over; its bytes do not move.
  std::byte* adopt(Buffer buffer) {
    auto owner = std::make_shared<Buffer>(std::move(buffer));
    std::byte* data = owner->data();
    adopt(std::static_pointer_cast<const void>(owner));
    return data;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace lamella
