#pragma once

#include <string>

#include "array/array.h"
#include "lazy/expr.h"

namespace lamella::anndata {

// What a node is, by its attributes or, in layouts before 0.8, by its form.
enum class ElementKind {
  Plain,  // an array or group that says nothing of itself
  AnnData,
  DataFrame,     // 0.2.0
  OldDataFrame,  // 0.1.0 of anndata 0.7: categories apart
  RecordFrame,   // before 0.7: one array of records
  Sparse,        // csr_matrix, csc_matrix
  OldSparse,     // the same before 0.7: h5sparse_format
  Categorical,
  NullableStrings,
  StringArray,
  Other,  // any other encoding: its parts are carried as they are
};

struct Element {
  ElementKind kind = ElementKind::Plain;
  std::string type;     // encoding-type, "" when there is none
  std::string version;  // encoding-version
};

Element classify(const array::Node& node);

// Does a group without encoding hold an AnnData of before 0.8: obs and var, and they look like annotation?
bool is_old_anndata(const array::Group& group);

// Does a group hold an AnnData of any age?
bool is_anndata(const array::Group& group);

std::string join(const std::string& parent, const std::string& name);

// The attributes of an encoding; none for a null type.
array::Attributes encoding(const char* type, const char* version);

// The encoding that anndata gives to an array that says nothing of itself.
array::Attributes implied_encoding(const lazy::Expr& values);

// Entries along the first axis, from metadata: of an array, a sparse matrix, a frame, a column. -1 when the encoding
// does not tell.
int64_t length_of(const array::Node& node);

// Rows and columns of an array or a sparse matrix; empty when the node is neither. A length that no array has is -1.
Shape shape_of(const array::Node& node);

// A length as an attribute tells it, in any type of number; -1 when it is none.
int64_t length_in(const Json& value);

// Codes of a categorical take the smallest signed type that holds them, as pandas chooses it.
DType code_type(int64_t categories);

// Text of fixed or variable length.
bool is_text(const DType& type);

}  // namespace lamella::anndata
