#include "array/hdf5/writer/sink.h"

#include <algorithm>
#include <map>

#include "array/hdf5/writer/array_writer.h"
#include "array/hdf5/writer/encode_messages.h"
#include "array/hdf5/writer/header_writer.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kDataStart = 2048;  // superblock and room: also where libhdf5 starts
constexpr int64_t kMostDepth = 200;   // groups in groups

enum MessageType : uint16_t {
  kDataspace = 1,
  kDatatype = 3,
  kFillValue = 5,
  kLayout = 8,
  kFilters = 11,
  kSymbols = 17,
};

template <class Body>
auto located(const std::string& path, const Body& body) {
  try {
    return body();
  } catch (Error& error) {
    throw error.prefix("/" + path);
  }
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void check_path(const std::string& path) {
  if (std::count(path.begin(), path.end(), '/') >= kMostDepth) {
    throw Error(ErrorKind::Unsupported, "/" + path + ": groups nested more than 200 deep");
  }
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part.find('\0') != std::string::npos || end + 1 == path.size()) {
      throw Error(ErrorKind::Unsupported, "/" + path + ": the name '" + part + "' cannot be stored in HDF5");
    }
    begin = end + 1;
  }
}

std::vector<StoredAttribute> store_attributes(const Attributes& attributes, HeapBuilder& heap) {
  if (attributes.size() > kMostAttributes) {
    throw Error(ErrorKind::Unsupported, std::to_string(attributes.size()) + " attributes; put them into an array");
  }
  std::vector<StoredAttribute> out;
  for (const auto& [name, attribute] : attributes) out.push_back(store_attribute(name, attribute, heap));
  return out;
}

class Hdf5Sink : public Sink {
 public:
  Hdf5Sink(const std::string& path, bool resume, bool durable) : name_(path), durable_(durable) {
    output_.file = resume ? store::reopen_local(path) : store::create_local(path);
    output_.end = kDataStart;
    objects_[""];
  }

  const std::string& name() const override { return name_; }

  void check_group(const std::string& path, const Attributes& attributes) const override {
    check_path(path);
    HeapBuilder heap;
    located(path, [&] { store_attributes(attributes, heap); });
  }

  void check_array(const std::string& path, const ArraySpec& spec, const Attributes& attributes) const override {
    check_group(path, attributes);
    if (path.empty()) {
      throw Error(ErrorKind::Unsupported, "an HDF5 file has a group at its root, no array; name the element");
    }
    located(path, [&] { check_spec(spec); });
  }

  void create_group(const std::string& path, const Attributes& attributes) override {
    check_group(path, attributes);
    add(path).attributes = attributes;
  }

  std::unique_ptr<ArrayWriter> create_array(const std::string& path, const ArraySpec& spec,
                                            const Attributes& attributes) override {
    check_array(path, spec, attributes);
    Object& object = add(path);
    object.attributes = attributes;
    object.array = std::make_unique<ArrayRecord>();
    ArrayRecord& array = *object.array;
    array.spec = spec;
    if (!spec.contiguous()) {
      array.spec.codecs = codec::hdf5_codecs(spec.codecs, spec.type.size, count(spec.chunks) * spec.type.size);
    } else if (!spec.null_space && count(spec.shape) > 0) {
      array.position = output_.reserve(count(spec.shape) * spec.type.size);
    }
    return create_array_writer(output_, array);
  }

  void commit() override {
    store::WriteFile& file = *output_.file;
    output_.align();
    if (file.size() != output_.end) file.truncate(output_.end);
    HeapBuilder heap;
    std::map<std::string, std::vector<StoredAttribute>> attributes;
    for (const auto& [path, object] : objects_) {
      attributes[path] = located(path, [&, &object = object] { return store_attributes(object.attributes, heap); });
    }
    const int64_t heap_address = file.append(ConstBytes(heap.finish()));
    std::vector<PendingReference> pending;
    write_object("", attributes, heap_address, pending);
    put_references(pending);
    if (durable_) file.sync();
    write_superblock();
    if (durable_) file.sync();
  }

 private:
  using StoredAttributes = std::map<std::string, std::vector<StoredAttribute>>;

  struct Object {
    Attributes attributes;
    std::vector<std::string> members;  // of a group
    std::unique_ptr<ArrayRecord> array;
    int64_t header = kNowhere;
    GroupAddresses group;
  };

