#pragma once

#include "matrix/matrix.h"

namespace lamella::matrix {

// A sparse matrix as a dense expression: absent entries are zero, several entries at one place are summed, as scipy's
// toarray does. Blocks of whole major slices are cheapest. Reads a rectangle with a few MiB beside the destination.
lazy::ExprPtr densify(SparsePtr sparse);

}  // namespace lamella::matrix
