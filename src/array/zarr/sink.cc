#include "array/zarr/sink.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "array/zarr/data_type.h"
#include "array/zarr/metadata.h"
#include "base/error.h"

namespace lamella::array::zarr {
namespace {

ConstBytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

// Chunks as the format sees them: a contiguous spec or a scalar is one chunk of the whole.
Shape chunk_shape(const ArraySpec& spec) {
  Shape out = spec.chunks.size() == spec.shape.size() && !spec.chunks.empty() ? spec.chunks : spec.shape;
  for (int64_t& length : out) length = std::max<int64_t>(length, 1);
  return out;
}

class ZarrWriter : public ArrayWriter {
 public:
  ZarrWriter(std::shared_ptr<store::Store> store, std::string path, const ArraySpec& spec, int version, bool resume)
      : ArrayWriter(spec),
        store_(std::move(store)),
        path_(std::move(path)),
        keys_(version == 3 ? KeyEncoding{true, '/'} : KeyEncoding{false, '.'}),
        pipeline_(spec.codecs, {spec.type, chunk_shape(spec), spec.fill_element()}),
        fill_(spec.fill_element()),
        resume_(resume) {
    if (spec.shards.empty()) return;
    shard_grid_ = {spec.shape, spec.shards};
    inner_.resize(spec.shape.size());
    for (size_t axis = 0; axis < inner_.size(); ++axis) inner_[axis] = spec.shards[axis] / spec.chunks[axis];
    index_ = std::make_unique<codec::ShardIndex>(index_codecs(), inner_);
  }

  EncodedChunk encode(ConstBytes decoded) const override {
    EncodedChunk out;
    out.absent = all_fill(decoded);
    if (!out.absent) out.bytes = pipeline_.encode(decoded);
    return out;
  }

  Placement append(const Shape& chunk, EncodedChunk encoded) override {
    if (index_) return append_to_shard(chunk, std::move(encoded));
    if (encoded.absent) return {};
    store_->write(keys_.key(path_, chunk), encoded.bytes.bytes());
    return {0, encoded.bytes.size(), 0};
  }

  void restore(const Shape& chunk, const Placement& placement) override {
    if (!index_) return;  // the file is there, whole
    auto [shard, number] = shard_of(chunk);
    Open& open = open_shard(shard);
    if (placement.position >= 0) {
      open.entries[static_cast<size_t>(number)] = {static_cast<uint64_t>(placement.position),
                                                   static_cast<uint64_t>(placement.size)};
      open.size = placement.position + placement.size;
    }
    close_when_full(shard, open);
  }

  void write_run(int64_t, ConstBytes) override {
    throw Error(ErrorKind::Bug, path_ + ": Zarr has no contiguous storage");
  }

  void finish() override {
    if (!open_.empty())
      throw Error(ErrorKind::Bug, path_ + ": " + std::to_string(open_.size()) + " shards are not complete");
  }

 private:
  // A shard that still gets chunks.
  struct Open {
    std::vector<codec::ShardEntry> entries;
    int64_t missing = 0;  // chunks still to come
    int64_t size = 0;     // bytes appended so far
    bool cut = true;      // nothing stands behind `size` that an interrupted run left
  };

  bool all_fill(ConstBytes decoded) const {
    if (spec_.type.size == 0) return false;
    const int64_t n = static_cast<int64_t>(decoded.size()) / spec_.type.size;
    if (!spec_.type.is_vlen()) return all_equal(decoded.data(), n, fill_.data(), spec_.type.size);
    const auto view = [](const StringRef& ref) { return std::string_view(ref.data, static_cast<size_t>(ref.size)); };
    StringRef fill;
    std::memcpy(&fill, fill_.data(), sizeof(fill));
    const auto* refs = reinterpret_cast<const StringRef*>(decoded.data());
    return std::all_of(refs, refs + n, [&](const StringRef& ref) { return view(ref) == view(fill); });
  }

