#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace lamella::codec {

// Castagnoli's CRC; by the processor's own instruction where there is one.
uint32_t crc32c(ConstBytes bytes);
// The same by tables: for processors without it, and to test against.
uint32_t crc32c_by_tables(ConstBytes bytes);

// HDF5's Fletcher-32: over big-endian 16-bit words, an odd last byte counting as the upper half of one.
uint32_t fletcher32(ConstBytes bytes);

}  // namespace lamella::codec
