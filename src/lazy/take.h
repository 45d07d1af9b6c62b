#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "lazy/expr.h"

namespace lamella::lazy {

// Positions along one axis in the order in which they are wanted: a slice with any step but 0 (negative: backwards), or
// a list with any order and duplicates. All lie inside the axis.
struct Stride {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
class Picks {
 public:
  Picks(Stride stride) : picks_(stride) {}                       // NOLINT: either converts
  Picks(std::vector<int64_t> list) : picks_(std::move(list)) {}  // NOLINT

  int64_t count() const;
  int64_t operator[](int64_t i) const;
  bool is_run() const;  // ascending by one
  Picks part(int64_t offset, int64_t count) const;

  // Throws Invalid unless all positions lie in [0, length).
  void check(int64_t length, int axis) const;

 private:
  std::variant<Stride, std::vector<int64_t>> picks_;
};

// Reads the outer product of the picks, one entry an axis, into `to`, whose shape is the counts. Each grain of `expr`
// (chunk of its source) is read once, however the picks lie; the grains are shared out over `threads`. Beside the
// destination it takes at most one grain a thread.
void read_picks(const Expr& expr, const std::vector<Picks>& picks, const View& to, Heap& heap, ThreadPool& threads);

// The same as an expression.
ExprPtr take(ExprPtr expr, std::vector<Picks> picks);

}  // namespace lamella::lazy
