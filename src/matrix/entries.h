#pragma once

#include "lazy/expr.h"
#include "matrix/matrix.h"

namespace lamella::matrix {

// Reads parts of a sparse matrix with indices and indptr widened to int64, and checks what it reads. Thread-safe.
class EntryReader {
 public:
  explicit EntryReader(std::shared_ptr<const Sparse> sparse);

  const Sparse& sparse() const { return *sparse_; }

  // indptr[begin … end], end included. Throws Corrupt when it decreases, starts above zero or ends beyond the entries.
  std::vector<int64_t> indptr(int64_t begin, int64_t end, ThreadPool& threads) const;

  // indices[begin … end). Throws Corrupt when one is out of range.
  void indices(int64_t begin, int64_t end, int64_t* out, ThreadPool& threads) const;

  // data[begin … end), in the type of the data.
  void data(int64_t begin, int64_t end, std::byte* out, ThreadPool& threads) const;

 private:
  std::shared_ptr<const Sparse> sparse_;
  lazy::ExprPtr indices_, indptr_;
};

}  // namespace lamella::matrix
