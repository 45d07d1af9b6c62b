#include <algorithm>

#include "anndata/loader.h"
#include "base/error.h"
#include "lazy/map.h"

namespace lamella::anndata {
namespace {

// Records with text of fixed length as numpy has it, in as many code points as there were bytes.
lazy::ExprPtr with_unicode(const lazy::ExprPtr& records) {
  std::vector<std::pair<std::string, lazy::ExprPtr>> fields;
  for (const Field& field : *records->type().fields) {
    lazy::ExprPtr column = lazy::field(records, field.name);
    if (field.type.kind == TypeKind::Bytes)
      column = lazy::cast(column, DType::make(TypeKind::Unicode, field.type.size * 4));
    fields.emplace_back(field.name, std::move(column));
  }
  return lazy::records(fields);
}

bool has_bytes(const DType& type) {
  return std::any_of(type.fields->begin(), type.fields->end(),
                     [](const Field& field) { return field.type.kind == TypeKind::Bytes; });
}

}  // namespace

TreePtr Loader::array(const std::string& path, const std::shared_ptr<const array::Array>& array, bool encoded) const {
  auto out = start(path, array->attributes());
  out->name = array->name();
  if (out->encoding() == "null" || array->spec().null_space) {
    out->is_null = true;
    return out;
  }
  const bool says = !out->encoding().empty();
  lazy::ExprPtr values = lazy::source(array);
  out->like = array->spec();
  if (encoded && !says && values->type().kind == TypeKind::Bytes) {
    // Before 0.7 text had a fixed length, and a scalar was an array of one.
    values = lazy::cast(values, DType::string());
    if (values->shape() == Shape{1}) values = lazy::reshape(values, {});
  }
  // Text in records had a fixed length as well; which records are of that time is told by their missing encoding.
  if (encoded && !says && values->type().kind == TypeKind::Struct && has_bytes(values->type())) {
    values = with_unicode(values);
    out->like.reset();
  }
  if (encoded && !says) {
    for (const auto& [name, attribute] : implied_encoding(*values)) out->attributes.set(name, attribute);
  }
  out->values = std::move(values);
  return out;
}

TreePtr Loader::sparse(const std::string& path, const array::Group& group) const {
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
    parts[i] = lazy::source(node.array);
  }
  auto out = start(path, group.attributes());
  out->name = group.name();
  for (const char* name : {"shape", "h5sparse_format", "h5sparse_shape"}) out->attributes.erase(name);
  for (const auto& [name, attribute] : encoding(layout == matrix::Layout::Csr ? "csr_matrix" : "csc_matrix", "0.1.0"))
    out->attributes.set(name, attribute);
  out->sparse = matrix::make_sparse(layout, shape, parts[0], parts[1], parts[2], group.name());
  for (const std::string& name : group.children()) {
    if (std::find(std::begin(names), std::end(names), name) != std::end(names)) continue;
    if (const array::Node other = group.child(name)) add_child(*out, name, join(path, name), other, false);
  }
  return out;
}

}  // namespace lamella::anndata
