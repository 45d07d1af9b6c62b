#include <algorithm>

#include "anndata/recipe_maker.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

matrix::Layout wanted(SparseForm form, matrix::Layout now) {
  switch (form) {
    case SparseForm::Keep: return now;
    case SparseForm::Csr: return matrix::Layout::Csr;
    case SparseForm::Csc: return matrix::Layout::Csc;
    case SparseForm::Dense: return matrix::Layout::Dense;
  }
  return now;
}

}  // namespace

bool RecipeMaker::add_as_sparse(const std::string& path, const std::shared_ptr<const array::Array>& array) {
  const bool asked = options_.sparse == SparseForm::Csr || options_.sparse == SparseForm::Csc;
  if (!asked || array->spec().shape.size() != 2 || !array->spec().type.is_numeric()) return false;
  if (array->spec().type.kind == TypeKind::Float && array->spec().type.size == 2) {
    throw Error(ErrorKind::Unsupported, array->name() +
                                            ": scipy, and so anndata, has no sparse matrices of float16; "
                                            "leave --sparse away or take the element out");
  }
  plan::MatrixItem item;
  item.path = path;
  item.attributes = array->attributes();
  for (const char* name : {"encoding-type", "encoding-version"}) item.attributes.erase(name);
  item.source.dense = for_target(lazy::source(array), options_.target);
  item.layout = wanted(options_.sparse, matrix::Layout::Dense);
  recipe_.items.push_back(std::move(item));
  return true;
}

void RecipeMaker::add_sparse(const std::string& path, const array::Group& group) {
  const bool old = group.attributes().find("h5sparse_format") != nullptr;
  const std::string format = group.attributes().string(old ? "h5sparse_format" : "encoding-type").value_or("");
  const matrix::Layout layout = format.rfind("csc", 0) == 0 ? matrix::Layout::Csc : matrix::Layout::Csr;
  const array::Attribute* stored = group.attributes().find(old ? "h5sparse_shape" : "shape");
  if (stored == nullptr || !stored->value.is_array() || stored->value.size() != 2)
    corrupt(path, "a sparse matrix without its shape");
  const Shape shape = {length_in(stored->value[0]), length_in(stored->value[1])};
  if (shape[0] < 0 || shape[1] < 0) corrupt(path, "a sparse matrix of shape " + dump_json(stored->value, -1));
  lazy::ExprPtr parts[3];
  const char* const names[3] = {"data", "indices", "indptr"};
  for (int i = 0; i < 3; ++i) {
    const array::Node node = group.child(names[i]);
    if (!node.array) corrupt(path, std::string("a sparse matrix without ") + names[i]);
    parts[i] = for_target(lazy::source(node.array), options_.target);
  }
  plan::MatrixItem item;
  item.path = path;
  item.attributes = group.attributes();
  for (const char* name : {"encoding-type", "encoding-version", "shape", "h5sparse_format", "h5sparse_shape"})
    item.attributes.erase(name);
  item.source.sparse = matrix::make_sparse(layout, shape, parts[0], parts[1], parts[2], group.name());
  item.layout = wanted(options_.sparse, layout);
  const bool stays_group = item.layout != matrix::Layout::Dense;
  recipe_.items.push_back(std::move(item));
  for (const std::string& name : group.children()) {
    const bool part = std::find(std::begin(names), std::end(names), name) != std::end(names);
    if (part) continue;
    if (!stays_group) {
      throw Error(ErrorKind::Unsupported, group.name() + ": holds '" + name +
                                              "' beside the matrix, which a dense array cannot; leave --sparse away");
    }
    if (const array::Node other = group.child(name)) add(join(path, name), other, false);
  }
}

}  // namespace lamella::anndata
