#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lazy/expr.h"

namespace lamella::matrix {

// How a 2-d matrix lies on disk.
enum class Layout { Dense, Csr, Csc };

// A compressed sparse matrix over three 1-d expressions, lazy. Checked when opened: lengths agree with each other and
// with `shape`; the contents (monotonic indptr, indices in range) are checked by whoever reads them.
struct Sparse {
  Layout layout = Layout::Csr;  // never Dense
  Shape shape;                  // rows, columns
  lazy::ExprPtr data;
  lazy::ExprPtr indices;
  lazy::ExprPtr indptr;
  std::string name;  // "file: /element", for messages

  int64_t major() const { return layout == Layout::Csr ? shape[0] : shape[1]; }
  int64_t minor() const { return layout == Layout::Csr ? shape[1] : shape[0]; }
  int64_t nnz() const { return data->shape()[0]; }
};

// A 2-d matrix of either kind: exactly one of the two is set.
struct Matrix {
  lazy::ExprPtr dense;
  std::shared_ptr<const Sparse> sparse;

  const Shape& shape() const { return sparse ? sparse->shape : dense->shape(); }
  Layout layout() const { return sparse ? sparse->layout : Layout::Dense; }
  const DType& type() const { return sparse ? sparse->data->type() : dense->type(); }
};

// Throws Corrupt naming the sparse matrix where lengths disagree.
std::shared_ptr<const Sparse> make_sparse(Layout layout, Shape shape, lazy::ExprPtr data, lazy::ExprPtr indices,
                                          lazy::ExprPtr indptr, std::string name);

}  // namespace lamella::matrix
