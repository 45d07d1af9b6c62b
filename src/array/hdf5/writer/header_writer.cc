#include "array/hdf5/writer/header_writer.h"

#include <algorithm>

#include "array/hdf5/checksum.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr uint16_t kAttribute = 0x0c;
constexpr uint16_t kAttributeInfo = 0x15;

void put_checksum(ByteWriter& out) { out.u32(lookup3(out.bytes())); }

// A version 2 B-tree of a single leaf: header and node.
int64_t write_leaf_tree(store::WriteFile& file, int type, int64_t record_size, const ByteWriter& records) {
  const int64_t n = records.size() / record_size;
  const int64_t node_size = std::max<int64_t>(round_up(records.size() + 10, 512), 512);
  ByteWriter leaf;
  leaf.text("BTLF").u8(0).u8(static_cast<uint64_t>(type)).put(records.bytes());
  put_checksum(leaf);
  leaf.pad_to(node_size);
  const int64_t node = file.append(leaf.bytes());
  ByteWriter head;
  head.text("BTHD").u8(0).u8(static_cast<uint64_t>(type)).u32(static_cast<uint64_t>(node_size));
  head.u16(static_cast<uint64_t>(record_size));
  head.u16(0).u8(100).u8(40).address(node).u16(static_cast<uint64_t>(n)).u64(static_cast<uint64_t>(n));
  put_checksum(head);
  return file.append(head.bytes());
}

void add_pending(const StoredAttribute& attribute, int64_t message_end, std::vector<PendingReference>& pending) {
  int64_t at = message_end - 8 * static_cast<int64_t>(attribute.targets.size());
  for (const std::string& target : attribute.targets) {
    if (!target.empty()) pending.push_back({at, target, "attribute '" + attribute.name + "'"});
    at += 8;
  }
}

// Attributes apart from their header: each is a "huge" object of a fractal heap, found by its name's hash.
struct Dense {
  int64_t heap = 0, names = 0;
};

Dense write_dense(store::WriteFile& file, const std::vector<StoredAttribute>& attributes, int64_t heap_address,
                  std::vector<PendingReference>& pending) {
  struct Entry {
    uint32_t hash;
    const StoredAttribute* attribute;
    uint64_t id;
  };
  std::vector<Entry> entries;
  ByteWriter objects;
  uint64_t id = 0, total = 0;
  for (const StoredAttribute& attribute : attributes) {
    const ByteWriter body = attribute.message(heap_address, true);
    const int64_t at = file.append(body.bytes());
    add_pending(attribute, at + body.size(), pending);
    objects.address(at).u64(static_cast<uint64_t>(body.size())).u64(++id);
    total += static_cast<uint64_t>(body.size());
    ByteWriter name;
    name.text(attribute.name);
    entries.push_back({lookup3(name.bytes()), &attribute, id});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.attribute->name < b.attribute->name;
  });
  ByteWriter names;
  for (const Entry& entry : entries) {
    names.u8(0x10).put(entry.id, 7);  // heap ID: huge, by number
    names.u8(0).u32(static_cast<uint64_t>(entry.id - 1)).u32(entry.hash);
  }
  const int64_t object_tree = write_leaf_tree(file, 1, 24, objects);
  ByteWriter heap;
  heap.text("FRHP").u8(0).u16(8).u16(0).u8(0).u32(1);  // IDs of 8 bytes; what is longer than a byte is huge
  heap.u64(id + 1).address(object_tree).u64(0).address(kNowhere);
  heap.u64(0).u64(0).u64(0).u64(0).u64(total).u64(id).u64(0).u64(0);
  heap.u16(4).u64(1024).u64(65536).u16(40).u16(1).address(kNowhere).u16(0);
  put_checksum(heap);
  Dense out;
  out.heap = file.append(heap.bytes());
  out.names = write_leaf_tree(file, 8, 17, names);
  return out;
}

int64_t write_version_2(store::WriteFile& file, std::vector<HeaderMessage> messages, const Dense& dense) {
  HeaderMessage info{kAttributeInfo, {}};
  info.body.u8(0).u8(0).address(dense.heap).address(dense.names);
  messages.push_back(std::move(info));
  ByteWriter body;
  for (const HeaderMessage& message : messages) {
    body.u8(message.type).u16(static_cast<uint64_t>(message.body.size())).u8(0).put(message.body.bytes());
  }
  ByteWriter out;
  out.text("OHDR").u8(2).u8(2).u32(static_cast<uint64_t>(body.size())).put(body.bytes());
  put_checksum(out);
  return file.append(out.bytes());
}

}  // namespace

int64_t write_header(store::WriteFile& file, const std::vector<HeaderMessage>& messages,
                     const std::vector<StoredAttribute>& attributes, int64_t heap_address,
                     std::vector<PendingReference>& pending) {
  const bool fits = std::all_of(attributes.begin(), attributes.end(),
                                [](const StoredAttribute& a) { return a.message_bytes() < kMostMessage; });
  if (!fits) return write_version_2(file, messages, write_dense(file, attributes, heap_address, pending));
  ByteWriter body;
  const auto put = [&](uint16_t type, const ByteWriter& message) {
    const int64_t padded = round_up(message.size(), 8);
    body.u16(type).u16(static_cast<uint64_t>(padded)).u8(0).zeros(3).put(message.bytes());
    const int64_t end = body.size();
    body.zeros(padded - message.size());
    return end;
  };
  for (const HeaderMessage& message : messages) put(message.type, message.body);
  const int64_t address = file.size();
  constexpr int64_t kPrefix = 16;
  for (const StoredAttribute& attribute : attributes) {
    const int64_t end = put(kAttribute, attribute.message(heap_address, false));
    add_pending(attribute, address + kPrefix + end, pending);
  }
  ByteWriter out;
  out.u8(1).u8(0).u16(messages.size() + attributes.size()).u32(1).u32(static_cast<uint64_t>(body.size())).zeros(4);
  out.put(body.bytes());
  return file.append(out.bytes());
}

}  // namespace lamella::array::hdf5
