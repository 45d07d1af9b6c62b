#include <algorithm>

#include "base/error.h"
#include "lazy/expr.h"

namespace lamella::lazy {
namespace {

class SliceExpr : public Expr {
 public:
  SliceExpr(ExprPtr inner, Box region)
      : Expr(region.shape, inner->type()), inner_(std::move(inner)), region_(std::move(region)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    Box part = region;
    for (size_t axis = 0; axis < part.rank(); ++axis) part.offset[axis] += region_.offset[axis];
    inner_->read(part, to, heap, threads);
  }
  Shape grain() const override { return inner_->grain(); }
  int64_t working_bytes() const override { return inner_->working_bytes(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }

 private:
  ExprPtr inner_;
  Box region_;
};

// Reads the run of elements that covers a region and picks: for what is small.
class ReshapeExpr : public Expr {
 public:
  ReshapeExpr(ExprPtr inner, Shape shape) : Expr(std::move(shape), inner->type()), inner_(std::move(inner)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool&) const override {
    if (count(region.shape) == 0) return;
    const Buffer all = inner_->read_all(heap);
    copy_elements(to, ConstView::c_order(all.data(), shape(), type().size).sub(region), type().size);
  }
  int64_t working_bytes() const override { return count(shape()) * type().size + inner_->working_bytes(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }

 private:
  ExprPtr inner_;
};

class FieldExpr : public Expr {
 public:
  FieldExpr(ExprPtr records, const Field& field, Shape shape)
      : Expr(std::move(shape), field.type), records_(std::move(records)), field_(field) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    const size_t rank = records_->shape().size();
    Box outer{Shape(region.offset.begin(), region.offset.begin() + static_cast<std::ptrdiff_t>(rank)),
              Shape(region.shape.begin(), region.shape.begin() + static_cast<std::ptrdiff_t>(rank))};
    const int64_t record = records_->type().size;
    Buffer raw(count(outer.shape) * record);
    View view = View::c_order(raw.data(), outer.shape, record);
    records_->read(outer, view, heap, threads);
    // The elements of the field lie `record` bytes apart, its own axes behind them.
    ConstView picked = read_only(view);
    picked.data += field_.offset;
    Shape inner = c_strides(field_.shape);
    for (size_t axis = 0; axis < inner.size(); ++axis) {
      picked.data += region.offset[rank + axis] * inner[axis] * field_.type.size;
      picked.shape.push_back(region.shape[rank + axis]);
      picked.strides.push_back(inner[axis] * field_.type.size);
    }
    copy_elements(to, picked, field_.type.size);
  }
  Shape grain() const override {
    Shape grain = records_->grain();
    if (!grain.empty()) grain.insert(grain.end(), field_.shape.begin(), field_.shape.end());
    return grain;
  }
  int64_t working_bytes() const override { return records_->working_bytes(); }
  int64_t stored_bytes() const override { return records_->stored_bytes(); }

 private:
  ExprPtr records_;
  Field field_;
};

}  // namespace

ExprPtr slice(ExprPtr expr, Box region) {
  if (!contains(Box::whole(expr->shape()), region)) {
    throw Error(ErrorKind::Invalid,
                "region " + to_string(region) + " lies outside of shape " + to_string(expr->shape()));
  }
  return std::make_shared<SliceExpr>(std::move(expr), std::move(region));
}

ExprPtr reshape(ExprPtr expr, Shape shape) {
  if (count(expr->shape()) != count(shape)) {
    throw Error(ErrorKind::Invalid,
                "shape " + to_string(shape) + " has another number of elements than " + to_string(expr->shape()));
  }
  return std::make_shared<ReshapeExpr>(std::move(expr), std::move(shape));
}

ExprPtr field(ExprPtr records, const std::string& name) {
  if (records->type().kind == TypeKind::Struct) {
    for (const Field& one : *records->type().fields) {
      if (one.name != name) continue;
      Shape shape = records->shape();
      shape.insert(shape.end(), one.shape.begin(), one.shape.end());
      return std::make_shared<FieldExpr>(std::move(records), one, std::move(shape));
    }
  }
  throw Error(ErrorKind::NotFound, "the records have no field '" + name + "'");
}

}  // namespace lamella::lazy
