#include "anndata/element.h"

namespace lamella::anndata {
namespace {

bool is_annotation(const array::Node& node) {
  if (!node) return false;
  if (node.array) return node.array->spec().type.kind == TypeKind::Struct;
  return node.group->attributes().find("_index") != nullptr;
}

}  // namespace

Element classify(const array::Node& node) {
  Element out;
  const array::Attributes& attributes = node.attributes();
  out.type = attributes.string("encoding-type").value_or("");
  out.version = attributes.string("encoding-version").value_or("");
  if (out.type.empty()) {
    if (node.group && attributes.find("h5sparse_format") != nullptr) out.kind = ElementKind::OldSparse;
    return out;
  }
  out.kind = ElementKind::Other;
  if (node.array) {
    if (out.type == "string-array") out.kind = ElementKind::StringArray;
    return out;
  }
  if (out.type == "anndata") out.kind = ElementKind::AnnData;
  if (out.type == "dataframe") out.kind = out.version == "0.1.0" ? ElementKind::OldDataFrame : ElementKind::DataFrame;
  if (out.type == "csr_matrix" || out.type == "csc_matrix") out.kind = ElementKind::Sparse;
  if (out.type == "categorical") out.kind = ElementKind::Categorical;
  if (out.type == "nullable-string-array") out.kind = ElementKind::NullableStrings;
  return out;
}

bool is_old_anndata(const array::Group& group) {
  return !group.attributes().string("encoding-type") && is_annotation(group.child("obs")) &&
         is_annotation(group.child("var"));
}

}  // namespace lamella::anndata
