#pragma once

#include <memory>

#include "array/attributes.h"
#include "array/hdf5/object_header.h"

namespace lamella::array::hdf5 {

// All attributes of an object, values included: by name, or in order of creation when the object tracks it. One of a
// type that is not read has a fault instead, which begins with `place`, the object.
Attributes read_attributes(const Container& container, const ObjectHeader& header, const std::string& place);

}  // namespace lamella::array::hdf5