  std::pair<Shape, int64_t> shard_of(const Shape& chunk) const {
    Shape shard(chunk.size());
    int64_t number = 0;
    for (size_t axis = 0; axis < chunk.size(); ++axis) {
      shard[axis] = chunk[axis] / inner_[axis];
      number = number * inner_[axis] + chunk[axis] % inner_[axis];
    }
    return {shard, number};
  }

  Open& open_shard(const Shape& shard) {
    auto [place, fresh] = open_.try_emplace(shard);
    if (fresh) {
      place->second.entries.resize(static_cast<size_t>(index_->entries()));
      place->second.missing = count(Grid{shard_grid_.box(shard).shape, spec_.chunks}.counts());
      place->second.cut = !resume_;
    }
    return place->second;
  }

  void cut(const Shape& shard, Open& open) {
    if (!open.cut) store_->truncate(keys_.key(path_, shard), open.size);
    open.cut = true;
  }

  Placement append_to_shard(const Shape& chunk, EncodedChunk encoded) {
    auto [shard, number] = shard_of(chunk);
    Open& open = open_shard(shard);
    Placement placement;
    if (!encoded.absent) {
      cut(shard, open);
      store_->append(keys_.key(path_, shard), encoded.bytes.bytes());
      placement = {open.size, encoded.bytes.size(), 0};
      open.entries[static_cast<size_t>(number)] = {static_cast<uint64_t>(open.size),
                                                   static_cast<uint64_t>(encoded.bytes.size())};
      open.size += encoded.bytes.size();
    }
    close_when_full(shard, open);
    return placement;
  }

  // The index goes last; a shard without any chunk is not stored.
  void close_when_full(const Shape& shard, Open& open) {
    if (--open.missing > 0) return;
    if (open.size > 0) {
      cut(shard, open);
      store_->append(keys_.key(path_, shard), index_->encode(open.entries).bytes());
    }
    open_.erase(shard);
  }

  std::shared_ptr<store::Store> store_;
  std::string path_;
  KeyEncoding keys_;
  codec::Pipeline pipeline_;
  std::vector<std::byte> fill_;
  bool resume_;
  Grid shard_grid_;
  Shape inner_;
  std::unique_ptr<codec::ShardIndex> index_;  // null when not sharded
  std::map<Shape, Open> open_;
};

class ZarrSink : public Sink {
 public:
  ZarrSink(std::shared_ptr<store::Store> store, int version, bool resume, bool consolidate)
      : store_(std::move(store)), version_(version), resume_(resume), consolidate_(consolidate) {}

  const std::string& name() const override { return store_->name(); }
  bool interleaves_shards() const override { return store_->interleaves(); }
  bool interleaves_arrays() const override { return store_->interleaves(); }

  void check_group(const std::string& path, const Attributes& attributes) const override {
    check_path(path);
    write_attributes(attributes);
  }

  void check_array(const std::string& path, const ArraySpec& spec, const Attributes& attributes) const override {
    check_group(path, attributes);
    try {
      if (spec.null_space) return;
      if (version_ == 2 && !spec.shards.empty())
        throw Error(ErrorKind::Invalid, "Zarr v2 has no shards; leave --shards away or write v3");
      if (version_ == 3 && any_big_endian(spec.type))
        throw Error(ErrorKind::Bug, "big-endian elements must be cast for Zarr v3");
      const ArraySpec whole = completed(spec);
      documents(whole, {});
      codec::Pipeline(whole.codecs, {whole.type, whole.chunks, whole.fill_element()});
    } catch (Error& error) {
      throw error.prefix("/" + path);
    }
  }

  void create_group(const std::string& path, const Attributes& attributes) override {
    if (version_ == 3) {
      documents_[path] = {{"zarr.json", write_group_v3(attributes)}};
    } else {
      documents_[path] = {{".zgroup", {{"zarr_format", 2}}}, {".zattrs", write_attributes(attributes)}};
    }
  }

