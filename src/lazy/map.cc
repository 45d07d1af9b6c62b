#include "lazy/map.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace lamella::lazy {
namespace {

// Passes everything on to the expression that it works on.
class Wrapper : public Expr {
 public:
  Wrapper(ExprPtr inner, Shape shape) : Expr(std::move(shape), inner->type()), inner_(std::move(inner)) {}
  Shape grain() const override { return inner_->grain(); }
  int64_t working_bytes() const override { return inner_->working_bytes(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }

 protected:
  ExprPtr inner_;
};

// Calls body(line, index) for each line of elements along the last axis; `index` is the position of its first element.
template <class Body>
void for_each_line(const View& view, const Body& body) {
  if (count(view.shape) == 0) return;
  Box lines = Box::whole(view.shape);
  if (!lines.shape.empty()) lines.shape.back() = 1;
  Shape index(view.shape.size(), 0);
  do {
    std::byte* line = view.data;
    for (size_t axis = 0; axis < index.size(); ++axis) line += index[axis] * view.strides[axis];
    body(line, index);
  } while (!index.empty() && next_index(index, lines));
}

template <class T, class F>
void apply(std::byte* line, int64_t n, int64_t stride, const F& f) {
  for (int64_t i = 0; i < n; ++i, line += stride) {
    T value;
    std::memcpy(&value, line, sizeof(T));
    value = f(value, i);
    std::memcpy(line, &value, sizeof(T));
  }
}

class ShiftExpr final : public Wrapper {
 public:
  ShiftExpr(ExprPtr inner, int64_t by) : Wrapper(inner, inner->shape()), by_(by) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    inner_->read(region, to, heap, threads);
    const int64_t n = to.shape.empty() ? 1 : to.shape.back(), stride = to.strides.empty() ? 0 : to.strides.back();
    for_each_line(to, [&](std::byte* line, const Shape&) {
      apply<int64_t>(line, n, stride, [&](int64_t value, int64_t) { return value + by_; });
    });
  }

 private:
  int64_t by_;
};

template <class T>
T compute(Operation operation, T value, T operand) {
  switch (operation) {
    case Operation::Add: return value + operand;
    case Operation::Multiply: return value * operand;
    case Operation::Power: return std::pow(value, operand);
    case Operation::Log1p: return std::log1p(value);
    case Operation::Expm1: return std::expm1(value);
    case Operation::Sqrt: return std::sqrt(value);
    case Operation::Abs: return std::abs(value);
  }
  return value;
}

void check_float(const Expr& expr) {
  const DType& type = expr.type();
  if (type.kind == TypeKind::Float && (type.size == 4 || type.size == 8) && !type.big_endian) return;
  throw Error(ErrorKind::Unsupported, "arithmetic on " + to_string(type) + "; cast to float32 or float64 first");
}

// With one operand for all, or one for each position along an axis.
class MapExpr final : public Wrapper {
 public:
  MapExpr(ExprPtr inner, Operation operation, double operand, size_t axis,
          std::shared_ptr<const std::vector<double>> operands)
      : Wrapper(inner, inner->shape()),
        operation_(operation),
        operand_(operand),
        axis_(axis),
        operands_(std::move(operands)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    inner_->read(region, to, heap, threads);
    // Rows are shared out; what lies below one is a loop.
    const int64_t rows = to.shape.empty() ? 1 : to.shape[0];
    const int64_t step = std::max<int64_t>(ceil_div(rows, 4 * threads.size()), 1);
    threads.parallel_for(ceil_div(rows, step), [&](int64_t i) {
      Box part = Box::whole(to.shape);
      if (!part.shape.empty()) {
        part.offset[0] = i * step;
        part.shape[0] = std::min(step, rows - i * step);
      }
      Shape origin = region.offset;
      if (!origin.empty()) origin[0] += i * step;
      if (type().size == 4) run<float>(to.sub(part), origin);
      else run<double>(to.sub(part), origin);
    });
  }

 private:
  template <class T>
  void run(const View& view, const Shape& origin) const {
    const int64_t n = view.shape.empty() ? 1 : view.shape.back(),
                  stride = view.strides.empty() ? 0 : view.strides.back();
    for_each_line(view, [&](std::byte* line, const Shape& index) {
      if (operands_ && axis_ + 1 == index.size()) {
        const double* operands = operands_->data() + origin[axis_];
        return apply<T>(line, n, stride,
                        [&](T value, int64_t i) { return compute(operation_, value, static_cast<T>(operands[i])); });
      }
      const double one = operands_ ? (*operands_)[static_cast<size_t>(origin[axis_] + index[axis_])] : operand_;
      apply<T>(line, n, stride, [&](T value, int64_t) { return compute(operation_, value, static_cast<T>(one)); });
    });
  }

