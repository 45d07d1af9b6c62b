#pragma once

#include <memory>
#include <string>

#include "array/sink.h"

namespace lamella::array::hdf5 {

// Writes an HDF5 file in the oldest form of the format that holds what is asked for (superblock 0, symbol-table groups,
// version 1 headers and B-trees): every HDF5 since 1.8 reads it. Chunks and strings are appended as they come, all
// metadata follow at the commit, the superblock last: before that the file is no HDF5.
std::unique_ptr<Sink> create_hdf5_sink(const std::string& path, bool resume, bool durable = true);

}  // namespace lamella::array::hdf5
