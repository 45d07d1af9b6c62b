#pragma once

#include <cstddef>

#include "base/shape.h"

namespace lamella {

// A view of elements in memory; strides in bytes. Does not own.
template <class Byte>
struct StridedView {
  Byte* data = nullptr;
  Shape shape;
  Shape strides;

  static StridedView c_order(Byte* data, const Shape& shape, int64_t item_size) {
    StridedView view{data, shape, c_strides(shape)};
    for (int64_t& stride : view.strides) stride *= item_size;
    return view;
  }
  // The part that `box` (relative to this view) selects.
  StridedView sub(const Box& box) const {
    StridedView view{data, box.shape, strides};
    for (size_t axis = 0; axis < strides.size(); ++axis) view.data += box.offset[axis] * strides[axis];
    return view;
  }
};
using View = StridedView<std::byte>;
using ConstView = StridedView<const std::byte>;

inline ConstView read_only(const View& view) { return {view.data, view.shape, view.strides}; }

// True when the view is one run of bytes in row-major order.
bool is_c_contiguous(const Shape& shape, const Shape& strides, int64_t item_size);

// Copies element by element between two views of equal shape. The views must not overlap.
void copy_elements(const View& to, const ConstView& from, int64_t item_size);

// Writes one element everywhere.
void fill_elements(const View& to, const std::byte* element, int64_t item_size);

// True when each of `count` consecutive elements has the bytes of `element`.
bool all_equal(const std::byte* data, int64_t count, const std::byte* element, int64_t item_size);

}  // namespace lamella
