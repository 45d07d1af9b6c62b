#pragma once

#include "matrix/sparse.h"

namespace lamella::matrix {

// Shares into which a matrix is cut so that threads have work to the end.
int64_t share_count(const Sparse& sparse, const ThreadPool& threads);

// Threads that can visit a matrix side by side within `memory`: at least one.
int64_t visitors(const Sparse& sparse, const ThreadPool& threads, int64_t memory);

// The entries [begin, end) of the matrix in the order of visit(), several threads at a time: minors as integers of
// `index_size` bytes, values. `indptr` counts the entries of all majors. Throws Corrupt when there are others.
void read_run(const Sparse& sparse, const std::vector<int64_t>& indptr, int64_t begin, int64_t end, int64_t index_size,
              std::byte* indices, std::byte* data, const Reading& reading);

}  // namespace lamella::matrix
