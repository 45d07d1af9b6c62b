#include "array/plain.h"

#include <algorithm>

namespace lamella::array {
namespace {

constexpr int64_t kScratch = int64_t{1} << 20;
constexpr int64_t kLongRun = int64_t{16} << 10;
constexpr size_t kMaxPieces = 512;

struct Request {
  const store::ReadFile& file;
  int64_t position;
  Shape strides;  // of the stored elements, bytes
  int64_t item_size;
};

int64_t offset_of(const Request& request, const Shape& at) {
  int64_t offset = request.position;
  for (size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * request.strides[axis];
  return offset;
}

// First axis from which the box covers the stored array wholly, so that one index of the axis before it is one run.
size_t run_axis(const Shape& shape, const Box& box) {
  size_t axis = shape.size();
  while (axis > 0 && box.shape[axis - 1] == shape[axis - 1]) --axis;
  return axis > 0 ? axis - 1 : 0;
}

// A box that is one run of the file, into whatever the view looks like.
void read_run(const Request& request, const Box& box, const View& to) {
  const int64_t bytes = count(box.shape) * request.item_size;
  const int64_t offset = offset_of(request, box.offset);
  if (is_c_contiguous(to.shape, to.strides, request.item_size)) {
    request.file.read_at(offset, {to.data, static_cast<size_t>(bytes)});
    return;
  }
  if (bytes > kScratch) {  // halve along the longest leading axis
    size_t axis = 0;
    while (box.shape[axis] == 1) ++axis;
    Box first = box, second = box;
    first.shape[axis] = box.shape[axis] / 2;
    second.offset[axis] += first.shape[axis];
    second.shape[axis] -= first.shape[axis];
    Box inside{Shape(box.rank(), 0), first.shape};
    read_run(request, first, to.sub(inside));
    inside.offset[axis] = first.shape[axis];
    inside.shape = second.shape;
    read_run(request, second, to.sub(inside));
    return;
  }
  const Buffer scratch = request.file.read(offset, bytes);
  copy_elements(to, ConstView::c_order(scratch.data(), box.shape, request.item_size), request.item_size);
}

// Runs with small gaps between: the whole span of several, then the elements are picked out of it.
void read_span(const Request& request, const Box& box, size_t outer, const View& to) {
  const int64_t stride = request.strides[outer];
  const int64_t step = std::max<int64_t>(1, kScratch / stride);
  for (int64_t begin = 0; begin < box.shape[outer]; begin += step) {
    Box part = box;
    part.offset[outer] += begin;
    part.shape[outer] = std::min(step, box.shape[outer] - begin);
    Shape last = part.offset;
    for (size_t axis = 0; axis < last.size(); ++axis) last[axis] += part.shape[axis] - 1;
    const int64_t from = offset_of(request, part.offset);
    const Buffer scratch = request.file.read(from, offset_of(request, last) + request.item_size - from);
    Box inside{Shape(box.rank(), 0), part.shape};
    inside.offset[outer] = begin;
    copy_elements(to.sub(inside), {scratch.data(), part.shape, request.strides}, request.item_size);
  }
}

// Runs that lie far apart, each into its place.
void read_scattered(const Request& request, const Box& box, size_t outer, const View& to) {
  const int64_t run_bytes = count(box.shape) / box.shape[outer] * request.item_size;
  Box row = box;
  row.shape[outer] = 1;
  View row_to = to;
  row_to.shape = row.shape;
  if (!is_c_contiguous(row_to.shape, row_to.strides, request.item_size)) {
    for (int64_t i = 0; i < box.shape[outer]; ++i) {
      row.offset[outer] = box.offset[outer] + i;
      row_to.data = to.data + i * to.strides[outer];
      read_run(request, row, row_to);
    }
    return;
  }
  std::vector<store::ReadFile::Piece> pieces;
  for (int64_t i = 0; i < box.shape[outer]; ++i) {
    row.offset[outer] = box.offset[outer] + i;
    pieces.push_back(
        {offset_of(request, row.offset), {to.data + i * to.strides[outer], static_cast<size_t>(run_bytes)}});
    if (pieces.size() == kMaxPieces || i + 1 == box.shape[outer]) {
      request.file.read_many(pieces);
      pieces.clear();
    }
  }
}

}  // namespace

void read_plain(const store::ReadFile& file, int64_t position, const Shape& shape, int64_t item_size, const Box& box,
                const View& to) {
  if (box.empty()) return;
  Request request{file, position, c_strides(shape), item_size};
  for (int64_t& stride : request.strides) stride *= item_size;
  const size_t run = run_axis(shape, box);
  if (run == 0) return read_run(request, box, to);

  // All axes before `outer` are walked one by one; along `outer` runs follow each other at a constant distance.
  const size_t outer = run - 1;
  int64_t run_bytes = item_size;
  for (size_t axis = run; axis < shape.size(); ++axis) run_bytes *= box.shape[axis];
  const int64_t stride = request.strides[outer];
  const bool dense = run_bytes < kLongRun && stride <= kScratch && (stride <= 16 * run_bytes || stride <= kLongRun);
  const Box walk{Shape(box.offset.begin(), box.offset.begin() + static_cast<std::ptrdiff_t>(outer)),
                 Shape(box.shape.begin(), box.shape.begin() + static_cast<std::ptrdiff_t>(outer))};
  Shape at = walk.offset;
  do {
    Box part = box;
    View part_to = to;
    for (size_t axis = 0; axis < outer; ++axis) {
      part.offset[axis] = at[axis];
      part.shape[axis] = 1;
      part_to.data += (at[axis] - box.offset[axis]) * to.strides[axis];
      part_to.shape[axis] = 1;
    }
    if (dense) {
      read_span(request, part, outer, part_to);
    } else {
      read_scattered(request, part, outer, part_to);
    }
  } while (next_index(at, walk));
}

}  // namespace lamella::array
