#include "codec/shard_index.h"

#include <cstring>

#include "codec/errors.h"

namespace lamella::codec {
namespace {

BlockType index_type(const Shape& counts) {
  Shape shape = counts;
  shape.push_back(2);
  return {DType::uint(8), shape, std::vector<std::byte>(8, std::byte{0xff})};
}

int64_t fixed_size(const Pipeline& pipeline) {
  const auto size = pipeline.encoded_size();
  if (!size) throw Error(ErrorKind::Invalid, "codec \"sharding_indexed\": index_codecs must keep the size fixed");
  return *size;
}

CodecList list_of(const Json& codecs) {
  CodecList out;
  for (const Json& codec : codecs) out.push_back({codec["name"].get<std::string>(), codec["configuration"]});
  return out;
}

}  // namespace

ShardIndex::ShardIndex(const CodecList& codecs, const Shape& counts)
    : pipeline_(codecs, index_type(counts)), entries_(count(counts)), stored_bytes_(fixed_size(pipeline_)) {}

std::vector<ShardEntry> ShardIndex::decode(ConstBytes stored, int64_t shard_bytes) const {
  // Before the memory for the entries is taken: their number comes from the metadata of a file.
  if (static_cast<int64_t>(stored.size()) != stored_bytes_) {
    throw_corrupt("shard index: " + std::to_string(stored.size()) + " bytes, " + std::to_string(stored_bytes_) +
                  " expected");
  }
  std::vector<ShardEntry> entries(static_cast<size_t>(entries_));
  Heap heap;
  try {
    pipeline_.decode(stored, {reinterpret_cast<std::byte*>(entries.data()), entries.size() * sizeof(ShardEntry)}, heap);
  } catch (Error& error) {
    throw error.prefix("shard index");
  }
  const auto limit = static_cast<uint64_t>(shard_bytes);
  for (size_t i = 0; i < entries.size(); ++i) {
    const ShardEntry& entry = entries[i];
    if (!entry.absent() && (entry.size > limit || entry.offset > limit - entry.size)) {
      throw_corrupt("shard index: inner chunk " + std::to_string(i) + " lies beyond the end of the shard");
    }
  }
  return entries;
}

Buffer ShardIndex::encode(const std::vector<ShardEntry>& entries) const {
  return pipeline_.encode({reinterpret_cast<const std::byte*>(entries.data()), entries.size() * sizeof(ShardEntry)});
}

Sharding parse_sharding(const Json& configuration) {
  return {configuration["chunk_shape"].get<Shape>(), list_of(configuration["codecs"]),
          list_of(configuration["index_codecs"]), configuration["index_location"] == "end"};
}

}  // namespace lamella::codec
