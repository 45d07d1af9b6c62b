#include "array/hdf5/btree_v1.h"

#include <cstring>

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kWhat = "version 1 B-tree node";

// Keys and children alternate; there is one more key. A node is as large as if it were full.
class TreeWalk {
 public:
  TreeWalk(const Container& container, int type, int64_t key_size, int64_t most_children)
      : container_(container),
        limit_(container, kWhat),
        type_(type),
        key_size_(key_size),
        most_children_(most_children) {}

  // `leaf` gets the key before a child of level 0, and the child's address.
  template <class Leaf>
  void walk(int64_t address, int expected_level, const Leaf& leaf) {
    const int64_t head = 8 + 2 * container_.super().offset_size;
    const int64_t step = key_size_ + container_.super().offset_size;
    Block node = container_.read_some(address, head, head + most_children_ * step + key_size_, kWhat);
    container_.check_signature(node, "TREE", kWhat);
    ByteReader in = node.reader();
    in.skip(4);
    const int type = in.u8();
    const int level = in.u8();
    const int64_t children = in.u16();
    if (type != type_) container_.corrupt(kWhat, address, "is of type " + std::to_string(type));
    if (expected_level >= 0 && level != expected_level) {
      container_.corrupt(kWhat, address,
                         "has level " + std::to_string(level) + " below " + std::to_string(expected_level + 1));
    }
    const int64_t used = head + children * step;
    limit_.spend(used, address);
    if (used > node.buffer.size()) {
      node = container_.read(address, used, kWhat);
      in = node.reader();
    }
    for (int64_t i = 0; i < children; ++i) {
      in.seek(head + i * step);
      const std::byte* key = in.take(key_size_).data();
      const int64_t child = container_.take_address(in);
      if (level == 0) {
        leaf(key, child);
      } else {
        walk(child, level - 1, leaf);
      }
    }
  }

 private:
  const Container& container_;
  WalkLimit limit_;
  int type_;
  int64_t key_size_;
  int64_t most_children_;
};

}  // namespace

void walk_group_tree(const Container& container, int64_t address, const std::function<void(int64_t)>& visit) {
  TreeWalk walk(container, 0, container.super().length_size, 32);
  walk.walk(address, -1, [&](const std::byte*, int64_t child) { visit(child); });
}

void walk_chunk_tree(const Container& container, int64_t address, int rank,
                     const std::function<void(const TreeChunk&)>& visit) {
  TreeWalk walk(container, 1, 8 + 8 * (int64_t{rank} + 1), container.super().chunk_tree_entries);
  walk.walk(address, -1, [&](const std::byte* key, int64_t child) {
    TreeChunk chunk{child, 0, 0, key + 8};
    std::memcpy(&chunk.size, key, 4);
    std::memcpy(&chunk.mask, key + 4, 4);
    visit(chunk);
  });
}

}  // namespace lamella::array::hdf5
