// "sharding_indexed" as a codec: a whole shard at once. Arrays whose outermost codec this is are read chunk by chunk
// instead (array/zarr); what comes here are shards within shards, and shards under other codecs.
#include <algorithm>
#include <cstring>

#include "base/strided.h"
#include "codec/errors.h"
#include "codec/shard_index.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

Shape inner_counts(const BlockType& type, const Shape& chunk) {
  if (chunk.size() != type.shape.size()) {
    throw Error(ErrorKind::Invalid,
                "codec \"sharding_indexed\": chunk_shape must have " + std::to_string(type.shape.size()) + " axes");
  }
  Shape counts(chunk.size());
  for (size_t axis = 0; axis < chunk.size(); ++axis) {
    if (chunk[axis] <= 0 || type.shape[axis] % chunk[axis] != 0) {
      throw Error(ErrorKind::Invalid, "codec \"sharding_indexed\": chunk_shape " + lamella::to_string(chunk) +
                                          " does not divide the shard " + lamella::to_string(type.shape));
    }
    counts[axis] = type.shape[axis] / chunk[axis];
  }
  return counts;
}

class ShardingPack : public PackCodec {
 public:
  ShardingPack(Sharding sharding, const BlockType& type)
      : sharding_(std::move(sharding)),
        counts_(inner_counts(type, sharding_.chunk_shape)),
        index_(sharding_.index_codecs, counts_),
        inner_(sharding_.codecs, {type.type, sharding_.chunk_shape, type.fill}) {}

  std::optional<int64_t> encoded_size(const BlockType&) const override { return std::nullopt; }
  std::optional<int64_t> encoded_bound(const BlockType& type) const override {
    if (type.type.has_references_to_heap()) return std::nullopt;
    return checked_add(checked_mul(inner_.encoded_bound(), index_.entries()), index_.stored_bytes());
  }

  Buffer encode(const BlockType& type, ConstBytes in) const override {
    const Grid grid{type.shape, sharding_.chunk_shape};
    const int64_t item = type.type.size;
    std::vector<ShardEntry> entries(static_cast<size_t>(index_.entries()));
    std::vector<Buffer> parts;
    Buffer chunk(inner_.type().bytes());
    const View chunk_view = View::c_order(chunk.data(), sharding_.chunk_shape, item);
    int64_t at = sharding_.index_at_end ? 0 : index_.stored_bytes();
    for (size_t i = 0; i < entries.size(); ++i) {
      copy_elements(
          chunk_view,
          ConstView::c_order(in.data(), type.shape, item).sub(grid.full_box(grid.index(static_cast<int64_t>(i)))),
          item);
      if (!type.type.has_references_to_heap() &&
          all_equal(chunk.data(), count(sharding_.chunk_shape), type.fill.data(), item))
        continue;
      parts.push_back(inner_.encode(chunk.bytes()));
      entries[i] = {static_cast<uint64_t>(at), static_cast<uint64_t>(parts.back().size())};
      at += parts.back().size();
    }
    const Buffer index = index_.encode(entries);
    if (sharding_.index_at_end) at += index.size();
    Buffer out(at);
    std::byte* to = out.data();
    auto put = [&](const Buffer& bytes) {
      if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.bytes().size());
      to += bytes.size();
    };
    if (!sharding_.index_at_end) put(index);
    for (const Buffer& part : parts) put(part);
    if (sharding_.index_at_end) put(index);
    return out;
  }

  bool decode(const BlockType& type, ConstBytes in, Bytes out, Heap& heap) const override {
    const auto bytes = static_cast<int64_t>(in.size());
    if (bytes < index_.stored_bytes()) throw_corrupt("shorter than the index of a shard");
    const auto at = static_cast<size_t>(sharding_.index_at_end ? bytes - index_.stored_bytes() : 0);
    const std::vector<ShardEntry> entries =
        index_.decode(in.subspan(at, static_cast<size_t>(index_.stored_bytes())), bytes);
    const Grid grid{type.shape, sharding_.chunk_shape};
    const int64_t item = type.type.size;
    Buffer chunk(inner_.type().bytes());
    for (size_t i = 0; i < entries.size(); ++i) {
      const View to =
          View::c_order(out.data(), type.shape, item).sub(grid.full_box(grid.index(static_cast<int64_t>(i))));
      if (entries[i].absent()) {
        fill_elements(to, type.fill.data(), item);
        continue;
      }
      const ConstBytes stored = in.subspan(entries[i].offset, entries[i].size);
      if (is_c_contiguous(to.shape, to.strides, item)) {
        inner_.decode(stored, {to.data, chunk.bytes().size()}, heap);
        continue;
      }
      inner_.decode(stored, chunk.bytes(), heap);
      copy_elements(to, ConstView::c_order(chunk.data(), sharding_.chunk_shape, item), item);
    }
    return false;  // what strings refer to was given to the heap by the inner pipeline
  }

 private:
  Sharding sharding_;
  Shape counts_;
  ShardIndex index_;
  Pipeline inner_;
};

// Shards within shards: two levels occur.
constexpr int kMostLevels = 4;

int levels(const Json& codecs) {
  int deepest = 0;
  if (!codecs.is_array()) return deepest;
  for (const Json& item : codecs) {
    if (!item.is_object() || !item.contains("configuration") || !item["configuration"].is_object()) continue;
    const Json& inner = item["configuration"];
    if (inner.contains("codecs")) deepest = std::max(deepest, 1 + levels(inner["codecs"]));
  }
  return deepest;
}

// Our own names where an item has one (the list was canonical already), else Zarr v3's spelling.
CodecSpec parse_item(const Json& item, int64_t item_size) {
  if (item.is_object() && item.contains("name") && item["name"].is_string()) {
    for (const Row& row : table()) {
      if (row.name == item["name"])
        return canonical({std::string(row.name), item.value("configuration", Json::object())}, item_size);
    }
  }
  return from_zarr3(item, item_size);
}

Json codec_list(ConfigReader& config, const char* key, int64_t item_size) {
  const Json& list = config.value(key);
  if (!list.is_array() || list.empty()) config.fail(key, "a list of codecs");
  Json out = Json::array();
  for (const Json& item : list) {
    const CodecSpec codec = parse_item(item, item_size);
    out.push_back({{"name", codec.name}, {"configuration", codec.configuration}});
  }
  return out;
}

Json canonical_shard(ConfigReader& config, int64_t item_size) {
  Json out;
  out["chunk_shape"] = config.integers("chunk_shape");
  if (levels(config.value("codecs")) > kMostLevels) config.fail("codecs", "nested less deeply");
  out["codecs"] = codec_list(config, "codecs", item_size);
  out["index_codecs"] = codec_list(config, "index_codecs", 8);
  out["index_location"] = config.text("index_location", "end", {"start", "end"});
  return out;
}

Json to_zarr(const Json& configuration, int) {
  Json out = configuration;
  for (const char* key : {"codecs", "index_codecs"}) {
    for (Json& codec : out[key]) codec = to_zarr3({codec["name"].get<std::string>(), codec["configuration"]});
  }
  return out;
}

std::unique_ptr<PackCodec> make(const Json& configuration, const BlockType& type) {
  return std::make_unique<ShardingPack>(parse_sharding(configuration), type);
}

}  // namespace

extern const Definition kSharding = {.canonical = canonical_shard, .to_zarr = to_zarr, .make_pack = make};

}  // namespace lamella::codec
