#include "lazy/take.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lamella::lazy {
namespace {

// One wanted position and where it goes.
struct Pair {
  int64_t from;
  int64_t to;
};

// The pairs of one axis that lie in one grain.
struct Segment {
  int64_t begin = 0;  // first position, and one past the last one
  int64_t end = 0;
  std::vector<Pair> pairs;  // by `from`
  bool is_run = false;      // neighbours go to neighbours: no scattering needed
};

bool neighbours(const std::vector<Pair>& pairs) {
  for (size_t i = 1; i < pairs.size(); ++i)
    if (pairs[i].from != pairs[i - 1].from + 1 || pairs[i].to != pairs[i - 1].to + 1) return false;
  return true;
}

// Cuts an axis where its picks pass from one grain to the next.
std::vector<Segment> segments(const Picks& picks, int64_t grain) {
  std::vector<Segment> out;
  const int64_t count = picks.count();
  std::vector<Pair> pairs(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) pairs[static_cast<size_t>(i)] = {picks[i], i};
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.from < b.from; });
  for (size_t i = 0; i < pairs.size();) {
    size_t end = i + 1;
    while (end < pairs.size() && pairs[end].from / grain == pairs[i].from / grain) ++end;
    Segment segment{pairs[i].from,
                    pairs[end - 1].from + 1,
                    {pairs.begin() + static_cast<ptrdiff_t>(i), pairs.begin() + static_cast<ptrdiff_t>(end)},
                    false};
    segment.is_run = neighbours(segment.pairs);
    out.push_back(std::move(segment));
    i = end;
  }
  return out;
}

// Where any region costs the same, pieces of about this size keep the scratch small and the reads worth their call.
constexpr int64_t kPieceBytes = int64_t{64} << 10;

Shape grain_of(const Expr& expr) {
  Shape grain = expr.grain();
  if (!grain.empty()) return grain;
  grain = expr.shape();
  int64_t left = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, expr.type().size));
  for (size_t axis = grain.size(); axis-- > 0;) {
    grain[axis] = std::clamp<int64_t>(grain[axis], 1, left);
    left = std::max<int64_t>(1, left / grain[axis]);
  }
  return grain;
}

template <int64_t kSize>
void scatter_line(std::byte* to, int64_t to_stride, const std::byte* from, const Segment& segment, int64_t size) {
  for (const Pair& pair : segment.pairs)
    std::memcpy(to + pair.to * to_stride, from + (pair.from - segment.begin) * (kSize ? kSize : size),
                kSize ? kSize : size);
}

// Copies the picked elements of a row-major block to where they belong.
void scatter(const View& to, const std::byte* block, const Shape& block_strides, const std::vector<const Segment*>& at,
             size_t axis, int64_t size) {
  const Segment& segment = *at[axis];
  if (axis + 1 < at.size()) {
    View inner = to;
    for (const Pair& pair : segment.pairs) {
      inner.data = to.data + pair.to * to.strides[axis];
      scatter(inner, block + (pair.from - segment.begin) * block_strides[axis], block_strides, at, axis + 1, size);
    }
    return;
  }
  const int64_t stride = to.strides[axis];
  if (segment.is_run && stride == size) {
    std::memcpy(to.data + segment.pairs.front().to * size, block, segment.pairs.size() * static_cast<size_t>(size));
    return;
  }
  switch (size) {
    case 1: return scatter_line<1>(to.data, stride, block, segment, size);
    case 2: return scatter_line<2>(to.data, stride, block, segment, size);
    case 4: return scatter_line<4>(to.data, stride, block, segment, size);
    case 8: return scatter_line<8>(to.data, stride, block, segment, size);
    case 16: return scatter_line<16>(to.data, stride, block, segment, size);
    default: return scatter_line<0>(to.data, stride, block, segment, size);
  }
}

void read_segments(const Expr& expr, const std::vector<const Segment*>& at, const View& to, Heap& heap,
                   ThreadPool& threads) {
  Box region;
  Box target;
  bool direct = true;
  for (const Segment* segment : at) {
    region.offset.push_back(segment->begin);
    region.shape.push_back(segment->end - segment->begin);
    target.offset.push_back(segment->pairs.front().to);
    direct &= segment->is_run;
  }
  target.shape = region.shape;
  if (direct) return expr.read(region, to.sub(target), heap, threads);
  const int64_t size = expr.type().size;
  Buffer block(checked_mul(count(region.shape), size));
  expr.read(region, View::c_order(block.data(), region.shape, size), heap, threads);
  Shape strides = c_strides(region.shape);
  for (int64_t& stride : strides) stride *= size;
  scatter(to, block.data(), strides, at, 0, size);
}