  Operation operation_;
  double operand_;
  size_t axis_;
  std::shared_ptr<const std::vector<double>> operands_;
};

Shape reversed(Shape shape) {
  std::reverse(shape.begin(), shape.end());
  return shape;
}

class TransposeExpr final : public Wrapper {
 public:
  explicit TransposeExpr(ExprPtr inner) : Wrapper(inner, reversed(inner->shape())) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    inner_->read({reversed(region.offset), reversed(region.shape)},
                 View{to.data, reversed(to.shape), reversed(to.strides)}, heap, threads);
  }
  Shape grain() const override { return reversed(inner_->grain()); }
};

class RecordsExpr final : public Expr {
 public:
  RecordsExpr(std::vector<ExprPtr> fields, Shape shape, DType type)
      : Expr(std::move(shape), std::move(type)), fields_(std::move(fields)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    for (size_t f = 0; f < fields_.size(); ++f) {
      const Field& field = (*type().fields)[f];
      View part = to;
      part.data += field.offset;
      Box inner = region;
      const Shape strides = c_strides(field.shape);
      for (size_t axis = 0; axis < field.shape.size(); ++axis) {
        inner.offset.push_back(0);
        inner.shape.push_back(field.shape[axis]);
        part.shape.push_back(field.shape[axis]);
        part.strides.push_back(strides[axis] * field.type.size);
      }
      fields_[f]->read(inner, part, heap, threads);
    }
  }
  int64_t working_bytes() const override {
    int64_t most = 0;
    for (const ExprPtr& field : fields_) most = std::max(most, field->working_bytes());
    return most;
  }
  int64_t stored_bytes() const override { return fields_.front()->stored_bytes(); }

 private:
  std::vector<ExprPtr> fields_;
};

}  // namespace

ExprPtr shift(ExprPtr expr, int64_t by) {
  if (by == 0) return expr;
  if (expr->type() != DType::int_(8)) throw Error(ErrorKind::Bug, "only int64 can be shifted");
  return std::make_shared<ShiftExpr>(std::move(expr), by);
}

ExprPtr map(ExprPtr expr, Operation operation, double operand) {
  check_float(*expr);
  return std::make_shared<MapExpr>(std::move(expr), operation, operand, 0, nullptr);
}

ExprPtr broadcast(ExprPtr expr, Operation operation, size_t axis, std::shared_ptr<const std::vector<double>> operands) {
  check_float(*expr);
  if (axis >= expr->shape().size() || static_cast<int64_t>(operands->size()) != expr->shape()[axis])
    throw Error(ErrorKind::Invalid, std::to_string(operands->size()) + " operands for axis " + std::to_string(axis) +
                                        " of shape " + to_string(expr->shape()));
  return std::make_shared<MapExpr>(std::move(expr), operation, 0, axis, std::move(operands));
}

ExprPtr transpose(ExprPtr expr) {
  if (expr->shape().size() < 2) return expr;
  return std::make_shared<TransposeExpr>(std::move(expr));
}

// The shape is that of the fields that have the fewest axes; what a field has beyond that belongs to the record.
ExprPtr records(const std::vector<std::pair<std::string, ExprPtr>>& fields) {
  if (fields.empty()) throw Error(ErrorKind::Invalid, "records without fields");
  size_t rank = fields.front().second->shape().size();
  for (const auto& [name, field] : fields) rank = std::min(rank, field->shape().size());
  std::vector<Field> described;
  std::vector<ExprPtr> exprs;
  int64_t size = 0;
  for (const auto& [name, field] : fields) {
    const Shape& shape = field->shape();
    Field one{name, size, field->type(), Shape(shape.begin() + static_cast<std::ptrdiff_t>(rank), shape.end())};
    size += field->type().size * count(one.shape);
    described.push_back(std::move(one));
    exprs.push_back(field);
  }
  const Shape shape(exprs.front()->shape().begin(), exprs.front()->shape().begin() + static_cast<std::ptrdiff_t>(rank));
  return std::make_shared<RecordsExpr>(std::move(exprs), shape, DType::record(std::move(described), size));
}

}  // namespace lamella::lazy
