#include "lazy/concat.h"

#include <algorithm>

#include "base/error.h"

namespace lamella::lazy {
namespace {

Shape joined_shape(const std::vector<ExprPtr>& parts, size_t axis) {
  if (parts.empty()) throw Error(ErrorKind::Bug, "no arrays to concatenate");
  Shape shape = parts.front()->shape();
  if (axis >= shape.size()) throw Error(ErrorKind::Invalid, "scalars cannot be concatenated");
  shape[axis] = 0;
  for (const ExprPtr& part : parts) {
    Shape rest = part->shape();
    const int64_t length = axis < rest.size() ? rest[axis] : 0;
    if (rest.size() == shape.size()) rest[axis] = shape[axis];
    if (rest != shape || part->type() != parts.front()->type()) {
      throw Error(ErrorKind::Invalid, "arrays of " + to_string(part->type()) + " " + to_string(part->shape()) +
                                          " and " + to_string(parts.front()->type()) + " " +
                                          to_string(parts.front()->shape()) + " cannot be concatenated along axis " +
                                          std::to_string(axis));
    }
    shape[axis] = checked_add(shape[axis], length);
  }
  return shape;
}

class ConcatExpr final : public Expr {
 public:
  ConcatExpr(std::vector<ExprPtr> parts, size_t axis)
      : Expr(joined_shape(parts, axis), parts.front()->type()), parts_(std::move(parts)), axis_(axis) {
    offsets_.push_back(0);
    for (const ExprPtr& part : parts_) offsets_.push_back(offsets_.back() + part->shape()[axis_]);
  }

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    if (region.empty()) return;
    const int64_t begin = region.offset[axis_], end = begin + region.shape[axis_];
    const auto first = std::upper_bound(offsets_.begin(), offsets_.end(), begin) - offsets_.begin() - 1;
    const auto last = std::lower_bound(offsets_.begin(), offsets_.end(), end) - offsets_.begin();
    threads.parallel_for(last - first, [&](int64_t i) {
      const auto p = static_cast<size_t>(first + i);
      const int64_t from = std::max(begin, offsets_[p]), till = std::min(end, offsets_[p + 1]);
      if (from >= till) return;
      Box part = region, inside{Shape(region.rank(), 0), region.shape};
      part.offset[axis_] = from - offsets_[p];
      inside.offset[axis_] = from - begin;
      part.shape[axis_] = inside.shape[axis_] = till - from;
      parts_[p]->read(part, to.sub(inside), heap, threads);
    });
  }

  // Of the largest part: where parts differ, blocks that suit one cut through chunks of another.
  Shape grain() const override {
    const auto largest = std::max_element(parts_.begin(), parts_.end(), [](const ExprPtr& a, const ExprPtr& b) {
      return count(a->shape()) < count(b->shape());
    });
    return (*largest)->grain();
  }
  int64_t working_bytes() const override {
    int64_t most = 0;
    for (const ExprPtr& part : parts_) most = std::max(most, part->working_bytes());
    return most;
  }
  int64_t stored_bytes() const override {
    int64_t sum = 0;
    for (const ExprPtr& part : parts_) sum += part->stored_bytes();
    return sum;
  }

 private:
  std::vector<ExprPtr> parts_;
  size_t axis_;
  std::vector<int64_t> offsets_;
};

}  // namespace

ExprPtr concat(std::vector<ExprPtr> parts, size_t axis) {
  if (parts.size() == 1) return parts.front();
  return std::make_shared<ConcatExpr>(std::move(parts), axis);
}

}  // namespace lamella::lazy
