#include "plan/block.h"

#include <algorithm>

namespace lamella::plan {
namespace {

constexpr int64_t kHandyBytes = int64_t{16} << 20;  // larger blocks gain nothing, unless they save reading twice

int64_t clipped(int64_t block, int64_t length) { return std::min(block, std::max<int64_t>(length, 1)); }

int64_t bytes_of(const BlockProblem& problem, const Shape& block) {
  int64_t bytes = problem.item_size;
  for (size_t axis = 0; axis < block.size(); ++axis)
    bytes = checked_mul(bytes, clipped(block[axis], problem.shape[axis]));
  return bytes;
}

// Source pieces touched along one axis, over the number of pieces there: 1 when blocks end where pieces end.
double passes_along(int64_t length, int64_t block, int64_t grain) {
  if (length <= 0 || grain <= 0) return 1;
  const int64_t pieces = ceil_div(length, grain);
  if (block >= length) return 1;
  if (block % grain == 0) return 1;
  const int64_t blocks = ceil_div(length, block);
  if (blocks > 100000)
    return static_cast<double>(blocks) * (1.0 + static_cast<double>(block - 1) / static_cast<double>(grain)) /
           static_cast<double>(pieces);
  int64_t touched = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t end = std::min(length, (b + 1) * block);
    touched += (end - 1) / grain - (b * block) / grain + 1;
  }
  return static_cast<double>(touched) / static_cast<double>(pieces);
}

double passes_of(const BlockProblem& problem, const Shape& block) {
  if (problem.grain.empty()) return 1;
  double passes = 1;
  for (size_t axis = 0; axis < block.size(); ++axis) {
    passes *= passes_along(problem.shape[axis], block[axis], problem.grain[axis]);
  }
  return passes;
}

int64_t most_along(const BlockProblem& problem, size_t axis) {
  const int64_t whole = round_up(std::max<int64_t>(problem.shape[axis], 1), problem.unit[axis]);
  return problem.limit.empty() ? whole : std::min(whole, problem.limit[axis]);
}

// A block along `axis` grown by one step: doubled, or to the next end of a source piece when that is near, or to the
// whole.
int64_t grown(const BlockProblem& problem, const Shape& block, size_t axis) {
  const int64_t most = most_along(problem, axis);
  int64_t next = std::min(most, block[axis] * 2);
  if (!problem.grain.empty()) {
    const int64_t grain = problem.grain[axis];
    if (block[axis] < grain && grain <= next * 2) next = std::min(most, round_up(grain, problem.unit[axis]));
  }
  return next;
}

bool may_grow(const BlockProblem& problem, const Shape& block, size_t axis) {
  if (block[axis] >= most_along(problem, axis)) return false;
  if (!problem.runs_only) return true;
  for (size_t later = axis + 1; later < block.size(); ++later) {
    if (block[later] < problem.shape[later]) return false;
  }
  return true;
}

}  // namespace

Shape choose_tile(const BlockProblem& problem, const BlockChoice& choice) {
  // The same problem seen from the other side: the largest pieces of the source that meet few of the blocks.
  BlockProblem mirrored = problem;
  mirrored.unit = problem.grain;
  mirrored.grain = choice.block;
  mirrored.limit = {};
  mirrored.runs_only = false;
  Shape tile = choose_block(mirrored).block;
  for (size_t axis = 0; axis < tile.size(); ++axis)
    tile[axis] = clipped(std::min(tile[axis], choice.block[axis]), problem.shape[axis]);
  return tile;
}

BlockChoice choose_block(const BlockProblem& problem) {
  BlockChoice choice;
  choice.block = problem.unit;
  choice.fits = bytes_of(problem, choice.block) <= problem.memory;
  choice.passes = passes_of(problem, choice.block);
  for (;;) {
    // The step that saves most reading; when none saves any, the last axis, as long as the block is small.
    Shape best;
    double best_passes = choice.passes;
    const bool small = bytes_of(problem, choice.block) < std::min(kHandyBytes, problem.memory / 2);
    for (size_t axis = choice.block.size(); axis-- > 0;) {
      if (!may_grow(problem, choice.block, axis)) continue;
      Shape next = choice.block;
      next[axis] = grown(problem, choice.block, axis);
      if (bytes_of(problem, next) > problem.memory) continue;
      const double passes = passes_of(problem, next);
      if (passes < best_passes - 1e-9 || (best.empty() && small && passes <= choice.passes + 1e-9)) {
        best = next;
        best_passes = std::min(passes, best_passes);
      }
    }
    if (best.empty()) break;
    choice.block = best;
    choice.passes = passes_of(problem, best);
    if (choice.passes <= 1.02 && !small) break;
  }
  choice.bytes = bytes_of(problem, choice.block);
  choice.blocks = Grid{problem.shape, choice.block}.size();
  return choice;
}

}  // namespace lamella::plan
