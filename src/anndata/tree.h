#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "array/array.h"
#include "matrix/matrix.h"

namespace lamella::anndata {

class Tree;
using TreePtr = std::shared_ptr<const Tree>;

// An element of a store in the layout that AnnData has now, whatever it came from: a stored element of any age, a
// selection, a concatenation. A group, an array, or a sparse matrix (which may have children beside its three arrays).
// Immutable and thread-safe. Children are made when they are asked for, once; making one reads metadata at most, save
// for annotation of before 0.7.
class Tree {
 public:
  array::Attributes attributes;  // with encoding-type; of a sparse matrix without what follows from it
  // Array: the elements, and how they lie in the store they come from. Null for HDF5's null dataspace (`is_null`).
  lazy::ExprPtr values;
  std::optional<array::ArraySpec> like;
  bool is_null = false;
  matrix::SparsePtr sparse;
  std::string name;  // "file: /element", for messages

  bool is_array() const { return values != nullptr || is_null; }
  bool is_group() const { return !is_array() && !sparse; }
  std::string encoding() const { return attributes.string("encoding-type").value_or(""); }
  // A dense matrix or a sparse one; throws Invalid for anything else.
  matrix::Matrix matrix() const;

  const std::vector<std::string>& children() const { return names_; }  // in order
  bool has(const std::string& child) const;
  TreePtr child(const std::string& child) const;  // null when there is none
  TreePtr at(const std::string& path) const;      // "a/b/c"; throws NotFound
  Shape shape() const;                            // of an array or matrix; empty for others
  int64_t length() const;                         // along the first axis, of a table or column too; -1: unknown

  // While it is built:
  using Maker = std::function<TreePtr()>;
  void add(const std::string& name, Maker maker);
  void add(const std::string& name, TreePtr tree);

 private:
  struct Slot {
    std::once_flag once;
    Maker maker;
    TreePtr tree;
  };
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<Slot>> slots_;
};

// A tree, and the files or folders that it reads.
struct Store {
  TreePtr root;
  std::vector<std::string> inputs;
  std::string format;  // "hdf5", "zarr2", "zarr3"; "lazy" when it is computed
};

// Small elements, made by us.
std::shared_ptr<Tree> make_group(const char* type, const char* version);  // with an encoding, if type is not null
TreePtr make_array(lazy::ExprPtr values);                                 // with the encoding that its type asks for
TreePtr make_sparse(matrix::SparsePtr sparse);
TreePtr make_matrix(const matrix::Matrix& matrix);

}  // namespace lamella::anndata
