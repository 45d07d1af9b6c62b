#pragma once

#include <cstdint>
#include <vector>

#include "codec/codec.h"

namespace lamella::codec {

// Where an inner chunk lies, from the start of the shard. Absent chunks read as the fill value.
struct ShardEntry {
  uint64_t offset = ~uint64_t{0};
  uint64_t size = ~uint64_t{0};

  bool absent() const { return offset == ~uint64_t{0} && size == ~uint64_t{0}; }
};

// The table of a shard (Zarr v3, "sharding_indexed"): an entry for each inner chunk in row-major order, encoded by
// codecs of its own that keep its size fixed. Immutable, thread-safe.
class ShardIndex {
 public:
  // `counts`: inner chunks along each axis. Throws Invalid when a codec's size is not fixed.
  ShardIndex(const CodecList& codecs, const Shape& counts);

  int64_t stored_bytes() const { return stored_bytes_; }
  int64_t entries() const { return entries_; }

  // Throws Corrupt: wrong checksum, or an entry that ends beyond `shard_bytes`.
  std::vector<ShardEntry> decode(ConstBytes stored, int64_t shard_bytes) const;
  Buffer encode(const std::vector<ShardEntry>& entries) const;

 private:
  Pipeline pipeline_;
  int64_t entries_;
  int64_t stored_bytes_;
};

// A sharding codec's configuration, taken apart.
struct Sharding {
  Shape chunk_shape;
  CodecList codecs;
  CodecList index_codecs;
  bool index_at_end = true;
};
Sharding parse_sharding(const Json& configuration);

}  // namespace lamella::codec
