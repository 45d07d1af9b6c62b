#include "array/hdf5/btree_v2.h"

#include <algorithm>
#include <vector>

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kHeader = "version 2 B-tree header";
constexpr const char* kNode = "version 2 B-tree node";

int64_t encoded_width(int64_t most) {
  int64_t width = 1;
  while (width < 8 && (most >> (8 * width)) != 0) ++width;
  return width;
}

class TreeWalk {
 public:
  TreeWalk(const Container& container, const std::function<void(ByteReader)>& visit)
      : container_(container), limit_(container, kNode), visit_(visit) {}

  void walk(int64_t address, std::initializer_list<int> types) {
    const int64_t size = 16 + container_.super().offset_size + 2 + container_.super().length_size + 4;
    const Block head = container_.read_signed(address, size, "BTHD", kHeader);
    container_.check_sum(head, size, kHeader);
    ByteReader in = head.reader();
    in.skip(5);
    type_ = in.u8();
    node_size_ = in.u32();
    record_size_ = in.u16();
    const int depth = in.u16();
    in.skip(2);
    const int64_t root = container_.take_address(in);
    const int64_t records = in.u16();
    if (std::find(types.begin(), types.end(), type_) == types.end()) {
      container_.corrupt(kHeader, address, "is of type " + std::to_string(type_));
    }
    if (record_size_ == 0 || node_size_ < 10 + record_size_ || depth > 32) {
      container_.corrupt(kHeader, address, "its sizes make no sense");
    }
    if (root == kUndefined) return;
    prepare(depth);
    node(root, records, depth);
  }

 private:
  struct Level {
    int64_t total_width;  // bytes of the number of records below a child of this level
    int64_t total;        // most records at and below a node of this level
  };

  void prepare(int depth) {
    const int64_t most = (node_size_ - 10) / record_size_;
    count_width_ = encoded_width(most);
    levels_.push_back({0, most});
    for (int d = 1; d <= depth; ++d) {
      const int64_t pointer = container_.super().offset_size + count_width_ + levels_[d - 1].total_width;
      const int64_t records = std::max<int64_t>((node_size_ - 10 - pointer) / (record_size_ + pointer), 0);
      int64_t total;
      if (__builtin_mul_overflow(records + 1, levels_[d - 1].total, &total)) total = INT64_MAX - 65536;
      total = std::min(total, INT64_MAX - 65536) + records;
      levels_.push_back({encoded_width(total), total});
    }
  }

  void node(int64_t address, int64_t records, int depth) {
    const int64_t pointer =
        depth == 0 ? 0 : container_.super().offset_size + count_width_ + levels_[depth - 1].total_width;
    const int64_t used = 6 + records * record_size_ + (depth == 0 ? 0 : (records + 1) * pointer) + 4;
    limit_.spend(used, address);
    const Block block = container_.read_signed(address, used, depth == 0 ? "BTLF" : "BTIN", kNode);
    container_.check_sum(block, used, kNode);
    ByteReader in = block.reader();
    in.skip(5);
    if (in.u8() != type_) container_.corrupt(kNode, address, "is of another type than its tree");
    ByteReader children = block.reader();
    children.seek(6 + records * record_size_);
    for (int64_t i = 0; i <= records; ++i) {
      if (depth > 0) {
        const int64_t child = container_.take_address(children);
        const auto child_records = static_cast<int64_t>(children.uint(static_cast<int>(count_width_)));
        children.skip(levels_[depth - 1].total_width);
        node(child, child_records, depth - 1);
      }
      if (i < records) {
        const int64_t position = block.position + in.position();
        visit_(ByteReader(in.take(record_size_), position));
      }
    }
  }

  const Container& container_;
  WalkLimit limit_;
  const std::function<void(ByteReader)>& visit_;
  int type_ = 0;
  int64_t node_size_ = 0;
  int64_t record_size_ = 0;
  int64_t count_width_ = 1;
  std::vector<Level> levels_;
};

}  // namespace

void walk_btree2(const Container& container, int64_t address, std::initializer_list<int> types,
                 const std::function<void(ByteReader)>& visit) {
  TreeWalk(container, visit).walk(address, types);
}

}  // namespace lamella::array::hdf5
