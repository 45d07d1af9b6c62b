#include "base/buffer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/heap.h"
#include "base/memory.h"

namespace lamella {
namespace {

TEST(Buffer, IsAlignedAndAllOfItIsWritable) {
  for (int64_t size : {1, 63, 64, 65, 4096, 131071, 131072, 131073, 5000000}) {
    Buffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u) << size;
    std::memset(buffer.data(), 1, static_cast<size_t>(size));
  }
  EXPECT_TRUE(Buffer().empty());
  EXPECT_TRUE(Buffer(0).empty());
}

TEST(Buffer, MovesAndShrinks) {
  Buffer a(10);
  std::byte* data = a.data();
  Buffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_TRUE(a.empty());  // NOLINT: a moved-from buffer is empty
  b.shrink(4);
  EXPECT_EQ(b.size(), 4);
  b.shrink(9);
  EXPECT_EQ(b.size(), 4);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  const Buffer copy = Buffer::copy_of(a.bytes());
  EXPECT_EQ(copy.size(), 4);
  EXPECT_NE(copy.data(), data);
  EXPECT_TRUE(Buffer::copy_of({}).empty());
}

TEST(Buffer, LargeBlocksAreUsedAgainUntilReleased) {
  release_idle_buffers();
  constexpr int64_t kSize = int64_t{8} << 20;
  const std::byte* first;
  {
    Buffer buffer(kSize);
    std::memset(buffer.data(), 1, kSize);
    first = buffer.data();
  }
  {
    Buffer smaller(kSize / 2);  // would waste half of the block
    EXPECT_NE(smaller.data(), first);
    Buffer again(kSize - 4096);
    EXPECT_EQ(again.data(), first);
  }
  const int64_t before = resident_bytes();
  release_idle_buffers();
  EXPECT_LT(resident_bytes(), before - kSize / 2);
}

TEST(Buffer, LikeSizesShareBlocksTheLastOneFirst) {
  release_idle_buffers();
  const std::byte *first, *second;
  {
    Buffer a(300000), b(320000);
    first = a.data();
    second = b.data();
    a = Buffer();  // `a` goes back first, so `b` is the one that may still be in the cache
  }
  Buffer c(310000);
  EXPECT_EQ(c.data(), second);
  Buffer d(305000);
  EXPECT_EQ(d.data(), first);
}

TEST(Buffer, IdleBlocksStayWithinTheirLimit) {
  release_idle_buffers();
  set_idle_buffer_limit(int64_t{4} << 20);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 32; ++i) {
    buffers.emplace_back(int64_t{1} << 20);
    std::memset(buffers.back().data(), 1, size_t{1} << 20);
  }
  const int64_t before = resident_bytes();
  buffers.clear();
  EXPECT_LT(resident_bytes(), before - (int64_t{24} << 20));
  set_idle_buffer_limit(int64_t{64} << 20);
}

TEST(Buffer, ThreadsDoNotShareBlocks) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        Buffer buffer((int64_t{128} << 10) + i % 7 * 8192);
        std::memset(buffer.data(), t, static_cast<size_t>(buffer.size()));
        for (std::byte b : buffer.bytes()) {
          if (b != static_cast<std::byte>(t)) return ADD_FAILURE() << "block is used twice";
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Buffer, ServesAChildOfForkWhileOthersAllocate) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) Buffer buffer(int64_t{1} << 20);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // instead of waiting for a lock for ever
      { Buffer buffer(int64_t{1} << 20); }
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

TEST(Heap, KeepsWhatItAdopts) {
  std::weak_ptr<const int> watched;
  {
    Heap heap;
    auto owner = std::make_shared<const int>(5);
    watched = owner;
    heap.adopt(std::shared_ptr<const void>(std::move(owner)));
    Buffer buffer(10);
    const std::byte* data = buffer.data();
    EXPECT_EQ(heap.adopt(std::move(buffer)), data);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace lamella
