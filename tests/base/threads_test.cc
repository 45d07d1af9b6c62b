#include "base/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"

namespace lamella {
namespace {

class Pools : public ::testing::TestWithParam<int> {};

TEST_P(Pools, CallEachIndexOnce) {
  ThreadPool pool(GetParam());
  for (int64_t n : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(n));
    pool.parallel_for(n, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const auto& c : calls) EXPECT_EQ(c, 1);
  }
  pool.parallel_for(-1, [](int64_t) { FAIL(); });
}

TEST_P(Pools, RethrowOneExceptionAndStop) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls{0};
  try {
    pool.parallel_for(1000000, [&](int64_t i) {
      ++calls;
      if (i >= 5) throw Error(ErrorKind::Corrupt, "chunk " + std::to_string(i));
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
  }
  EXPECT_LT(calls, 1000);
  EXPECT_THROW(pool.parallel_for(3, [](int64_t) { throw std::runtime_error("other"); }), std::runtime_error);
  std::atomic<int64_t> sum{0};
  pool.parallel_for(100, [&](int64_t i) { sum += i; });  // and goes on
  EXPECT_EQ(sum, 4950);
}

TEST_P(Pools, Nest) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls{0};
  pool.parallel_for(
      8, [&](int64_t) { pool.parallel_for(8, [&](int64_t) { pool.parallel_for(4, [&](int64_t) { ++calls; }); }); });
  EXPECT_EQ(calls, 256);
  EXPECT_THROW(pool.parallel_for(4,
                                 [&](int64_t i) {
                                   pool.parallel_for(4, [&](int64_t j) {
                                     if (i == 2 && j == 3) throw Error(ErrorKind::Io, "inner");
                                   });
                                 }),
               Error);
}

TEST_P(Pools, ServeSeveralCallersAtOnce) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) pool.parallel_for(10, [&](int64_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 2000);
}

TEST_P(Pools, UseNoMoreThreadsThanTheyHave) {
  ThreadPool pool(GetParam());
  std::atomic<int> inside{0}, most{0};
  std::mutex mutex;
  std::set<std::thread::id> ids;
  pool.parallel_for(60, [&](int64_t) {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    {
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    --inside;
  });
  EXPECT_LE(most, pool.size());
  EXPECT_LE(static_cast<int>(ids.size()), pool.size());
  if (pool.size() > 1) return;
  EXPECT_EQ(*ids.begin(), std::this_thread::get_id());
}

TEST_P(Pools, WorkOnAfterFork) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls{0};
  pool.parallel_for(100, [&](int64_t) { ++calls; });
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int> mine{0};
    for (int i = 0; i < 20; ++i) pool.parallel_for(10, [&](int64_t) { ++mine; });
    _exit(mine == 200 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  pool.parallel_for(100, [&](int64_t) { ++calls; });
  EXPECT_EQ(calls, 200);
}

TEST_P(Pools, WorkInAChildThatWasForkedWhileTheyWereBusy) {
  ThreadPool pool(GetParam());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) pool.parallel_for(20, [](int64_t) {});
  });
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::atomic<int> mine{0};
      pool.parallel_for(50, [&](int64_t) { ++mine; });
      _exit(mine == 50 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

INSTANTIATE_TEST_SUITE_P(Sizes, Pools, ::testing::Values(1, 2, 3, 8), ::testing::PrintToStringParamName());

TEST(Threads, ThereIsAProcessor) {
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(ThreadPool::shared().size(), available_processors());
  EXPECT_EQ(ThreadPool(0).size(), 1);
}

}  // namespace
}  // namespace lamella
