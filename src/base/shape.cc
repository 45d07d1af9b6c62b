#include "base/shape.h"

#include <algorithm>

#include "base/error.h"

namespace lamella {

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(ErrorKind::Corrupt, "size overflows 64 bits: " + std::to_string(a) + " * " + std::to_string(b));
  }
  return product;
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ErrorKind::Corrupt, "size overflows 64 bits: " + std::to_string(a) + " + " + std::to_string(b));
  }
  return sum;
}

int64_t count(const Shape& shape) {
  // A zero anywhere makes the product zero even if the other lengths alone would overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t product = 1;
  for (int64_t length : shape) product = checked_mul(product, length);
  return product;
}

Shape c_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step = checked_mul(step, std::max<int64_t>(shape[axis], 1));
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool Box::empty() const {
  return std::any_of(shape.begin(), shape.end(), [](int64_t length) { return length <= 0; });
}

namespace {

// The end of a chunk that hangs over may lie beyond what 64 bits hold; no array reaches that far.
int64_t end_of(const Box& box, size_t axis) {
  int64_t end;
  return __builtin_add_overflow(box.offset[axis], box.shape[axis], &end) ? INT64_MAX : end;
}

}  // namespace

Box intersect(const Box& a, const Box& b) {
  Box out{Shape(a.rank()), Shape(a.rank())};
  for (size_t axis = 0; axis < a.rank(); ++axis) {
    const int64_t begin = std::max(a.offset[axis], b.offset[axis]);
    const int64_t end = std::min(end_of(a, axis), end_of(b, axis));
    out.offset[axis] = begin;
    out.shape[axis] = std::max<int64_t>(end - begin, 0);
  }
  return out;
}

bool contains(const Box& outer, const Box& inner) {
  for (size_t axis = 0; axis < outer.rank(); ++axis) {
    if (inner.offset[axis] < outer.offset[axis]) return false;
    if (end_of(inner, axis) > end_of(outer, axis)) return false;
  }
  return true;
}

std::string to_string(const Box& box) {
  std::string text = "[";
  for (size_t axis = 0; axis < box.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(box.offset[axis]) + ":" + std::to_string(box.offset[axis] + box.shape[axis]);
  }
  return text + "]";
}

Shape Grid::counts() const {
  Shape out(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) out[axis] = ceil_div(shape[axis], chunk[axis]);
  return out;
}

int64_t Grid::size() const { return count(counts()); }

Box Grid::full_box(const Shape& index) const {
  Box out{Shape(index.size()), chunk};
  for (size_t axis = 0; axis < index.size(); ++axis) out.offset[axis] = index[axis] * chunk[axis];
  return out;
}

Box Grid::box(const Shape& index) const { return intersect(full_box(index), Box::whole(shape)); }

Box Grid::cover(const Box& region) const {
  Box out{Shape(region.rank()), Shape(region.rank())};
  for (size_t axis = 0; axis < region.rank(); ++axis) {
    const int64_t end = region.offset[axis] + region.shape[axis];
    out.offset[axis] = region.offset[axis] / chunk[axis];
    out.shape[axis] = region.shape[axis] <= 0 ? 0 : ceil_div(end, chunk[axis]) - out.offset[axis];
  }
  return out;
}

int64_t Grid::linear(const Shape& index) const {
  int64_t out = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) out = out * ceil_div(shape[axis], chunk[axis]) + index[axis];
  return out;
}

Shape Grid::index(int64_t linear) const {
  const Shape sizes = counts();
  Shape out(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    out[axis] = linear % sizes[axis];
    linear /= sizes[axis];
  }
  return out;
}

bool next_index(Shape& index, const Box& box) {
  for (size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < box.offset[axis] + box.shape[axis]) return true;
    index[axis] = box.offset[axis];
  }
  return false;
}

}  // namespace lamella