  std::unique_ptr<ArrayWriter> create_array(const std::string& path, const ArraySpec& given,
                                            const Attributes& attributes) override {
    const ArraySpec spec = completed(given);
    documents_[path] = documents(spec, attributes);
    return std::make_unique<ZarrWriter>(store_, path, spec, version_, resume_);
  }

  void commit() override {
    // Longer paths sort behind their parents, so backwards is children first.
    for (auto it = documents_.rbegin(); it != documents_.rend(); ++it) {
      if (!it->first.empty()) write_documents(it->first, it->second);
    }
    const auto root = documents_.find("");
    if (root != documents_.end()) {
      if (consolidate_ && version_ == 2 && is_group(root->second)) write_document(".zmetadata", consolidated_v2());
      if (consolidate_ && version_ == 3 && is_group(root->second))
        root->second[0].second["consolidated_metadata"] = consolidated_v3();
      write_documents("", root->second);
    }
    store_->finish();
  }

 private:
  using Documents = std::vector<std::pair<std::string, Json>>;

  // Contiguous storage is one chunk of the whole.
  static ArraySpec completed(ArraySpec spec) {
    if (!spec.null_space) spec.chunks = chunk_shape(spec);
    if (spec.codecs.empty()) {
      const TypeKind kind = spec.type.kind;
      spec.codecs = {{kind == TypeKind::String      ? "vlen-utf8"
                      : kind == TypeKind::VlenBytes ? "vlen-bytes"
                                                    : "bytes",
                      Json::object()}};
    }
    return spec;
  }

  Documents documents(const ArraySpec& spec, const Attributes& attributes) const {
    if (version_ == 3) return {{"zarr.json", write_array_v3(spec, attributes)}};
    return {{".zarray", write_array_v2(spec)}, {".zattrs", write_attributes(attributes)}};
  }

  void check_path(const std::string& path) const {
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string part = path.substr(begin, end - begin);
      const bool dots = part.find_first_not_of('.') == std::string::npos;
      const bool document =
          part == "zarr.json" || part == ".zarray" || part == ".zgroup" || part == ".zattrs" || part == ".zmetadata";
      if (dots || document || (version_ == 3 && part.rfind("__", 0) == 0 && part != "__categories")) {
        throw Error(ErrorKind::Unsupported,
                    "/" + path + ": the name '" + part + "' cannot be stored in Zarr v" + std::to_string(version_));
      }
      begin = end + 1;
    }
  }

  static bool is_group(const Documents& documents) {
    return documents[0].first == ".zgroup" || documents[0].second.value("node_type", std::string()) == "group";
  }

  void write_document(const std::string& key, const Json& document) {
    store_->write(key, bytes_of(dump_json(document)));
  }
  void write_documents(const std::string& path, const Documents& documents) {
    for (auto it = documents.rbegin(); it != documents.rend(); ++it) {
      write_document(path.empty() ? it->first : path + "/" + it->first, it->second);
    }
  }

  Json consolidated_v2() const {
    Json metadata = Json::object();
    for (const auto& [path, documents] : documents_) {
      for (const auto& [name, document] : documents) metadata[path.empty() ? name : path + "/" + name] = document;
    }
    return {{"metadata", metadata}, {"zarr_consolidated_format", 1}};
  }

  Json consolidated_v3() const {
    Json metadata = Json::object();
    for (const auto& [path, documents] : documents_) {
      if (!path.empty()) metadata[path] = documents[0].second;
    }
    return {{"kind", "inline"}, {"must_understand", false}, {"metadata", metadata}};
  }

  std::shared_ptr<store::Store> store_;
  int version_;
  bool resume_;
  bool consolidate_;
  std::map<std::string, Documents> documents_;
};

}  // namespace

std::unique_ptr<Sink> create_zarr_sink(std::shared_ptr<store::Store> store, int version, bool resume,
                                       bool consolidate) {
  return std::make_unique<ZarrSink>(std::move(store), version, resume, consolidate);
}

}  // namespace lamella::array::zarr
