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

bool is_anndata(const array::Group& group) {
  return group.attributes().string("encoding-type") == "anndata" || is_old_anndata(group);
}

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

array::Attributes encoding(const char* type, const char* version) {
  array::Attributes out;
  if (type == nullptr) return out;
  out.set("encoding-type", Json(type));
  out.set("encoding-version", Json(version));
  return out;
}

array::Attributes implied_encoding(const lazy::Expr& values) {
  const TypeKind kind = values.type().kind;
  const bool text = kind == TypeKind::String || kind == TypeKind::VlenBytes;
  if (kind == TypeKind::Struct) return encoding("rec-array", "0.2.0");
  if (values.shape().empty()) return text ? encoding("string", "0.2.0") : encoding("numeric-scalar", "0.2.0");
  return text ? encoding("string-array", "0.2.0") : encoding("array", "0.2.0");
}

DType code_type(int64_t categories) { return DType::int_(categories < 127 ? 1 : categories < 32767 ? 2 : 4); }

bool is_text(const DType& type) {
  return type.kind == TypeKind::Bytes || type.kind == TypeKind::Unicode || type.kind == TypeKind::String;
}

}  // namespace lamella::anndata
