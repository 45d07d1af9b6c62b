#pragma once

#include "matrix/sparse.h"

namespace lamella::matrix {

// Reads the parts of a stored matrix with indices and indptr widened to int64, and checks what it reads. Thread-safe.
class EntryReader {
 public:
  // `name` for messages.
  EntryReader(SparseParts parts, int64_t minors, std::string name);

  // indptr[begin … end], end included. Throws Corrupt when it decreases, starts above zero or ends beyond the entries.
  std::vector<int64_t> indptr(int64_t begin, int64_t end, ThreadPool& threads) const;

  // indices[begin … end). Throws Corrupt when one is out of range.
  void indices(int64_t begin, int64_t end, int64_t* out, ThreadPool& threads) const;

  // data[begin … end), in the type of the data.
  void data(int64_t begin, int64_t end, std::byte* out, ThreadPool& threads) const;

 private:
  lazy::ExprPtr data_, indices_, indptr_;
  int64_t minors_;
  std::string name_;
};

}  // namespace lamella::matrix
