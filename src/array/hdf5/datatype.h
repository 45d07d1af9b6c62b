#pragma once

#include <memory>

#include "array/hdf5/container.h"
#include "base/dtype.h"

namespace lamella::array::hdf5 {

// A datatype message in Lamella's terms.
struct Datatype {
  DType type;
  Shape shape;  // of an array datatype at the top
  // A variable-length sequence of something that is not one byte: only attributes can show it. `type` is VlenBytes
  // then.
  std::shared_ptr<const Datatype> sequence_of;
};

// Throws Unsupported by name for what DType cannot say.
Datatype parse_datatype(const Container& container, ByteReader& in);

}  // namespace lamella::array::hdf5