  Object& add(const std::string& path) {
    if (path.empty()) return objects_[""];
    const auto parent = objects_.find(parent_of(path));
    if (parent == objects_.end() || parent->second.array) {
      throw Error(ErrorKind::Bug, "/" + path + ": its group was not created before");
    }
    const auto [object, added] = objects_.try_emplace(path);
    if (!added) throw Error(ErrorKind::Bug, "/" + path + ": created twice");
    parent->second.members.push_back(path.substr(path.rfind('/') + 1));
    return object->second;
  }

  // Members before their group, whose table of symbols has their addresses.
  void write_object(const std::string& path, const StoredAttributes& attributes, int64_t heap_address,
                    std::vector<PendingReference>& pending) {
    Object& object = objects_.at(path);
    if (!object.array) {
      std::vector<std::pair<std::string, int64_t>> members;
      for (const std::string& name : object.members) {
        const std::string member = path.empty() ? name : path + "/" + name;
        write_object(member, attributes, heap_address, pending);
        members.emplace_back(name, objects_.at(member).header);
      }
      object.group = write_group(*output_.file, std::move(members));
    }
    const std::vector<HeaderMessage> messages = object.array ? array_messages(*object.array) : group_messages(object);
    const size_t before = pending.size();
    object.header = write_header(*output_.file, messages, attributes.at(path), heap_address, pending);
    for (size_t i = before; i < pending.size(); ++i) pending[i].place = "/" + path + ": " + pending[i].place;
  }

  static std::vector<HeaderMessage> group_messages(const Object& object) {
    HeaderMessage table{kSymbols, {}};
    table.body.address(object.group.tree).address(object.group.heap);
    return {table};
  }

  std::vector<HeaderMessage> array_messages(ArrayRecord& record) {
    const ArraySpec& spec = record.spec;
    HeaderMessage space{kDataspace, {}}, type{kDatatype, {}}, fill{kFillValue, {}}, layout{kLayout, {}};
    put_dataspace(space.body, spec.shape, spec.contiguous() ? Shape{} : spec.max_shape, spec.null_space);
    put_datatype(type.body, spec.type);
    put_fill_value(fill.body, spec);
    std::vector<HeaderMessage> messages = {space, type, fill};
    if (spec.contiguous()) {
      put_contiguous_layout(layout.body, record.position, spec.null_space ? 0 : count(spec.shape) * spec.type.size);
    } else {
      put_chunked_layout(layout.body, spec,
                         write_chunk_tree(*output_.file, record.chunks, spec.grid(), spec.type.size));
      if (spec.codecs.size() > 1) {
        HeaderMessage filters{kFilters, {}};
        put_filters(filters.body, spec);
        messages.push_back(filters);
      }
    }
    messages.push_back(layout);
    return messages;
  }

  // Now that every header has its place. Objects may refer to each other in circles.
  void put_references(const std::vector<PendingReference>& pending) {
    for (const PendingReference& reference : pending) {
      const size_t begin = std::min(reference.target.find_first_not_of('/'), reference.target.size());
      const auto object = objects_.find(reference.target.substr(begin));
      if (object == objects_.end()) {
        throw Error(ErrorKind::Unsupported,
                    reference.place + " refers to " + reference.target + ", which is not written");
      }
      ByteWriter address;
      address.address(object->second.header);
      output_.file->write_at(reference.position, address.bytes());
    }
  }

  void write_superblock() {
    const Object& root = objects_.at("");
    ByteWriter out;
    out.put(0x0a1a0a0d46444889ull, 8);  // the signature
    out.u8(0).u8(0).u8(0).u8(0).u8(0).u8(8).u8(8).u8(0).u16(4).u16(16).u32(0);
    out.address(0).address(kNowhere).address(output_.file->size()).address(kNowhere);
    out.u64(0).address(root.header).u32(1).u32(0).address(root.group.tree).address(root.group.heap);
    output_.file->write_at(0, out.pad_to(kDataStart).bytes());
  }

  std::string name_;
  bool durable_;
  Output output_;
  std::map<std::string, Object> objects_;  // by path; "" is the root
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_sink(const std::string& path, bool resume, bool durable) {
  return std::make_unique<Hdf5Sink>(path, resume, durable);
}

}  // namespace lamella::array::hdf5
