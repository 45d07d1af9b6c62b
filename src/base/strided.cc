#include "base/strided.h"

#include <algorithm>
#include <cstring>

#include "base/profile.h"

namespace lamella {
namespace {

// Axes of length one dropped and neighbours joined where both sides run on without a gap: fewer, longer loops.
struct Loops {
  Shape shape, to, from;
};

Loops simplify(const Shape& shape, const Shape& to, const Shape& from) {
  Loops out;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    if (!out.shape.empty() && out.to.back() == to[axis] * shape[axis] && out.from.back() == from[axis] * shape[axis]) {
      out.shape.back() *= shape[axis];
      out.to.back() = to[axis];
      out.from.back() = from[axis];
    } else {
      out.shape.push_back(shape[axis]);
      out.to.push_back(to[axis]);
      out.from.push_back(from[axis]);
    }
  }
  return out;
}

template <class T>
void copy_row(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T item;
    std::memcpy(&item, from + i * from_step, sizeof(T));
    std::memcpy(to + i * to_step, &item, sizeof(T));
  }
}

struct Wide {
  uint64_t a, b;
};

void copy_row(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n, int64_t item_size) {
  if (to_step == item_size && from_step == item_size) {
    std::memcpy(to, from, static_cast<size_t>(n * item_size));
    return;
  }
  switch (item_size) {
    case 1: return copy_row<uint8_t>(to, to_step, from, from_step, n);
    case 2: return copy_row<uint16_t>(to, to_step, from, from_step, n);
    case 4: return copy_row<uint32_t>(to, to_step, from, from_step, n);
    case 8: return copy_row<uint64_t>(to, to_step, from, from_step, n);
    case 16: return copy_row<Wide>(to, to_step, from, from_step, n);
    default:
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(item_size));
      }
  }
}

// N bytes at a time; the last N overlap those before. At least N bytes.
template <int64_t N>
void copy_pieces(std::byte* to, const std::byte* from, int64_t bytes) {
  for (int64_t at = 0; at + N < bytes; at += N) std::memcpy(to + at, from + at, N);
  std::memcpy(to + bytes - N, from + bytes - N, N);
}

// Runs of bytes at constant distances: short ones, as rows of chunks are, are done before a call has begun.
template <int64_t N>
void copy_short_runs(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n,
                     int64_t bytes) {
  for (int64_t i = 0; i < n; ++i) copy_pieces<N>(to + i * to_step, from + i * from_step, bytes);
}

void copy_runs(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n, int64_t bytes) {
  if (bytes >= 32 && bytes <= 512) return copy_short_runs<32>(to, to_step, from, from_step, n, bytes);
  if (bytes >= 8 && bytes < 32) return copy_short_runs<8>(to, to_step, from, from_step, n, bytes);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(bytes));
}

void copy_loops(const Loops& loops, size_t axis, std::byte* to, const std::byte* from, int64_t item_size) {
  if (axis + 2 == loops.shape.size() && loops.to.back() == item_size && loops.from.back() == item_size) {
    copy_runs(to, loops.to[axis], from, loops.from[axis], loops.shape[axis], loops.shape.back() * item_size);
    return;
  }
  if (axis + 1 == loops.shape.size()) {
    copy_row(to, loops.to[axis], from, loops.from[axis], loops.shape[axis], item_size);
    return;
  }
  for (int64_t i = 0; i < loops.shape[axis]; ++i) {
    copy_loops(loops, axis + 1, to + i * loops.to[axis], from + i * loops.from[axis], item_size);
  }
}

// A plane whose fast axes differ on the two sides (a transpose): in tiles, so that both stay in cache.
void copy_tiled(const Loops& loops, std::byte* to, const std::byte* from, int64_t item_size) {
  constexpr int64_t kTile = 32;
  const size_t rank = loops.shape.size();
  const size_t row = rank - 2, column = rank - 1;
  for (int64_t r = 0; r < loops.shape[row]; r += kTile) {
    const int64_t rows = std::min(kTile, loops.shape[row] - r);
    for (int64_t c = 0; c < loops.shape[column]; c += kTile) {
      const int64_t columns = std::min(kTile, loops.shape[column] - c);
      for (int64_t i = r; i < r + rows; ++i) {
        copy_row(to + i * loops.to[row] + c * loops.to[column], loops.to[column],
                 from + i * loops.from[row] + c * loops.from[column], loops.from[column], columns, item_size);
      }
    }
  }
}

void copy_outer(const Loops& loops, size_t axis, std::byte* to, const std::byte* from, int64_t item_size) {
  if (axis + 2 == loops.shape.size()) return copy_tiled(loops, to, from, item_size);
  for (int64_t i = 0; i < loops.shape[axis]; ++i) {
    copy_outer(loops, axis + 1, to + i * loops.to[axis], from + i * loops.from[axis], item_size);
  }
}

}  // namespace

bool is_c_contiguous(const Shape& shape, const Shape& strides, int64_t item_size) {
  int64_t step = item_size;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

void copy_elements(const View& to, const ConstView& from, int64_t item_size) {
  if (item_size == 0 || std::find(to.shape.begin(), to.shape.end(), 0) != to.shape.end()) return;
  const Timed timed(Stage::Transform, count(to.shape) * item_size);
  const Loops loops = simplify(to.shape, to.strides, from.strides);
  const size_t rank = loops.shape.size();
  if (rank == 0) {
    std::memcpy(to.data, from.data, static_cast<size_t>(item_size));
  } else if (rank >= 2 && loops.to[rank - 1] != item_size && loops.from[rank - 1] == item_size) {
    copy_outer(loops, 0, to.data, from.data, item_size);
  } else if (rank >= 2 && loops.to[rank - 1] == item_size && loops.from[rank - 1] != item_size) {
    copy_outer(loops, 0, to.data, from.data, item_size);
  } else {
    copy_loops(loops, 0, to.data, from.data, item_size);
  }
}

void fill_elements(const View& to, const std::byte* element, int64_t item_size) {
  if (item_size == 0) return;
  if (is_c_contiguous(to.shape, to.strides, item_size)) {
    const int64_t elements = count(to.shape);
    const bool uniform = std::all_of(element, element + item_size, [&](std::byte b) { return b == element[0]; });
    if (uniform) {
      if (elements > 0) std::memset(to.data, static_cast<int>(element[0]), static_cast<size_t>(elements * item_size));
      return;
    }
  }
  // Strides of zero on the source side repeat the element.
  copy_elements(to, {element, to.shape, Shape(to.shape.size(), 0)}, item_size);
}

bool all_equal(const std::byte* data, int64_t count, const std::byte* element, int64_t item_size) {
  if (count == 0) return true;
  const auto item = static_cast<size_t>(item_size);
  if (std::memcmp(data, element, item) != 0) return false;
  // Each byte then equals the one an element earlier.
  return std::memcmp(data, data + item, static_cast<size_t>(count - 1) * item) == 0;
}

}  // namespace lamella
