#include "array/zarr/open.h"

#include <algorithm>

#include "array/zarr/metadata.h"
#include "array/zarr/shard_cache.h"
#include "base/error.h"

namespace lamella::array::zarr {
namespace {

constexpr int kMaxDepth = 128;

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

Json read_document(const store::Store& store, const std::string& key, std::string_view without = {}) {
  const std::optional<Buffer> bytes = store.read(key);
  if (!bytes) return nullptr;
  return parse_json({reinterpret_cast<const char*>(bytes->data()), static_cast<size_t>(bytes->size())},
                    store.name() + "/" + key, without);
}

class ZarrArray : public Array {
 public:
  ZarrArray(std::shared_ptr<store::Store> store, std::string path, ArrayMetadata metadata, int version)
      : Array(metadata.spec, std::move(metadata.attributes), store->name() + ": /" + path),
        store_(std::move(store)),
        path_(std::move(path)),
        keys_(metadata.keys),
        version_(version) {
    if (!metadata.index) return;
    shard_grid_ = {spec().shape, spec().shards};
    inner_.resize(spec().chunks.size());
    for (size_t axis = 0; axis < inner_.size(); ++axis) inner_[axis] = spec().shards[axis] / spec().chunks[axis];
    shards_ = std::make_unique<ShardCache>(store_, std::move(*metadata.index), metadata.index_at_end);
  }

  int version() const { return version_; }

  ChunkExtent locate(const Shape& chunk) const override {
    if (shards_) return locate_in_shard(chunk);
    ChunkExtent extent;
    extent.file = store_->open(keys_.key(path_, chunk));
    if (extent.file) extent.size = extent.file->size();
    if (extent.file && extent.size == 0)
      throw Error(ErrorKind::Corrupt, extent.file->name() + ": is empty; a writer was interrupted");
    return extent;
  }

  int64_t stored_bytes() const override {
    int64_t bytes = 0;
    for_each_value(path_, 0, [&](const std::string& key) { bytes += store_->size_of(key).value_or(0); });
    return bytes;
  }

  int64_t stored_chunks() const override {
    int64_t n = 0;
    for_each_value(path_, 0, [&](const std::string& key) {
      (void)key;
      ++n;
    });
    return shards_ ? stored_inner_chunks(n) : n;
  }

 private:
  ChunkExtent locate_in_shard(const Shape& chunk) const {
    Shape shard(chunk.size());
    int64_t inner = 0;
    for (size_t axis = 0; axis < chunk.size(); ++axis) {
      shard[axis] = chunk[axis] / inner_[axis];
      inner = inner * inner_[axis] + chunk[axis] % inner_[axis];
    }
    const auto found = shards_->get(shard_grid_.linear(shard), keys_.key(path_, shard));
    if (!found->file) return {};
    const codec::ShardEntry& entry = found->entries[static_cast<size_t>(inner)];
    if (entry.absent()) return {};
    return {found->file, static_cast<int64_t>(entry.offset), static_cast<int64_t>(entry.size), 0};
  }

  // Chunks inside of the array that the indexes of its `shards` stored shards list.
  int64_t stored_inner_chunks(int64_t shards) const {
    int64_t n = 0;
    for (int64_t i = 0; i < shard_grid_.size() && shards > 0; ++i) {
      const Shape shard = shard_grid_.index(i);
      if (!shards_->get(i, keys_.key(path_, shard))->file) continue;
      --shards;
      const Box chunks = spec().grid().cover(shard_grid_.box(shard));
      Shape chunk = chunks.offset;
      do n += locate_in_shard(chunk).file ? 1 : 0;
      while (next_index(chunk, chunks));
    }
    return n;
  }

  // Every key below the array that is no metadata.
  template <class Body>
  void for_each_value(const std::string& prefix, int depth, const Body& body) const {
    if (depth > kMaxDepth) return;
    for (const std::string& name : store_->list(prefix)) {
      if (name.back() == '/') for_each_value(join(prefix, name.substr(0, name.size() - 1)), depth + 1, body);
      else if (name != "zarr.json" && name[0] != '.') body(join(prefix, name));
    }
  }

