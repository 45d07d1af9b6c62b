#pragma once

#include <memory>
#include <string>

#include "lazy/expr.h"
#include "matrix/sparse.h"

namespace lamella::matrix {

// A 2-d matrix of either kind: exactly one of the two is set.
struct Matrix {
  lazy::ExprPtr dense;
  SparsePtr sparse;

  const Shape& shape() const { return sparse ? sparse->shape() : dense->shape(); }
  Layout layout() const { return sparse ? sparse->layout() : Layout::Dense; }
  const DType& type() const { return sparse ? sparse->type() : dense->type(); }
};

}  // namespace lamella::matrix
