#pragma once

#include <optional>

#include "base/dtype.h"

namespace lamella {

// The type that holds the elements of both, by numpy's rules (numpy.result_type): u8 and i8 of 64 bits give float64,
// int64 and float32 too, bool gives way to all. Numbers only, native byte order in the result; nothing where the two
// have no common type.
std::optional<DType> promote(const DType& a, const DType& b);

}  // namespace lamella
