#pragma once

#include <string>

#include "array/array.h"

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

}  // namespace lamella::anndata
