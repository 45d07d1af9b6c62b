#include "array/hdf5/dataspace.h"

namespace lamella::array::hdf5 {

Dataspace parse_dataspace(const Container& container, ByteReader in) {
  Dataspace space;
  const int version = in.u8();
  const int rank = in.u8();
  const int flags = in.u8();
  if (version == 1) {
    in.skip(5);
  } else if (version == 2) {
    const int type = in.u8();
    space.null = type == 2;
    if (type > 2) in.fail("dataspace type 0 to 2, not " + std::to_string(type) + ",");
  } else {
    in.fail("dataspace version 1 or 2, not " + std::to_string(version) + ",");
  }
  if (rank > 32) in.fail("rank up to 32, not " + std::to_string(rank) + ",");
  for (int axis = 0; axis < rank; ++axis) space.shape.push_back(container.take_length(in));
  if (flags & 1) {
    const int width = container.super().length_size;
    const uint64_t unlimited = width == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width)) - 1;
    for (int axis = 0; axis < rank; ++axis) {
      const uint64_t most = in.uint(width);
      if (most != unlimited && most > INT64_MAX) in.fail("a largest length below 2^63");
      space.max_shape.push_back(most == unlimited ? -1 : static_cast<int64_t>(most));
    }
    if (space.max_shape == space.shape) space.max_shape.clear();
  }
  count(space.shape);  // throws when it overflows
  return space;
}

}  // namespace lamella::array::hdf5
