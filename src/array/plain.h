#pragma once

#include "base/strided.h"
#include "store/file.h"

namespace lamella::array {

// Reads the part `box` of elements that lie row-major, undecoded, at `position` of `file`: an array of shape `shape`.
// Long runs go straight into `to`; short ones with small gaps are read together and picked. Scratch stays under 2 MiB.
void read_plain(const store::ReadFile& file, int64_t position, const Shape& shape, int64_t item_size, const Box& box,
                const View& to);

}  // namespace lamella::array
