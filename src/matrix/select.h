#pragma once

#include "lazy/take.h"
#include "matrix/matrix.h"

// New matrices from rows and columns of others, lazily.
namespace lamella::matrix {

// Positions along one axis of a result: where in the source each comes from, or -1 for what the source does not have.
using Positions = std::vector<int64_t>;

// The majors at these positions, in any order, with duplicates.
SparsePtr take_major(SparsePtr sparse, lazy::Picks picks);

// The minors at these positions; -1 leaves a minor without entries. Minors ascend within each major.
SparsePtr take_minor(SparsePtr sparse, const Positions& positions);

// The same entries with rows as columns: no work.
SparsePtr transposed(SparsePtr sparse);

// The same matrix by its other axis. Each visit() goes through all of it.
SparsePtr relaid(SparsePtr sparse);

// One below the other along the major axis, or side by side along the minor one. Equal layouts, types and lengths of
// the other axis.
SparsePtr stack_major(std::vector<SparsePtr> parts);
SparsePtr stack_minor(std::vector<SparsePtr> parts);

// Rows and columns of a matrix of either kind.
Matrix take(const Matrix& matrix, const lazy::Picks& rows, const lazy::Picks& columns);

}  // namespace lamella::matrix
