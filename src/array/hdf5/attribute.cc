#include "array/hdf5/attribute.h"

#include <algorithm>

#include "array/hdf5/attribute_value.h"
#include "array/hdf5/btree_v2.h"
#include "array/hdf5/dataspace.h"
#include "array/hdf5/fractal_heap.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

struct Named {
  std::string name;
  uint32_t order;
  Attribute attribute;
};

ByteReader part(ByteReader& in, int64_t size, bool padded, int64_t base) {
  const int64_t position = base + in.position();
  const ConstBytes bytes = in.take(size);
  if (padded) in.skip(std::min(round_up(size, 8) - size, in.remaining()));
  return ByteReader(bytes, position);
}

Named parse_attribute(const Container& container, ByteReader in, int64_t base) {
  const int version = in.u8();
  if (version < 1 || version > 3) in.fail("attribute version 1 to 3, not " + std::to_string(version) + ",");
  const int flags = version == 1 ? (in.skip(1), 0) : in.u8();
  const int64_t name_size = in.u16();
  const int64_t type_size = in.u16();
  const int64_t space_size = in.u16();
  if (version == 3) in.skip(1);
  Named out;
  out.name = part(in, name_size, version == 1, base).c_string();
  try {
    ResolvedMessage type =
        resolve(container, part(in, type_size, version == 1, base), MessageType::Datatype, flags & 1);
    const Datatype datatype = parse_datatype(container, type.reader);
    const ResolvedMessage space =
        resolve(container, part(in, space_size, version == 1, base), MessageType::Dataspace, flags & 2);
    out.attribute =
        make_attribute(container, datatype, parse_dataspace(container, space.reader), in.take(in.remaining()));
  } catch (Error& error) {
    error.prefix("attribute '" + out.name + "'");
    if (error.kind() != ErrorKind::Unsupported) throw;
    out.attribute = {};
    out.attribute.fault = error.what();
  }
  return out;
}

void read_dense(const Container& container, ByteReader in, std::vector<Named>& attributes) {
  in.skip(1);
  const int flags = in.u8();
  if (flags & 1) in.skip(2);
  const int64_t heap_address = container.take_address(in);
  const int64_t names = container.take_address(in);
  if (heap_address == kUndefined || names == kUndefined) return;
  FractalHeap heap(container, heap_address);
  const int64_t base = container.absolute(heap_address);
  walk_btree2(container, names, {8}, [&](ByteReader record) {
    const ConstBytes id = record.take(heap.id_size());
    const int message_flags = record.u8();
    const uint32_t order = record.u32();
    if (message_flags & 2) {
      throw Error(ErrorKind::Unsupported,
                  "attributes in the file's shared table are not read; rewrite the file with h5repack");
    }
    attributes.push_back(parse_attribute(container, ByteReader(heap.object(id), base), base));
    attributes.back().order = order;
  });
}

}  // namespace

Attributes read_attributes(const Container& container, const ObjectHeader& header, const std::string& place) {
  std::vector<Named> found;
  for (const Message& message : header.messages()) {
    if (message.type == MessageType::AttributeInfo) read_dense(container, message.reader(), found);
    if (message.type == MessageType::Attribute) {
      const ResolvedMessage resolved = resolve(container, message.reader(), message.type, message.shared());
      found.push_back(parse_attribute(container, resolved.reader, message.position));
      found.back().order = message.creation_order;
    }
  }
  const bool ordered = header.tracks_attribute_order();
  std::sort(found.begin(), found.end(), [&](const Named& a, const Named& b) {
    return ordered && a.order != b.order ? a.order < b.order : a.name < b.name;
  });
  Attributes out;
  for (Named& named : found) {
    if (!named.attribute.fault.empty()) named.attribute.fault.insert(0, place + ": ");
    out.set(named.name, std::move(named.attribute));
  }
  return out;
}

}  // namespace lamella::array::hdf5
