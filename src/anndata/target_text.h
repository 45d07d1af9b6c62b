#pragma once

#include "array/sink.h"
#include "lazy/expr.h"
#include "matrix/matrix.h"

namespace lamella::anndata {

// In the target's byte order and text form: what the format cannot hold as it is, but can after a harmless cast.
// Records with strings are read whole for Zarr, where text has a fixed length.
lazy::ExprPtr for_target(lazy::ExprPtr values, array::SinkFormat target);
matrix::SparsePtr for_target(matrix::SparsePtr sparse, array::SinkFormat target);

}  // namespace lamella::anndata
