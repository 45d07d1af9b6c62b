#include "base/threads.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/profile.h"

namespace lamella {
namespace {

// One parallel_for: indices are taken from a counter, by whoever has time.
struct Loop {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
  const std::function<void(int64_t)>* body = nullptr;
  std::mutex mutex;
  std::condition_variable idle;
  int active = 0;  // workers inside run(); guarded by mutex
  std::exception_ptr error;

  void run() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < end;) {
      try {
        (*body)(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next.store(end, std::memory_order_relaxed);
      }
    }
  }
};

// Guards the start of pools; made when the program is loaded, so that no fork can come in between.
std::mutex* start = new std::mutex;
std::atomic<pid_t> start_pid{getpid()};

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::shared_ptr<Loop>> loops;  // that still may want a helper
  std::vector<std::thread> workers;
  pid_t pid = 0;       // of the process in which it runs
  pid_t starting = 0;  // the same from before the first worker is made
  bool stop = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || !loops.empty(); });
      if (stop) return;
      std::shared_ptr<Loop> loop = loops.front();
      if (loop->next.load(std::memory_order_relaxed) >= loop->end) {
        loops.pop_front();
        continue;
      }
      {
        std::lock_guard guard(loop->mutex);
        ++loop->active;
      }
      lock.unlock();
      loop->run();
      {
        std::lock_guard guard(loop->mutex);
        --loop->active;
        loop->idle.notify_all();
      }
      lock.lock();
    }
  }
};

ThreadPool::ThreadPool(int threads) : size_(std::max(threads, 1)), state_(std::make_shared<State>()) {}

ThreadPool::~ThreadPool() {
  if (state_->pid != getpid()) {
    // Threads do not survive a fork; their handles must not be joined.
    for (std::thread& worker : state_->workers) worker.detach();
    return;
  }
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

void ThreadPool::ensure_started() {
  // The pid tells a forked child, whose copy of the state may hold a lock that nobody will release: it is left alone.
  if (std::atomic_ref(state_->pid).load(std::memory_order_acquire) == getpid()) return;
  if (start_pid.load() != getpid()) {
    start = new std::mutex;
    start_pid = getpid();
  }
  std::lock_guard lock(*start);
  if (state_->pid == getpid()) return;
  if (state_->starting != 0 && state_->starting != getpid()) {
    new std::shared_ptr<State>(state_);  // leaked on purpose
    state_ = std::make_shared<State>();
  }
  State* state = state_.get();
  state->starting = getpid();
  for (int i = 1; i < size_; ++i) state->workers.emplace_back([state] { state->work(); });
  std::atomic_ref(state->pid).store(getpid(), std::memory_order_release);
}

void ThreadPool::parallel_for(int64_t n, const std::function<void(int64_t)>& body) {
  if (n <= 0) return;
  if (size_ == 1 || n == 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  ensure_started();
  auto loop = std::make_shared<Loop>();
  loop->end = n;
  loop->body = &body;
  {
    std::lock_guard lock(state_->mutex);
    state_->loops.push_back(loop);
  }
  if (n > 2) state_->wake.notify_all();
  else state_->wake.notify_one();
  loop->run();
  {
    std::lock_guard lock(state_->mutex);
    std::erase(state_->loops, loop);
  }
  std::unique_lock lock(loop->mutex);
  if (loop->active != 0) {
    const Timed timed(Stage::Wait);
    loop->idle.wait(lock, [&] { return loop->active == 0; });
  }
  if (loop->error) std::rethrow_exception(loop->error);
}

ThreadPool& ThreadPool::shared() {
  static auto* pool = new ThreadPool(available_processors());
  return *pool;
}

int available_processors() {
  cpu_set_t set;
  int processors = 1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) processors = std::max(CPU_COUNT(&set), 1);
  std::ifstream quota("/sys/fs/cgroup/cpu.max");
  std::string allowed;
  double period = 0;
  if (quota >> allowed >> period && allowed != "max" && period > 0) {
    processors = std::min(processors, std::max(1, static_cast<int>(std::stod(allowed) / period + 0.5)));
  }
  return processors;
}

}  // namespace lamella
