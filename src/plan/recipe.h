#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "array/attributes.h"
#include "lazy/expr.h"
#include "matrix/matrix.h"

namespace lamella::plan {

// What is to be written, in order, parents before children; says nothing of chunks, codecs or memory. Paths are "" for
// the root and "a/b" below.
struct GroupItem {
  std::string path;
  array::Attributes attributes;
};

struct ArrayItem {
  std::string path;
  array::Attributes attributes;
  lazy::ExprPtr source;
  // The layout that the source has, as a hint for the target's: chunks, shards, codecs, fill, max_shape.
  std::optional<array::ArraySpec> like;
  bool small = false;       // scalars, records: never sharded, never compressed in HDF5
  bool null_space = false;  // HDF5's null dataspace; `source` is null then
};

// A group with data, indices and indptr, or a dense array in its place, by `layout`.
struct MatrixItem {
  std::string path;
  // Without encoding-type, encoding-version and shape, which follow from the layout and are added by the planner.
  array::Attributes attributes;
  matrix::Matrix source;
  matrix::Layout layout = matrix::Layout::Csr;
};

using Item = std::variant<GroupItem, ArrayItem, MatrixItem>;

struct Recipe {
  std::vector<Item> items;
  std::vector<std::string> inputs;  // paths of the files or folders behind the sources
};

}  // namespace lamella::plan
