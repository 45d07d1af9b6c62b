#include "matrix/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"
#include "base/vector.h"
#include "lazy/map.h"

namespace lamella::matrix {
namespace {

// The same places with other values.
class Revalued : public Sparse {
 public:
  Revalued(SparsePtr inner, DType type)
      : Sparse(inner->layout(), inner->shape(), std::move(type), inner->name()), inner_(std::move(inner)) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    inner_->visit(begin, end, with_data, reading, with_data ? changed(body) : body);
  }
  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    inner_->visit_share(share, shares, with_data, reading, with_data ? changed(body) : body);
  }
  bool scattered() const override { return inner_->scattered(); }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    return inner_->counts(begin, end, reading);
  }
  int64_t most_entries() const override { return inner_->most_entries(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }
  int64_t working_bytes() const override {
    return inner_->working_bytes() + std::min(int64_t{1} << 18, most_entries()) * type().size;
  }

 protected:
  virtual void change(const EntryBlock& block, std::byte* out) const = 0;
  SparsePtr inner_;

 private:
  Body changed(const Body& body) const {
    return [this, &body, values = Vector<std::byte>()](const EntryBlock& block) mutable {
      values.resize(static_cast<size_t>(block.n * type().size));
      change(block, values.data());
      body({block.n, block.major, block.minor, values.data()});
    };
  }
};

class Cast final : public Revalued {
 public:
  using Revalued::Revalued;
  std::optional<SparseParts> parts() const override {
    auto parts = inner_->parts();
    if (parts) parts->data = lazy::cast(parts->data, type());
    return parts;
  }

 private:
  void change(const EntryBlock& block, std::byte* out) const override {
    convert_elements(inner_->type(), block.data, type(), out, block.n);
  }
};

class Mapped final : public Revalued {
 public:
  Mapped(SparsePtr inner, lazy::Operation operation, double operand)
      : Revalued(inner, inner->type()), operation_(operation), operand_(operand) {}
  std::optional<SparseParts> parts() const override {
    auto parts = inner_->parts();
    if (parts) parts->data = lazy::map(parts->data, operation_, operand_);
    return parts;
  }

 private:
  void change(const EntryBlock& block, std::byte* out) const override {
    const auto values = lazy::map(lazy::in_memory({block.n}, type(), block.data, nullptr), operation_, operand_);
    Heap heap;
    ThreadPool alone(1);
    values->read(Box::whole({block.n}), View::c_order(out, {block.n}, type().size), heap, alone);
  }

  lazy::Operation operation_;
  double operand_;
};

class Scaled final : public Revalued {
 public:
  Scaled(SparsePtr inner, bool by_major, std::shared_ptr<const std::vector<double>> factors)
      : Revalued(inner, inner->type()), by_major_(by_major), factors_(std::move(factors)) {}

 private:
  void change(const EntryBlock& block, std::byte* out) const override {
    if (type().size == 4) scale<float>(block, out);
    else scale<double>(block, out);
  }
  template <class T>
  void scale(const EntryBlock& block, std::byte* out) const {
    const int64_t* at = by_major_ ? block.major : block.minor;
    for (int64_t i = 0; i < block.n; ++i) {
      T value;
      std::memcpy(&value, block.data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      value *= static_cast<T>((*factors_)[static_cast<size_t>(at[i])]);
      std::memcpy(out + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
  }

  bool by_major_;
  std::shared_ptr<const std::vector<double>> factors_;
};

void check_float(const DType& type) {
  if (type.kind == TypeKind::Float && (type.size == 4 || type.size == 8) && !type.big_endian) return;
  throw Error(ErrorKind::Unsupported, "arithmetic on " + to_string(type) + "; cast to float32 or float64 first");
}

}  // namespace

SparsePtr cast(SparsePtr sparse, DType type) {
  if (sparse->type() == type) return sparse;
  if (!can_convert(sparse->type(), type))
    throw Error(ErrorKind::Unsupported, "no cast from " + to_string(sparse->type()) + " to " + to_string(type));
  return std::make_shared<Cast>(std::move(sparse), std::move(type));
}

Matrix cast(const Matrix& matrix, DType type) {
  if (matrix.dense) return {lazy::cast(matrix.dense, std::move(type)), nullptr};
  return {nullptr, cast(matrix.sparse, std::move(type))};
}

Matrix transposed(const Matrix& matrix) {
  if (matrix.dense) return {lazy::transpose(matrix.dense), nullptr};
  return {nullptr, transposed(matrix.sparse)};
}

Matrix map(const Matrix& matrix, lazy::Operation operation, double operand) {
  if (matrix.dense) return {lazy::map(matrix.dense, operation, operand), nullptr};
  check_float(matrix.type());
  if (operation == lazy::Operation::Add && operand != 0)
    throw Error(ErrorKind::Unsupported, "adding to a sparse matrix would fill it; make it dense first");
  if (operation == lazy::Operation::Power && !(operand > 0))
    throw Error(ErrorKind::Unsupported, "such a power would turn the zeros of a sparse matrix into something else");
  return {nullptr, std::make_shared<Mapped>(matrix.sparse, operation, operand)};
}

Matrix scale(const Matrix& matrix, size_t axis, std::shared_ptr<const std::vector<double>> factors) {
  if (matrix.dense)
    return {lazy::broadcast(matrix.dense, lazy::Operation::Multiply, axis, std::move(factors)), nullptr};
  check_float(matrix.type());
  if (axis > 1 || static_cast<int64_t>(factors->size()) != matrix.shape()[axis])
    throw Error(ErrorKind::Invalid, std::to_string(factors->size()) + " factors for axis " + std::to_string(axis) +
                                        " of shape " + to_string(matrix.shape()));
  const bool by_major = (axis == 0) == (matrix.layout() == Layout::Csr);
  return {nullptr, std::make_shared<Scaled>(matrix.sparse, by_major, std::move(factors))};
}

}  // namespace lamella::matrix