class Take final : public Expr {
 public:
  Take(ExprPtr expr, std::vector<Picks> picks, Shape shape)
      : Expr(std::move(shape), expr->type()), expr_(std::move(expr)), picks_(std::move(picks)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    std::vector<Picks> picks;
    for (size_t axis = 0; axis < picks_.size(); ++axis)
      picks.push_back(picks_[axis].part(region.offset[axis], region.shape[axis]));
    read_picks(*expr_, picks, to, heap, threads);
  }
  int64_t working_bytes() const override {
    return checked_add(expr_->working_bytes(), checked_mul(count(grain_of(*expr_)), type().size));
  }
  int64_t stored_bytes() const override { return expr_->stored_bytes(); }

 private:
  ExprPtr expr_;
  std::vector<Picks> picks_;
};

}  // namespace

int64_t Picks::count() const {
  if (const auto* stride = std::get_if<Stride>(&picks_)) return stride->count;
  return static_cast<int64_t>(std::get<1>(picks_).size());
}

int64_t Picks::operator[](int64_t i) const {
  if (const auto* stride = std::get_if<Stride>(&picks_)) return stride->start + i * stride->step;
  return std::get<1>(picks_)[static_cast<size_t>(i)];
}

bool Picks::is_run() const {
  if (const auto* stride = std::get_if<Stride>(&picks_)) return stride->step == 1 || stride->count <= 1;
  const auto& list = std::get<1>(picks_);
  return std::adjacent_find(list.begin(), list.end(), [](int64_t a, int64_t b) { return b != a + 1; }) == list.end();
}

Picks Picks::part(int64_t offset, int64_t count) const {
  if (const auto* stride = std::get_if<Stride>(&picks_))
    return Stride{stride->start + offset * stride->step, stride->step, count};
  const auto begin = std::get<1>(picks_).begin() + offset;
  return std::vector<int64_t>(begin, begin + count);
}

void Picks::check(int64_t length, int axis) const {
  const auto check_one = [&](int64_t position) {
    if (position < 0 || position >= length)
      throw Error(ErrorKind::Invalid, "position " + std::to_string(position) + " is outside of axis " +
                                          std::to_string(axis) + " of length " + std::to_string(length));
  };
  if (const auto* stride = std::get_if<Stride>(&picks_)) {
    if (stride->count < 0 || stride->step == 0) throw Error(ErrorKind::Invalid, "a slice needs a step and a count");
    if (stride->count == 0) return;
    check_one(stride->start);
    check_one(checked_add(stride->start, checked_mul(stride->count - 1, stride->step)));
    return;
  }
  for (int64_t position : std::get<1>(picks_)) check_one(position);
}

void read_picks(const Expr& expr, const std::vector<Picks>& picks, const View& to, Heap& heap, ThreadPool& threads) {
  if (picks.size() != expr.shape().size())
    throw Error(ErrorKind::Invalid,
                std::to_string(picks.size()) + " selections for " + std::to_string(expr.shape().size()) + " axes");
  bool all_runs = true;
  Box region;
  for (size_t axis = 0; axis < picks.size(); ++axis) {
    picks[axis].check(expr.shape()[axis], static_cast<int>(axis));
    if (picks[axis].count() == 0) return;
    all_runs &= picks[axis].is_run();
    region.offset.push_back(picks[axis][0]);
    region.shape.push_back(picks[axis].count());
  }
  if (all_runs) return expr.read(region, to, heap, threads);

  const Shape grain = grain_of(expr);
  std::vector<std::vector<Segment>> cut;
  Shape counts;
  for (size_t axis = 0; axis < picks.size(); ++axis) {
    cut.push_back(segments(picks[axis], grain[axis]));
    counts.push_back(static_cast<int64_t>(cut.back().size()));
  }
  const Grid grid{counts, Shape(counts.size(), 1)};
  threads.parallel_for(grid.size(), [&](int64_t number) {
    const Shape index = grid.index(number);
    std::vector<const Segment*> at;
    for (size_t axis = 0; axis < cut.size(); ++axis) at.push_back(&cut[axis][static_cast<size_t>(index[axis])]);
    read_segments(expr, at, to, heap, threads);
  });
}

ExprPtr take(ExprPtr expr, std::vector<Picks> picks) {
  if (picks.size() != expr->shape().size())
    throw Error(ErrorKind::Invalid,
                std::to_string(picks.size()) + " selections for " + std::to_string(expr->shape().size()) + " axes");
  Shape shape;
  for (size_t axis = 0; axis < picks.size(); ++axis) {
    picks[axis].check(expr->shape()[axis], static_cast<int>(axis));
    shape.push_back(picks[axis].count());
  }
  return std::make_shared<Take>(std::move(expr), std::move(picks), std::move(shape));
}

}  // namespace lamella::lazy
