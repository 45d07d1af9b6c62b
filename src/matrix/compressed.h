#pragma once

#include "matrix/sparse.h"

namespace lamella::matrix {

// The three arrays of a matrix in memory, as scipy wants them.
struct Compressed {
  Buffer data, indices, indptr;
  DType index_type;  // of indices and indptr
  int64_t nnz = 0;
};

// Reads all of it: straight into the arrays where the matrix is stored as such, else by way of its entries. Throws
// Corrupt where indices or indptr make no sense.
Compressed read_compressed(const Sparse& sparse, ThreadPool& threads);

}  // namespace lamella::matrix
