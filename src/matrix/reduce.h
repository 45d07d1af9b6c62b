#pragma once

#include <string>
#include <vector>

#include "matrix/matrix.h"

namespace lamella::matrix {

enum class Reduction { Sum, SumOfSquares, Max, Min, CountNonzero };
Reduction parse_reduction(const std::string& name);  // "sum", "sum_of_squares", "max", "min", "count_nonzero"

// Along axis 0 (a number for each column) or 1 (for each row), in float64, in one pass over the matrix. Max and Min
// pass not-a-number on, and give it for an axis of length 0.
std::vector<double> reduce(const Matrix& matrix, Reduction reduction, size_t axis, const Reading& reading);

}  // namespace lamella::matrix
