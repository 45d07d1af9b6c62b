#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/json.h"

namespace lamella {

// What a thread may be doing when somebody asks where the time goes.
enum class Stage { Read, Decode, Transform, Encode, Write, Sync, Wait };

// Seconds and bytes of each stage, summed over the threads of the process. Off unless enable() is called or the
// environment has LAMELLA_PROFILE=1; then a test of one flag is all that a stage costs. Thread-safe.
class Profile {
 public:
  static bool on() {
    const int state = state_.load(std::memory_order_relaxed);
    return state < 0 ? look_at_environment() : state != 0;
  }

  // From here on stages count, and the process prints the table to stderr when it ends.
  static void enable();

  // {"seconds", "threads", "stages": [{"stage", "seconds", "calls", "bytes", "bytes_per_second"}, …]} of all stages so
  // far.
  static Json to_json();
  static std::string to_table();

  // For those who have shown the result themselves: nothing is printed at the end.
  static void mark_shown();

 private:
  friend class Timed;
  static void add(Stage stage, int64_t nanoseconds, int64_t bytes);
  static bool look_at_environment();

  static std::atomic<int> state_;  // -1: nobody has looked yet
};

// Counts its own lifetime for a stage. Nested ones are counted once: what happens within an inner stage is the inner's.
class Timed {
 public:
  explicit Timed(Stage stage, int64_t bytes = 0) : on_(Profile::on()) {
    if (on_) begin(stage, bytes);
  }
  ~Timed() {
    if (on_) end();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

  // Where the size is known only afterwards.
  void add_bytes(int64_t bytes) { bytes_ += bytes; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin(Stage stage, int64_t bytes);
  void end();

  bool on_;
  Stage stage_{};
  int64_t bytes_ = 0;
  Clock::time_point begin_;
  Clock::duration inner_{};  // time of the stages within this one
  Timed* outer_ = nullptr;   // of the same thread
};

}  // namespace lamella
