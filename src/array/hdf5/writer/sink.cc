#include "array/hdf5/writer/sink.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "array/hdf5/writer/encode_messages.h"
#include "array/hdf5/writer/header_writer.h"
#include "array/hdf5/writer/tree_writer.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kDataStart = 2048;               // superblock and room: also where libhdf5 starts
constexpr int64_t kMostChunk = (int64_t{1} << 32) - 1;

// The file and where the next byte goes. Space is given out in a fixed order, so that a repeated run gives out the same.
struct Output {
  std::unique_ptr<store::WriteFile> file;
  int64_t end = kDataStart;
  bool cut = false;  // what an interrupted run left behind `end` is gone

  int64_t append(ConstBytes bytes) {
    if (!cut) {
      // Contiguous storage may reach beyond the last byte that was written.
      if (file->size() > end) file->truncate(end);
      cut = true;
    }
    const int64_t at = end;
    file->write_at(at, bytes);
    end += static_cast<int64_t>(bytes.size());
    return at;
  }
  int64_t reserve(int64_t bytes) {
    end = round_up(end, 8);
    const int64_t at = end;
    end += bytes;
    return at;
  }
};

// What the commit needs to know of an array.
struct ArrayRecord {
  ArraySpec spec;
  int64_t position = kNowhere;  // contiguous
  std::vector<StoredChunk> chunks;
};

class Hdf5Writer : public ArrayWriter {
 public:
  Hdf5Writer(Output& output, ArrayRecord& record) : ArrayWriter(record.spec), output_(output), record_(record) {
    if (spec_.contiguous()) return;
    pipeline_ = std::make_unique<codec::Pipeline>(spec_.codecs, codec::BlockType{spec_.type, spec_.chunks, spec_.fill_element()});
    fill_ = spec_.fill_element();
    // A filter that does not pay may be left out, if all others of the chunk may as well.
    optional_ = spec_.codecs.size() == 2 && spec_.codecs[1].name == "lzf";
  }

  EncodedChunk encode(ConstBytes decoded) const override {
    EncodedChunk out;
    const int64_t n = static_cast<int64_t>(decoded.size()) / spec_.type.size;
    if (spec_.type.has_references_to_heap()) {
      HeapBuilder heap;
      out.bytes = Buffer(static_cast<int64_t>(decoded.size()));
      store_strings(spec_.type, decoded.data(), out.bytes.data(), n, heap);
      out.heap = heap.finish();
      return out;
    }
    out.absent = all_equal(decoded.data(), n, fill_.data(), spec_.type.size);
    if (out.absent) return out;
    out.bytes = pipeline_->encode(decoded);
    if (optional_ && out.bytes.size() >= static_cast<int64_t>(decoded.size())) {
      out.bytes = Buffer::copy_of(decoded);
      out.skip_codecs = 1;
    }
    return out;
  }

  Placement append(const Shape& chunk, EncodedChunk encoded) override {
    if (encoded.absent) return {};
    if (spec_.type.has_references_to_heap()) {
      output_.end = round_up(output_.end, 8);
      const int64_t heap = encoded.heap.empty() ? 0 : output_.append(ConstBytes(encoded.heap));
      relocate_strings(spec_.type, encoded.bytes.data(), encoded.bytes.size() / spec_.type.size, heap);
      encoded.bytes = pipeline_->encode(encoded.bytes.bytes());
    }
    if (encoded.bytes.size() > kMostChunk) {
      throw Error(ErrorKind::Unsupported, "a chunk of " + std::to_string(encoded.bytes.size()) + " bytes; choose smaller --chunks");
    }
    const int64_t at = output_.append(encoded.bytes.bytes());
    add(chunk, {at, encoded.bytes.size(), encoded.skip_codecs});
    return {at, encoded.bytes.size(), encoded.skip_codecs};
  }

  void restore(const Shape& chunk, const Placement& placement) override {
    if (spec_.contiguous() || placement.position < 0) return;
    add(chunk, placement);
    output_.end = placement.position + placement.size;
  }

  void write_run(int64_t first_element, ConstBytes decoded) override {
    const int64_t at = record_.position + first_element * spec_.type.size;
    if (!spec_.type.has_references_to_heap()) {
      output_.file->write_at(at, decoded);
      return;
    }
    HeapBuilder heap;
    Buffer stored(static_cast<int64_t>(decoded.size()));
    const int64_t n = stored.size() / spec_.type.size;
    store_strings(spec_.type, decoded.data(), stored.data(), n, heap);
    const std::vector<std::byte> collections = heap.finish();
    output_.end = round_up(output_.end, 8);
    const int64_t heap_at = collections.empty() ? 0 : output_.append(ConstBytes(collections));
    relocate_strings(spec_.type, stored.data(), n, heap_at);
    output_.file->write_at(at, stored.bytes());
  }

