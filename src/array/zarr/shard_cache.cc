#include "array/zarr/shard_cache.h"

#include <algorithm>

#include "base/error.h"

namespace lamella::array::zarr {
namespace {

constexpr int64_t kMaxShards = 64;
constexpr int64_t kMaxIndexBytes = int64_t{32} << 20;

}  // namespace

size_t ShardCache::capacity() const {
  return static_cast<size_t>(
      std::clamp<int64_t>(kMaxIndexBytes / std::max<int64_t>(index_.stored_bytes(), 1), 2, kMaxShards));
}

std::shared_ptr<const Shard> ShardCache::get(int64_t number, const std::string& key) {
  std::shared_ptr<Slot> slot;
  {
    std::lock_guard lock(mutex_);
    const auto found = slots_.find(number);
    if (found != slots_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.second);
      slot = found->second.first;
    } else {
      if (slots_.size() >= capacity()) {
        slots_.erase(recent_.back());
        recent_.pop_back();
      }
      recent_.push_front(number);
      slot = std::make_shared<Slot>();
      slots_[number] = {slot, recent_.begin()};
    }
  }
  std::lock_guard lock(slot->mutex);
  if (!slot->shard) slot->shard = load(key);
  return slot->shard;
}

std::shared_ptr<const Shard> ShardCache::load(const std::string& key) const {
  auto shard = std::make_shared<Shard>();
  shard->file = store_->open(key);
  if (!shard->file) return shard;
  const int64_t bytes = index_.stored_bytes(), size = shard->file->size();
  if (size < bytes) {
    throw Error(ErrorKind::Corrupt, shard->file->name() + ": has " + std::to_string(size) +
                                        " bytes, its index alone has " + std::to_string(bytes));
  }
  const Buffer stored = shard->file->read(index_at_end_ ? size - bytes : 0, bytes);
  try {
    shard->entries = index_.decode(stored.bytes(), size);
  } catch (Error& error) {
    throw error.prefix(shard->file->name());
  }
  return shard;
}

}  // namespace lamella::array::zarr
