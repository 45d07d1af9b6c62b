#pragma once

#include "array/array.h"
#include "array/hdf5/writer/byte_writer.h"

namespace lamella::array::hdf5 {

// The bodies of header messages. All throw Unsupported for what HDF5 (or h5py, which everybody reads it with) has no
// form for.
void put_datatype(ByteWriter& out, const DType& type);
void put_dataspace(ByteWriter& out, const Shape& shape, const Shape& max_shape, bool null_space);
void put_fill_value(ByteWriter& out, const ArraySpec& spec);
void put_filters(ByteWriter& out, const ArraySpec& spec);
void put_contiguous_layout(ByteWriter& out, int64_t address, int64_t bytes);
void put_chunked_layout(ByteWriter& out, const ArraySpec& spec, int64_t tree);

}  // namespace lamella::array::hdf5
