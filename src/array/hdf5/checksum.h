#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace lamella::array::hdf5 {

// Bob Jenkins' lookup3 over bytes, start value 0: the checksum of every metadata structure since file format 1.8.
uint32_t lookup3(ConstBytes bytes);

}  // namespace lamella::array::hdf5
