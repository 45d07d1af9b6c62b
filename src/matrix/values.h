#pragma once

#include <memory>
#include <vector>

#include "lazy/map.h"
#include "matrix/select.h"

// New matrices with other values at the same places, lazily.
namespace lamella::matrix {

SparsePtr cast(SparsePtr sparse, DType type);
Matrix cast(const Matrix& matrix, DType type);

Matrix transposed(const Matrix& matrix);

// Of a sparse matrix the stored values only. float32 and float64; adding to a sparse matrix is refused, and so is a
// Power that is not above zero.
Matrix map(const Matrix& matrix, lazy::Operation operation, double operand = 0);

// Row (axis 0) or column (axis 1) i times factors[i].
Matrix scale(const Matrix& matrix, size_t axis, std::shared_ptr<const std::vector<double>> factors);

}  // namespace lamella::matrix
