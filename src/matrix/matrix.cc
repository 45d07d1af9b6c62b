#include "matrix/matrix.h"

#include "base/error.h"

namespace lamella::matrix {

std::shared_ptr<const Sparse> make_sparse(Layout layout, Shape shape, lazy::ExprPtr data, lazy::ExprPtr indices,
                                          lazy::ExprPtr indptr, std::string name) {
  auto out = std::make_shared<Sparse>(
      Sparse{layout, std::move(shape), std::move(data), std::move(indices), std::move(indptr), std::move(name)});
  auto corrupt = [&](const std::string& what) { throw Error(ErrorKind::Corrupt, out->name + ": " + what); };
  if (out->shape.size() != 2 || out->shape[0] < 0 || out->shape[1] < 0)
    corrupt("a sparse matrix of shape " + to_string(out->shape));
  const std::pair<const char*, const lazy::Expr*> parts[] = {
      {"data", out->data.get()}, {"indices", out->indices.get()}, {"indptr", out->indptr.get()}};
  for (const auto& [part, expr] : parts) {
    if (expr->shape().size() != 1)
      corrupt(std::string(part) + " has shape " + to_string(expr->shape()) + ", one axis is wanted");
    const bool integer = expr->type().kind == TypeKind::Int || expr->type().kind == TypeKind::UInt;
    if (part != std::string("data") && !integer)
      corrupt(std::string(part) + " holds no integers but " + lamella::to_string(expr->type()));
  }
  if (out->data->shape() != out->indices->shape()) {
    corrupt("data has " + std::to_string(out->data->shape()[0]) + " entries, indices " +
            std::to_string(out->indices->shape()[0]));
  }
  if (out->indptr->shape()[0] != out->major() + 1) {
    corrupt("indptr has " + std::to_string(out->indptr->shape()[0]) + " entries, " + std::to_string(out->major() + 1) +
            " belong to shape " + to_string(out->shape));
  }
  return out;
}

}  // namespace lamella::matrix
