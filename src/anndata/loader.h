#pragma once

#include <memory>
#include <set>
#include <string>

#include "anndata/element.h"
#include "anndata/tree.h"

namespace lamella::anndata {

// Turns nodes of a store into trees. The methods are spread over one file a family; makers of children keep the loader.
class Loader : public std::enable_shared_from_this<Loader> {
 public:
  explicit Loader(std::string file) : file_(std::move(file)) {}

  // Any node; `path` is its place in the store. `encoded`: nodes that say nothing of themselves get the encoding that
  // anndata gives them.
  TreePtr element(const std::string& path, const array::Node& node, bool encoded) const;

  // load_root.cc
  TreePtr root(const array::Group& root) const;
  // Annotation of before 0.7 ("obs", "varm", "raw.var") as a tree of its own. Null when `node` is none.
  TreePtr old_part(const array::Group& root, const std::string& element, const array::Node& node) const;

  // load_array.cc
  TreePtr array(const std::string& path, const std::shared_ptr<const array::Array>& array, bool encoded) const;
  TreePtr sparse(const std::string& path, const array::Group& group) const;

  // load_frame.cc
  TreePtr frame(const std::string& path, const array::Group& group) const;
  TreePtr old_frame(const std::string& path, const array::Group& group) const;
  TreePtr text_column(const std::string& path, lazy::ExprPtr values, const array::Attributes& attributes) const;

  // load_records.cc
  TreePtr record_frame(const std::string& path, const std::shared_ptr<const array::Array>& records,
                       const array::Node& uns, std::set<std::string>& used_categories) const;
  TreePtr record_arrays(const std::string& path, const std::shared_ptr<const array::Array>& records) const;

 private:
  std::shared_ptr<Tree> start(const std::string& path, array::Attributes attributes) const;
  void add_children(Tree& tree, const std::string& path, const array::Group& group, bool encoded) const;
  void add_child(Tree& tree, const std::string& name, const std::string& path, const array::Node& node,
                 bool encoded) const;
  void check_parts(const std::string& path, const array::Group& group, const std::string& type) const;
  void check_columns(const std::string& path, const array::Group& frame, const std::string& index) const;
  void check_shape(const std::string& path, const array::Node& node, int64_t rows, int64_t columns, int64_t n_obs,
                   int64_t n_var) const;
  TreePtr aligned(const array::Group& root, const std::string& name, int64_t rows, int64_t columns) const;
  TreePtr raw(const array::Group& raw) const;
  TreePtr old_raw(const array::Group& root) const;
  TreePtr old_uns(const array::Group& root, const std::set<std::string>& used_categories) const;
  void add_moved_graphs(Tree& obsp, const array::Group& root) const;
  void add_others(Tree& tree, const array::Group& root) const;
  TreePtr old_root(const array::Group& root) const;
  [[noreturn]] void corrupt(const std::string& element, const std::string& what) const;

  std::string file_;
};

}  // namespace lamella::anndata
