#pragma once

#include <memory>

#include "array/array.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// The root group of an HDF5 file of any version, user block included. Groups and arrays keep the file open. Throws
// Corrupt when the file is cut or broken, Unsupported for what lies outside of docs/formats/hdf5.md; arrays and groups
// below throw when they are opened, so that one of them does not hide the others.
std::shared_ptr<const Group> open_file(std::shared_ptr<const store::ReadFile> file);

}  // namespace lamella::array::hdf5
