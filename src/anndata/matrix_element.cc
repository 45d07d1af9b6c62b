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
  Shape shape;
  for (const Json& length : stored->value) {  // other writers store other integer types, or floats
    if (!length.is_number() || length.get<double>() < 0)
      corrupt(path, "a sparse matrix of shape " + stored->value.dump());
    shape.push_back(length.is_number_integer() ? length.get<int64_t>() : static_cast<int64_t>(length.get<double>()));
  }
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
  recipe_.items.push_back(std::move(item));
}

}  // namespace lamella::anndata
