#include "array/hdf5/writer/tree_writer.h"

#include <algorithm>

#include "array/hdf5/writer/byte_writer.h"

namespace lamella::array::hdf5 {
namespace {

// Half the fan-outs, as superblock 0 gives them (or leaves at their default).
constexpr int64_t kGroupLeaf = 4;
constexpr int64_t kGroupNode = 16;
constexpr int64_t kChunkNode = 32;

// A node of the level below: its address, the key at its left end, and the one at its right.
struct Child {
  int64_t address;
  std::vector<std::byte> left, right;
};

std::vector<std::byte> copy(const ByteWriter& writer) { return {writer.bytes().begin(), writer.bytes().end()}; }

// Nodes of one level over `n` children, each of the full size that readers expect. Siblings are linked. Children are
// asked for one at a time, because those of the lowest level are as many as there are chunks.
template <class ChildAt>
std::vector<Child> write_level(store::WriteFile& file, int64_t n, const ChildAt& child_at, int type, int level,
                               int64_t half, int64_t key_size) {
  const int64_t node_size = 24 + 2 * half * (key_size + 8) + key_size;
  const int64_t nodes = ceil_div(n, 2 * half);
  const int64_t start = file.size();
  std::vector<Child> out;
  for (int64_t node = 0; node < nodes; ++node) {
    // Evenly filled: a last node with a single child would be legal, but lopsided.
    const int64_t begin = node * n / nodes, end = (node + 1) * n / nodes;
    ByteWriter bytes;
    bytes.text("TREE").u8(static_cast<uint64_t>(type)).u8(static_cast<uint64_t>(level));
    bytes.u16(static_cast<uint64_t>(end - begin));
    bytes.address(node == 0 ? kNowhere : start + (node - 1) * node_size);
    bytes.address(node + 1 == nodes ? kNowhere : start + (node + 1) * node_size);
    Child whole{0, {}, {}};
    for (int64_t i = begin; i < end; ++i) {
      Child child = child_at(i);
      bytes.put(ConstBytes(child.left)).address(child.address);
      if (i == begin) whole.left = std::move(child.left);
      whole.right = std::move(child.right);
    }
    bytes.put(ConstBytes(whole.right)).pad_to(node_size);
    whole.address = file.append(bytes.bytes());
    out.push_back(std::move(whole));
  }
  return out;
}

// All levels; the address of the root.
template <class ChildAt>
int64_t write_tree(store::WriteFile& file, int64_t n, const ChildAt& child_at, int type, int64_t half,
                   int64_t key_size) {
  std::vector<Child> children = write_level(file, n, child_at, type, 0, half, key_size);
  for (int level = 1; children.size() > 1; ++level) {
    const auto upper = [&](int64_t i) { return children[static_cast<size_t>(i)]; };
    children = write_level(file, static_cast<int64_t>(children.size()), upper, type, level, half, key_size);
  }
  return children[0].address;
}

// Size, filter mask, and the first element of a chunk; the last axis is that of the element's bytes.
std::vector<std::byte> chunk_key(const StoredChunk& chunk, const Grid& grid, int64_t shift, int64_t last) {
  ByteWriter key;
  key.u32(chunk.size).u32(chunk.mask);
  const Shape index = grid.index(chunk.chunk);
  for (size_t axis = 0; axis < index.size(); ++axis) {
    key.u64(static_cast<uint64_t>((index[axis] + shift) * grid.chunk[axis]));
  }
  key.u64(static_cast<uint64_t>(last));
  return key.take();
}

}  // namespace

int64_t write_chunk_tree(store::WriteFile& file, ChunkTable& chunks, const Grid& grid, int64_t item_size) {
  if (chunks.empty()) return kNowhere;
  const auto before = [](const StoredChunk& a, const StoredChunk& b) { return a.chunk < b.chunk; };
  if (!std::is_sorted(chunks.begin(), chunks.end(), before)) std::sort(chunks.begin(), chunks.end(), before);
  const auto key_size = static_cast<int64_t>(8 + 8 * (grid.chunk.size() + 1));
  const auto n = static_cast<int64_t>(chunks.size());
  const auto leaf = [&](int64_t i) {
    const StoredChunk& chunk = chunks[static_cast<size_t>(i)];
    // The right key is the left one of the next chunk, or lies beyond the last.
    const bool last = i + 1 == n;
    return Child{chunk.position, chunk_key(chunk, grid, 0, 0),
                 last ? chunk_key({chunk.chunk, 0, 0, 0}, grid, 1, item_size)
                      : chunk_key(chunks[static_cast<size_t>(i + 1)], grid, 0, 0)};
  };
  return write_tree(file, n, leaf, 1, kChunkNode, key_size);
}

GroupAddresses write_group(store::WriteFile& file, std::vector<std::pair<std::string, int64_t>> members) {
  std::sort(members.begin(), members.end());
  ByteWriter names;
  names.zeros(8);  // the empty name, left of all others
  std::vector<int64_t> offsets;
  for (const auto& member : members) {
    offsets.push_back(names.size());
    names.text(member.first).u8(0).pad(8);
  }
  GroupAddresses out;
  out.heap = file.size();
  ByteWriter heap;
  heap.text("HEAP")
      .u8(0)
      .zeros(3)
      .u64(static_cast<uint64_t>(names.size()))
      .u64(1)
      .address(out.heap + 32);  // 1: no free space
  heap.put(names.bytes());
  file.append(heap.bytes());

  std::vector<Child> leaves;
  ByteWriter left;
  left.u64(0);
  const int64_t node_size = 8 + 2 * kGroupLeaf * 40;
  for (size_t begin = 0; begin < members.size() || leaves.empty(); begin += 2 * kGroupLeaf) {
    const size_t end = std::min(begin + 2 * kGroupLeaf, members.size());
    ByteWriter node;
    node.text("SNOD").u8(1).u8(0).u16(end - begin);
    for (size_t i = begin; i < end; ++i) {
      node.u64(static_cast<uint64_t>(offsets[i])).address(members[i].second).zeros(24);
    }
    node.pad_to(node_size);
    ByteWriter right;
    right.u64(end > begin ? static_cast<uint64_t>(offsets[end - 1]) : 0);
    leaves.push_back({file.append(node.bytes()), copy(left), copy(right)});
    left = right;
  }
  if (members.empty()) {  // a tree of no entries
    ByteWriter node;
    node.text("TREE").u8(0).u8(0).u16(0).address(kNowhere).address(kNowhere).pad_to(24 + 2 * kGroupNode * 16 + 8);
    out.tree = file.append(node.bytes());
    return out;
  }
  const auto leaf = [&](int64_t i) { return leaves[static_cast<size_t>(i)]; };
  out.tree = write_tree(file, static_cast<int64_t>(leaves.size()), leaf, 0, kGroupNode, 8);
  return out;
}

}  // namespace lamella::array::hdf5
