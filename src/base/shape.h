#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lamella {

// Lengths (or positions) along the axes of an array. Rank 0 is a scalar.
using Shape = std::vector<int64_t>;

// Product, sum and ceiling division that throw Corrupt instead of overflowing: sizes come from files.
int64_t checked_mul(int64_t a, int64_t b);
int64_t checked_add(int64_t a, int64_t b);
inline int64_t ceil_div(int64_t a, int64_t b) { return a <= 0 ? 0 : (a - 1) / b + 1; }
inline int64_t round_up(int64_t a, int64_t b) { return checked_mul(ceil_div(a, b), b); }

// Number of elements of a shape; 1 for rank 0.
int64_t count(const Shape& shape);

// Row-major strides in elements.
Shape c_strides(const Shape& shape);

std::string to_string(const Shape& shape);  // "(3, 4)"

// A half-open region of an array: [offset, offset + shape) along each axis.
struct Box {
  Shape offset;
  Shape shape;

  static Box whole(const Shape& shape) { return {Shape(shape.size(), 0), shape}; }
  size_t rank() const { return shape.size(); }
  bool empty() const;
  bool operator==(const Box&) const = default;
};

Box intersect(const Box& a, const Box& b);  // empty (zero lengths) when disjoint
bool contains(const Box& outer, const Box& inner);
std::string to_string(const Box& box);  // "[0:3, 2:4]"

// A regular grid of chunks over an array; edge chunks hang over. A length-0 axis has no chunks.
struct Grid {
  Shape shape;
  Shape chunk;

  Shape counts() const;                      // chunks along each axis
  int64_t size() const;                      // chunks in all
  Box box(const Shape& index) const;         // region of a chunk, clipped to the array
  Box full_box(const Shape& index) const;    // the same, not clipped
  Box cover(const Box& region) const;        // chunk indices touched by a region, as a box of indices
  int64_t linear(const Shape& index) const;  // row-major number of a chunk
  Shape index(int64_t linear) const;
};

// Advances `index` in row-major order within `box`; false after the last one. Start from box.offset.
bool next_index(Shape& index, const Box& box);

}  // namespace lamella