  std::shared_ptr<store::Store> store_;
  std::string path_;
  KeyEncoding keys_;
  int version_;
  Grid shard_grid_;
  Shape inner_;  // chunks of a shard along each axis
  std::unique_ptr<ShardCache> shards_;
};

Node open_node(const std::shared_ptr<store::Store>& store, const std::string& path, int depth);

class ZarrGroup : public Group {
 public:
  ZarrGroup(std::shared_ptr<store::Store> store, std::string path, Attributes attributes, int version, int depth)
      : store_(std::move(store)),
        path_(std::move(path)),
        name_(store_->name() + ": /" + path_),
        attributes_(std::move(attributes)),
        version_(version),
        depth_(depth) {}

  int version() const { return version_; }
  const Attributes& attributes() const override { return attributes_; }
  const std::string& name() const override { return name_; }

  std::vector<std::string> children() const override {
    std::vector<std::string> out;
    for (const std::string& name : store_->list(path_)) {
      if (name.back() != '/') continue;
      const std::string child = name.substr(0, name.size() - 1);
      if (is_node(child)) out.push_back(child);
    }
    return out;
  }

  Node open_child(const std::string& name) const override {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) return {};
    if (depth_ > kMaxDepth)
      throw Error(ErrorKind::Corrupt, name_ + ": groups nested deeper than " + std::to_string(kMaxDepth));
    return open_node(store_, join(path_, name), depth_ + 1);
  }

 private:
  bool is_node(const std::string& child) const {
    const std::string path = join(path_, child);
    return store_->size_of(path + "/zarr.json") || store_->size_of(path + "/.zgroup") ||
           store_->size_of(path + "/.zarray");
  }

  std::shared_ptr<store::Store> store_;
  std::string path_;
  std::string name_;
  Attributes attributes_;
  int version_;
  int depth_;
};

Node open_v3(const std::shared_ptr<store::Store>& store, const std::string& path, const Json& document, int depth) {
  const std::string where = store->name() + "/" + join(path, "zarr.json");
  const bool is_array = document.is_object() && document.contains("node_type") && document["node_type"] == "array";
  if (is_array) return {std::make_shared<ZarrArray>(store, path, parse_array_v3(document, where), 3), nullptr};
  return {nullptr, std::make_shared<ZarrGroup>(store, path, parse_group_v3(document, where), 3, depth)};
}

// Empty when no node is there.
Node open_node(const std::shared_ptr<store::Store>& store, const std::string& path, int depth) {
  const Json v3 = read_document(*store, join(path, "zarr.json"), "consolidated_metadata");
  if (!v3.is_null()) return open_v3(store, path, v3, depth);
  const Json zarray = read_document(*store, join(path, ".zarray"));
  if (!zarray.is_null()) {
    const Json zattrs = read_document(*store, join(path, ".zattrs"));
    const std::string where = store->name() + "/" + join(path, ".zarray");
    return {std::make_shared<ZarrArray>(store, path, parse_array_v2(zarray, zattrs, where), 2), nullptr};
  }
  const Json zgroup = read_document(*store, join(path, ".zgroup"));
  if (zgroup.is_null()) return {};
  const std::string where = store->name() + "/" + join(path, ".zgroup");
  const Attributes attributes = parse_group_v2(zgroup, read_document(*store, join(path, ".zattrs")), where);
  return {nullptr, std::make_shared<ZarrGroup>(store, path, attributes, 2, depth)};
}

}  // namespace

Node open_root(std::shared_ptr<store::Store> store) {
  if (Node root = open_node(store, "", 0)) return root;
  const std::vector<std::string> names = store->list("");
  if (names.size() == 1 && names[0].back() == '/') {
    if (Node root = open_node(store::sub_store(store, names[0].substr(0, names[0].size() - 1)), "", 0)) return root;
  }
  throw Error(ErrorKind::NotFound, store->name() + ": holds no Zarr: neither zarr.json nor .zgroup or .zarray");
}

int version(const Node& node) {
  if (const auto* array = dynamic_cast<const ZarrArray*>(node.array.get())) return array->version();
  const auto* group = dynamic_cast<const ZarrGroup*>(node.group.get());
  return group != nullptr ? group->version() : 3;
}

}  // namespace lamella::array::zarr
