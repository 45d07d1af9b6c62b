#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace lamella {

// A fixed set of worker threads. parallel_for may be called from any thread, a worker included (the caller takes part,
// so nesting cannot deadlock). Threads start at the first use and again after a fork.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // 1: everything runs in the caller
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls body(0) … body(n - 1), each once, in no order, on at most size() threads. The first exception stops further
  // calls and is rethrown here.
  void parallel_for(int64_t n, const std::function<void(int64_t)>& body);

  // The pool that reads use when none is given: one thread per processor that the process may use.
  static ThreadPool& shared();

 private:
  struct State;
  void ensure_started();

  int size_;
  std::shared_ptr<State> state_;
};

// Processors that this process may use (affinity mask and cgroup quota).
int available_processors();

}  // namespace lamella
