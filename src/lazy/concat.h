#pragma once

#include "lazy/expr.h"

namespace lamella::lazy {

// The parts one behind the other along `axis`: equal types, equal shapes but for that axis. At least one part.
ExprPtr concat(std::vector<ExprPtr> parts, size_t axis);

}  // namespace lamella::lazy