  void finish() override {}
  int64_t index_bytes_per_chunk() const override { return sizeof(StoredChunk); }

 private:
  void add(const Shape& chunk, const Placement& placement) {
    record_.chunks.push_back({spec_.grid().linear(chunk), placement.position, static_cast<uint32_t>(placement.size), placement.skip_codecs});
  }

  Output& output_;
  ArrayRecord& record_;
  std::unique_ptr<codec::Pipeline> pipeline_;
  std::vector<std::byte> fill_;
  bool optional_ = false;
};

template <class Body>
auto located(const std::string& path, const Body& body) {
  try {
    return body();
  } catch (Error& error) {
    throw error.prefix("/" + path);
  }
}

class Hdf5Sink : public Sink {
 public:
  Hdf5Sink(const std::string& path, bool resume) : name_(path) {
    output_.file = resume ? store::reopen_local(path) : store::create_local(path);
    output_.cut = !resume;
  }

  const std::string& name() const override { return name_; }

  void check_group(const std::string& path, const Attributes& attributes) const override {
    check_path(path);
    HeapBuilder heap;
    located(path, [&] { return store_attributes(attributes, heap); });
  }

  void check_array(const std::string& path, const ArraySpec& spec, const Attributes& attributes) const override {
    check_group(path, attributes);
    if (path.empty()) throw Error(ErrorKind::Unsupported, "an HDF5 file has a group at its root, no array; name the element");
    located(path, [&] {
      if (spec.null_space) return;
      ByteWriter message;
      put_datatype(message, spec.type);
      if (spec.type.kind == TypeKind::Reference) {
        throw Error(ErrorKind::Unsupported, "object references point into the file that they stand in and cannot be copied");
      }
      if (spec.contiguous()) return;
      check_chunks(spec);
    });
  }

  void create_group(const std::string& path, const Attributes& attributes) override {
    objects_[path].attributes = attributes;
    link(path);
  }

  std::unique_ptr<ArrayWriter> create_array(const std::string& path, const ArraySpec& spec, const Attributes& attributes) override {
    Object& object = objects_[path];
    object.attributes = attributes;
    object.array = std::make_unique<ArrayRecord>();
    object.array->spec = spec;
    link(path);
    if (spec.contiguous() && !spec.null_space) {
      const int64_t bytes = checked_mul(count(spec.shape), spec.type.size);
      if (bytes > 0) object.array->position = output_.reserve(bytes);
    }
    return std::make_unique<Hdf5Writer>(output_, *object.array);
  }

  void commit() override {
    store::WriteFile& file = *output_.file;
    if (file.size() != output_.end) file.truncate(output_.end);
    if (output_.end % 8 != 0) file.append(ByteWriter().zeros(8 - output_.end % 8).bytes());
    HeapBuilder heap;
    std::map<std::string, std::vector<StoredAttribute>> attributes;
    for (const auto& [path, object] : objects_) {
      attributes[path] = located(path, [&] { return store_attributes(object.attributes, heap); });
    }
    const std::vector<std::byte> collections = heap.finish();
    const int64_t heap_address = file.append(ConstBytes(collections));
    write_objects(attributes, heap_address);
    file.sync();
    write_superblock();
    file.sync();
  }

 private:
  struct Object {
    Attributes attributes;
    std::vector<std::string> members;  // of a group
    std::unique_ptr<ArrayRecord> array;
    int64_t header = kNowhere;
    GroupAddresses group;
  };

