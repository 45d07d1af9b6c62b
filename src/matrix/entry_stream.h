#pragma once

#include <functional>
#include <memory>

#include "matrix/matrix.h"

namespace lamella::matrix {

// Entries of a matrix, some at a time, with the axes named after the layout that is wanted: major is the row for CSR.
struct EntryBlock {
  int64_t n = 0;
  const int64_t* major = nullptr;
  const int64_t* minor = nullptr;
  const std::byte* data = nullptr;  // null when only the places were asked for
};

// All entries of a matrix in an order in which, within each major, minors do not go back (unless the source's own do).
class EntryStream {
 public:
  virtual ~EntryStream() = default;
  using Body = std::function<void(const EntryBlock&)>;
  // Calls `body` with one block after the other. May be called again. Bounded memory.
  virtual void for_each(bool with_data, ThreadPool& threads, const Body& body) const = 0;
  virtual int64_t working_bytes() const = 0;
};

// From the other sparse layout (CSR for CSC, CSC for CSR), or from a dense matrix, whose zeros are left out: what
// compares equal to zero, so minus zero too, and not-a-number not.
std::unique_ptr<EntryStream> transposed_entries(std::shared_ptr<const Sparse> source);
std::unique_ptr<EntryStream> nonzero_entries(lazy::ExprPtr dense, Layout wanted);

}  // namespace lamella::matrix
