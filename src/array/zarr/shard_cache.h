#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "codec/shard_index.h"
#include "store/store.h"

namespace lamella::array::zarr {

// An opened shard: its file and where its inner chunks lie. No file: the shard is absent.
struct Shard {
  std::shared_ptr<const store::ReadFile> file;
  std::vector<codec::ShardEntry> entries;
};

// The shards of one array that were read last, so that an index is read once for many chunks. Bounded by files and by
// bytes of index. Thread-safe; threads that want the same shard wait for one of them to read it.
class ShardCache {
 public:
  ShardCache(std::shared_ptr<store::Store> store, codec::ShardIndex index, bool index_at_end)
      : store_(std::move(store)), index_(std::move(index)), index_at_end_(index_at_end) {}

  std::shared_ptr<const Shard> get(int64_t number, const std::string& key);

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Shard> shard;
  };
  std::shared_ptr<const Shard> load(const std::string& key) const;
  size_t capacity() const;

  std::shared_ptr<store::Store> store_;
  codec::ShardIndex index_;
  bool index_at_end_;
  std::mutex mutex_;
  std::unordered_map<int64_t, std::pair<std::shared_ptr<Slot>, std::list<int64_t>::iterator>> slots_;
  std::list<int64_t> recent_;
};

}  // namespace lamella::array::zarr
