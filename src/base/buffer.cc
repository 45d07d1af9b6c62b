#include "base/buffer.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace lamella {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kMappedFrom = int64_t{128} << 10;  // smaller blocks are malloc's

// Eight sizes to each power of two: encoded chunks, no two of which have the same size, then use each other's blocks.
// What a block wastes is at most an eighth, so resident memory follows the account of those who hold buffers.
int64_t size_class(int64_t size) {
  const auto step = std::max<int64_t>(kPage, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size)) / 8));
  return (size + step - 1) / step * step;
}

// Idle mappings. The one that was given last is taken first: it may still lie in the cache.
class IdleBlocks {
 public:
  static IdleBlocks& instance() {
    // Never destroyed: buffers in static storage may outlive everything else.
    static auto* blocks = new IdleBlocks;
    return *blocks;
  }

  std::byte* take(int64_t size) {
    std::lock_guard lock(mutex_);
    const auto last =
        std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& block) { return block.size == size; });
    if (last == blocks_.rend()) return nullptr;
    std::byte* data = last->data;
    idle_ -= size;
    blocks_.erase(std::next(last).base());
    return data;
  }

  void give(std::byte* data, int64_t size) {
    std::lock_guard lock(mutex_);
    blocks_.push_back({data, size});
    idle_ += size;
    drop_until(limit_);
  }

  void set_limit(int64_t limit) {
    std::lock_guard lock(mutex_);
    limit_ = limit;
    drop_until(limit);
  }
  void release() {
    std::lock_guard lock(mutex_);
    drop_until(0);
  }

 private:
  struct Block {
    std::byte* data;
    int64_t size;
  };

  IdleBlocks() {
    // A child of fork must find the lock free, whatever the other threads of its parent did.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  void drop_until(int64_t limit) {  // oldest first
    size_t dropped = 0;
    for (; idle_ > limit && dropped < blocks_.size(); ++dropped) {
      munmap(blocks_[dropped].data, static_cast<size_t>(blocks_[dropped].size));
      idle_ -= blocks_[dropped].size;
    }
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(dropped));
  }

  std::mutex mutex_;
  std::vector<Block> blocks_;
  int64_t idle_ = 0;
  int64_t limit_ = int64_t{64} << 20;
};

// Made when the program is loaded: a child of a fork in the middle of the making would wait for ever.
[[maybe_unused]] const IdleBlocks& made_early = IdleBlocks::instance();

std::byte* map_block(int64_t capacity) {
  void* data = mmap(nullptr, static_cast<size_t>(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  if (capacity >= 2 * kHugePage) madvise(data, static_cast<size_t>(capacity), MADV_HUGEPAGE);
  return static_cast<std::byte*>(data);
}

}  // namespace

std::byte* allocate_block(int64_t size) {
  const int64_t rounded = (size + 63) / 64 * 64;
  if (rounded >= kMappedFrom) {  // what free_block() asks, too
    std::byte* idle = IdleBlocks::instance().take(size_class(size));
    return idle != nullptr ? idle : map_block(size_class(size));
  }
  void* data = std::aligned_alloc(64, static_cast<size_t>(rounded));
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

void free_block(std::byte* data, int64_t size) noexcept {
  if ((size + 63) / 64 * 64 >= kMappedFrom) IdleBlocks::instance().give(data, size_class(size));
  else std::free(data);
}

Buffer::Buffer(int64_t size) : data_(size > 0 ? allocate_block(size) : nullptr), size_(size), allocated_(size) {}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      allocated_(std::exchange(other.allocated_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(allocated_, other.allocated_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ != nullptr) free_block(data_, allocated_);
}

void Buffer::shrink(int64_t size) { size_ = std::min(size, size_); }

Buffer Buffer::copy_of(ConstBytes bytes) {
  Buffer out(static_cast<int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

void release_idle_buffers() { IdleBlocks::instance().release(); }
void set_idle_buffer_limit(int64_t bytes) { IdleBlocks::instance().set_limit(bytes); }

}  // namespace lamella
