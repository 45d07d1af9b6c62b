#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "array/sink.h"
#include "base/progress.h"
#include "base/threads.h"
#include "plan/journal.h"

namespace lamella::plan {

// Adds up what was done and tells the user's Progress. Thread-safe.
class Meter {
 public:
  Meter(Progress* progress, const CancelFlag* cancel, int64_t total)
      : progress_(progress), cancel_(cancel), total_(total) {}
  void start(const std::string& element);
  void add(int64_t bytes);  // throws Cancelled when the user asked to stop
  int64_t done() const { return done_; }

 private:
  std::mutex mutex_;
  Progress* progress_;
  const CancelFlag* cancel_;
  int64_t total_;
  int64_t done_ = 0;
  std::string element_;
};

// What every job needs while it runs. `memory` is what the job may have resident beside what is resident already.
struct Run {
  array::Sink& sink;
  Journal& journal;
  ThreadPool& threads;
  Meter& meter;
  int64_t memory;
  std::string scratch_folder;
  int64_t arrays = 0;  // arrays created so far: their numbers in the journal
};

// Appends the chunks of one array in the order of their sequence numbers while several threads encode them: a thread
// that is too far ahead waits. Every number must be put exactly once, starting from 0, and numbers be taken up in
// ascending order.
class OrderedAppend {
 public:
  OrderedAppend(Run& run, array::ArrayWriter& writer, int64_t array, int64_t window);

  // Thread-safe. Rethrows the failure of another thread.
  void put(int64_t sequence, const Shape& chunk, array::EncodedChunk encoded);

  // Lets waiting threads go after a failure elsewhere.
  void abort();

 private:
  struct Ready {
    Shape chunk;
    array::EncodedChunk encoded;
  };
  void drain(std::unique_lock<std::mutex>& lock);

  Run& run_;
  array::ArrayWriter& writer_;
  int64_t array_;
  int64_t window_;
  Grid grid_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<int64_t, Ready> ready_;
  int64_t next_ = 0;
  bool draining_ = false;
  bool failed_ = false;
};

}  // namespace lamella::plan
