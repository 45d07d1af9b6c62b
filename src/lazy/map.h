#pragma once

#include <memory>
#include <vector>

#include "lazy/expr.h"

// Arithmetic on elements, done in the destination of the read: no memory of its own.
namespace lamella::lazy {

// int64 elements plus a number.
ExprPtr shift(ExprPtr expr, int64_t by);

enum class Operation { Add, Multiply, Power, Log1p, Expm1, Sqrt, Abs };

// Each element with `operand` (which Log1p and those after it do not look at). float32 and float64 only, computed in
// that type, as numpy does; cast first.
ExprPtr map(ExprPtr expr, Operation operation, double operand = 0);

// Adds to, or multiplies, each element with the one of `operands` that stands at its position along `axis`.
ExprPtr broadcast(ExprPtr expr, Operation operation, size_t axis, std::shared_ptr<const std::vector<double>> operands);

// Axes in the opposite order.
ExprPtr transpose(ExprPtr expr);

// One array of records of many arrays of equal shape: the fields, packed.
ExprPtr records(const std::vector<std::pair<std::string, ExprPtr>>& fields);

}  // namespace lamella::lazy
