#include "array/hdf5/symbol_table.h"

#include "array/hdf5/btree_v1.h"
#include "array/hdf5/local_heap.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kWhat = "symbol table node";

void read_node(const Container& container, int64_t address, const LocalHeap& heap, WalkLimit& limit,
               std::vector<Link>& links) {
  const int64_t entry = 2 * container.super().offset_size + 24;
  Block node = container.read_some(address, 8, 8 + 8 * entry, kWhat);
  container.check_signature(node, "SNOD", kWhat);
  ByteReader in = node.reader();
  in.skip(6);
  const int64_t n = in.u16();
  limit.spend(8 + n * entry, address);
  if (8 + n * entry > node.buffer.size()) {
    node = container.read(address, 8 + n * entry, kWhat);
    in = node.reader();
    in.skip(8);
  }
  for (int64_t i = 0; i < n; ++i) {
    Link link;
    const int64_t name = container.take_address(in);
    link.name = heap.name_at(name);
    link.address = container.take_address(in);
    const uint32_t cache = in.u32();
    in.skip(4);
    ByteReader scratch(in.take(16), node.position);
    if (cache == 2) {
      link.kind = LinkKind::Soft;
      link.target = heap.name_at(scratch.u32());
    }
    links.push_back(std::move(link));
  }
}

}  // namespace

std::vector<Link> read_symbol_table(const Container& container, const Message& message) {
  ByteReader in = message.reader();
  const int64_t tree = container.take_address(in);
  const LocalHeap heap(container, container.take_address(in));
  std::vector<Link> links;
  WalkLimit limit(container, kWhat);
  walk_group_tree(container, tree, [&](int64_t node) { read_node(container, node, heap, limit, links); });
  return links;
}

}  // namespace lamella::array::hdf5
