#pragma once

#include "base/buffer.h"
#include "base/dtype.h"

namespace lamella {

// Is there a conversion of elements: Bool, Int, UInt, Float to each other; all of these and Complex to Complex.
bool can_convert(const DType& from, const DType& to);

// Converts n elements as C's casts do: floats truncate towards zero, integers wrap, anything but zero is true. A float
// that its integer type cannot hold becomes the nearest that it can; not-a-number becomes 0. Either byte order. Not in
// place. Throws Unsupported when can_convert says no.
void convert_elements(const DType& from, const std::byte* in, const DType& to, std::byte* out, int64_t n);

// IEEE half precision, as float16 is stored. Rounds to nearest even.
float half_to_float(uint16_t half);
uint16_t float_to_half(float value);

}  // namespace lamella
