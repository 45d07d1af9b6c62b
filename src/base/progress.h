#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace lamella {

// A flag that a user may raise from another thread or from a signal handler. Long work calls check() between blocks.
class CancelFlag {
 public:
  void raise() noexcept { raised_.store(true, std::memory_order_relaxed); }
  bool raised() const noexcept { return raised_.load(std::memory_order_relaxed); }
  void check() const {
    if (raised()) throw Error(ErrorKind::Cancelled, "stopped by the user");
  }

 private:
  std::atomic<bool> raised_{false};
};

// Told how far a run is. Calls come from one thread at a time; an exception thrown here stops the run.
class Progress {
 public:
  virtual ~Progress() = default;
  // `done` of `total` decoded bytes; `element` is the one that is being written.
  virtual void advance(int64_t done, int64_t total, const std::string& element) = 0;
};

}  // namespace lamella
