#include "array/hdf5/chunk_index.h"

#include <algorithm>
#include <cstring>

#include "array/hdf5/btree_v1.h"
#include "array/hdf5/btree_v2.h"
#include "array/hdf5/extensible_array.h"
#include "array/hdf5/fixed_array.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kWhat = "chunk index";

// Arrays and implicit indexes number the chunks of the largest shape, the unlimited axis (if any) being the slowest.
class Numbering {
 public:
  Numbering(const Grid& grid, const Shape& max_shape) : counts_(grid.counts()) {
    const size_t rank = counts_.size();
    most_ = counts_;
    for (size_t axis = 0; axis < max_shape.size(); ++axis) {
      if (max_shape[axis] < 0) {
        unlimited_ = axis;
      } else {
        most_[axis] = ceil_div(max_shape[axis], grid.chunk[axis]);
      }
    }
    order_.push_back(unlimited_);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (axis != unlimited_) order_.push_back(axis);
    }
  }

  // Index in the grid of the chunk with this number in the file; false when it lies outside.
  bool to_index(int64_t number, Shape& index) const {
    for (size_t i = order_.size(); i-- > 0;) {
      const size_t axis = order_[i];
      if (i > 0) {
        if (most_[axis] == 0) return false;
        index[axis] = number % most_[axis];
        number /= most_[axis];
      } else {
        index[axis] = number;
      }
    }
    for (size_t axis = 0; axis < index.size(); ++axis) {
      if (index[axis] >= counts_[axis]) return false;
    }
    return true;
  }

 private:
  Shape counts_, most_;
  size_t unlimited_ = 0;
  std::vector<size_t> order_;
};

}  // namespace

ChunkIndex::ChunkIndex(const Container& container, const Layout& layout, const Shape& shape, const Shape& max_shape,
                       int64_t chunk_bytes, bool filtered)
    : grid_{shape, layout.chunk} {
  const int64_t chunks = grid_.size();
  if (layout.address == kUndefined || chunks == 0) return;
  // A chunk takes at least some bytes of the file; a grid of far more chunks is mostly holes.
  dense_ = chunks <= std::max<int64_t>(4096, container.size() / 64);
  if (dense_) places_.resize(static_cast<size_t>(chunks));
  switch (layout.index) {
    case IndexKind::BTree1: add_tree1(container, layout); break;
    case IndexKind::BTree2: add_tree2(container, layout, chunk_bytes, filtered); break;
    case IndexKind::Single:
      add(0, {layout.address, layout.single_filtered ? layout.single_size : chunk_bytes, layout.single_mask});
      break;
    case IndexKind::Implicit: add_implicit(container, layout, max_shape, chunk_bytes); break;
    case IndexKind::FixedArray:
    case IndexKind::ExtensibleArray: add_arrays(container, layout, max_shape, chunk_bytes); break;
  }
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [](const Numbered& a, const Numbered& b) { return a.chunk < b.chunk; });
}

void ChunkIndex::add(int64_t chunk, const ChunkPlace& place) {
  if (place.address == kUndefined) return;
  ++stored_chunks_;
  stored_bytes_ = checked_add(stored_bytes_, place.size);
  if (dense_) {
    places_[static_cast<size_t>(chunk)] = place;
  } else {
    sorted_.push_back({chunk, place});
  }
}

ChunkPlace ChunkIndex::find(int64_t chunk) const {
  if (dense_) return places_[static_cast<size_t>(chunk)];
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), chunk,
                                      [](const Numbered& a, int64_t number) { return a.chunk < number; });
  return found == sorted_.end() || found->chunk != chunk ? ChunkPlace{} : found->place;
}

void ChunkIndex::add_tree1(const Container& container, const Layout& layout) {
  const size_t rank = grid_.shape.size();
  const Shape counts = grid_.counts();
  walk_chunk_tree(container, layout.address, static_cast<int>(rank), [&](const TreeChunk& chunk) {
    int64_t number = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      uint64_t offset;
      std::memcpy(&offset, chunk.offset + 8 * axis, 8);
      const auto length = static_cast<uint64_t>(grid_.chunk[axis]);
      if (offset % length != 0) container.corrupt(kWhat, layout.address, "a chunk does not lie on the grid");
      const uint64_t index = offset / length;
      if (index >= static_cast<uint64_t>(counts[axis])) return;  // left over from a larger shape
      number = number * counts[axis] + static_cast<int64_t>(index);
    }
    add(number, {chunk.address, chunk.size, chunk.mask});
  });
}

void ChunkIndex::add_tree2(const Container& container, const Layout& layout, int64_t chunk_bytes, bool filtered) {
  const size_t rank = grid_.shape.size();
  const Shape counts = grid_.counts();
  walk_btree2(container, layout.address, {filtered ? 11 : 10}, [&](ByteReader record) {
    ChunkPlace place;
    place.address = container.take_address(record);
    place.size = chunk_bytes;
    if (filtered) {
      const int64_t width = record.remaining() - 4 - 8 * static_cast<int64_t>(rank);
      if (width < 1 || width > 8) record.fail("a chunk size of 1 to 8 bytes");
      place.size = static_cast<int64_t>(record.uint(static_cast<int>(width)));
      place.mask = record.u32();
    }
    int64_t number = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      const uint64_t index = record.u64();
      if (index >= static_cast<uint64_t>(counts[axis])) return;
      number = number * counts[axis] + static_cast<int64_t>(index);
    }
    if (place.size < 0) record.fail("a chunk size below 2^63");
    add(number, place);
  });
}

void ChunkIndex::add_arrays(const Container& container, const Layout& layout, const Shape& max_shape,
                            int64_t chunk_bytes) {
  const Numbering numbering(grid_, max_shape);
  Shape index(grid_.shape.size());
  const auto visit = [&](int64_t number, const ArrayElement& element) {
    if (element.address == kUndefined || !numbering.to_index(number, index)) return;
    add(grid_.linear(index), {element.address, element.size < 0 ? chunk_bytes : element.size, element.mask});
  };
  if (layout.index == IndexKind::FixedArray) {
    walk_fixed_array(container, layout.address, visit);
  } else {
    walk_extensible_array(container, layout.address, visit);
  }
}

void ChunkIndex::add_implicit(const Container& container, const Layout& layout, const Shape& max_shape,
                              int64_t chunk_bytes) {
  // All chunks of the largest shape lie one behind the other.
  const Numbering numbering(grid_, max_shape);
  Shape index(grid_.shape.size());
  int64_t number = 0;
  const int64_t chunks = grid_.size();
  const int64_t most = container.size() / std::max<int64_t>(chunk_bytes, 1);
  for (int64_t found = 0; found < chunks && number <= most; ++number) {
    if (!numbering.to_index(number, index)) continue;
    add(grid_.linear(index), {checked_add(layout.address, checked_mul(number, chunk_bytes)), chunk_bytes, 0});
    ++found;
  }
}

}  // namespace lamella::array::hdf5