  static void check_path(const std::string& path) {
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string part = path.substr(begin, end - begin);
      if (part.empty() || part == "." || part.find('\0') != std::string::npos) {
        throw Error(ErrorKind::Unsupported, "/" + path + ": the name '" + part + "' cannot be stored in HDF5");
      }
      begin = end + 1;
    }
  }

  static void check_chunks(const ArraySpec& spec) {
    if (spec.shape.empty()) throw Error(ErrorKind::Unsupported, "a scalar has no chunks in HDF5");
    if (spec.codecs[0].name != "bytes" || !spec.codecs[0].configuration.empty()) {
      throw Error(ErrorKind::Unsupported, "codec \"" + spec.codecs[0].name + "\" has no HDF5 filter; give --codec gzip");
    }
    if (checked_mul(count(spec.chunks), spec.type.size) > kMostChunk) {
      throw Error(ErrorKind::Unsupported, "chunks of " + to_string(spec.chunks) + " take 4 GiB or more; give smaller --chunks");
    }
    ByteWriter message;
    put_filters(message, spec);
  }

  static std::vector<StoredAttribute> store_attributes(const Attributes& attributes, HeapBuilder& heap) {
    std::vector<StoredAttribute> out;
    for (const auto& [name, attribute] : attributes) out.push_back(store_attribute(name, attribute, heap));
    return out;
  }

  void link(const std::string& path) {
    if (path.empty()) return;
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    objects_[parent].members.push_back(path.substr(slash == std::string::npos ? 0 : slash + 1));
  }

  // Members before their groups. Headers that others refer to come first.
  void write_objects(const std::map<std::string, std::vector<StoredAttribute>>& attributes, int64_t heap_address) {
    write_object("", attributes, heap_address, 0);
  }

  int64_t write_object(const std::string& path, const std::map<std::string, std::vector<StoredAttribute>>& attributes,
                       int64_t heap_address, int depth) {
    Object& object = objects_[path];
    if (object.header != kNowhere) return object.header;
    if (depth > 256) throw Error(ErrorKind::Unsupported, "/" + path + ": groups nested more than 256 deep");
    const auto address_of = [&](const std::string& target) -> int64_t {
      const std::string key = target.rfind('/', 0) == 0 ? target.substr(1) : target;
      if (key.empty() || objects_.find(key) == objects_.end()) {
        throw Error(ErrorKind::Unsupported, "/" + path + ": refers to /" + key + ", which is not written");
      }
      return write_object(key, attributes, heap_address, depth + 1);
    };
    std::vector<HeaderMessage> messages = object.array ? array_messages(*object.array) : group_messages(path, object, attributes, heap_address, depth);
    const auto own = attributes.find(path);
    static const std::vector<StoredAttribute> kNone;
    object.header = write_header(*output_.file, messages, own == attributes.end() ? kNone : own->second, heap_address, address_of);
    return object.header;
  }

  std::vector<HeaderMessage> group_messages(const std::string& path, Object& object,
                                            const std::map<std::string, std::vector<StoredAttribute>>& attributes,
                                            int64_t heap_address, int depth) {
    std::vector<std::pair<std::string, int64_t>> members;
    for (const std::string& name : object.members) {
      members.emplace_back(name, write_object(path.empty() ? name : path + "/" + name, attributes, heap_address, depth + 1));
    }
    object.group = write_group(*output_.file, std::move(members));
    HeaderMessage table{0x11, {}};
    table.body.address(object.group.tree).address(object.group.heap);
    return {table};
  }

  std::vector<HeaderMessage> array_messages(ArrayRecord& record) {
    const ArraySpec& spec = record.spec;
    HeaderMessage space{0x01, {}}, type{0x03, {}}, fill{0x05, {}}, layout{0x08, {}};
    put_dataspace(space.body, spec.shape, spec.contiguous() ? Shape{} : spec.max_shape, spec.null_space);
    put_datatype(type.body, spec.type);
    put_fill_value(fill.body, spec);
    std::vector<HeaderMessage> messages = {space, type, fill};
    if (spec.contiguous()) {
      put_contiguous_layout(layout.body, record.position, spec.null_space ? 0 : count(spec.shape) * spec.type.size);
    } else {
      put_chunked_layout(layout.body, spec, write_chunk_tree(*output_.file, record.chunks, spec.grid(), spec.type.size));
      if (spec.codecs.size() > 1) {
        HeaderMessage filters{0x0b, {}};
        put_filters(filters.body, spec);
        messages.push_back(filters);
      }
    }
    messages.push_back(layout);
    return messages;
  }

  void write_superblock() {
    const Object& root = objects_[""];
    ByteWriter out;
    out.put(0x0a1a0a0d46444889ull, 8);  // the signature
    out.u8(0).u8(0).u8(0).u8(0).u8(0).u8(8).u8(8).u8(0).u16(4).u16(16).u32(0);
    out.address(0).address(kNowhere).address(output_.file->size()).address(kNowhere);
    out.u64(0).address(root.header).u32(1).u32(0).address(root.group.tree).address(root.group.heap);
    output_.file->write_at(0, out.bytes());
  }

  std::string name_;
  Output output_;
  std::map<std::string, Object> objects_;
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_sink(const std::string& path, bool resume) { return std::make_unique<Hdf5Sink>(path, resume); }

}  // namespace lamella::array::hdf5
