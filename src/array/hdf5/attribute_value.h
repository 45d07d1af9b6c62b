#pragma once

#include "array/attributes.h"
#include "array/hdf5/dataspace.h"
#include "array/hdf5/datatype.h"

namespace lamella::array::hdf5 {

// Stored elements as JSON. Records become objects by field name, opaque bytes a string of one character U+00XX a byte,
// sequences lists (without a type, as no DType says them), references the path of what they refer to, "" for nothing.
Attribute make_attribute(const Container& container, const Datatype& datatype, const Dataspace& space,
                         ConstBytes stored);

}  // namespace lamella::array::hdf5
