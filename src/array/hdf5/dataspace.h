#pragma once

#include "array/hdf5/container.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {

struct Dataspace {
  Shape shape;
  Shape max_shape;  // -1 unlimited; empty: as `shape`
  bool null = false;
};

Dataspace parse_dataspace(const Container& container, ByteReader in);

}  // namespace lamella::array::hdf5
