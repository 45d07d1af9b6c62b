#pragma once

#include <set>
#include <string>

#include "anndata/convert.h"
#include "anndata/element.h"

namespace lamella::anndata {

// Goes through a store and adds to a recipe what is to be written of it. The methods are spread over one file a family.
class RecipeMaker {
 public:
  RecipeMaker(const ConvertOptions& options, std::string file) : options_(options), file_(std::move(file)) {}

  plan::Recipe take() { return std::move(recipe_); }

  // Any node, at `path` of the target. `encoded`: nodes that say nothing of themselves get the encoding that anndata
  // reads.
  void add(const std::string& path, const array::Node& node, bool encoded);

  // root.cc
  void add_root(const array::Group& root);
  // Annotation of before 0.7 ("obs", "varm", "raw.var") as the root of the target. False when `node` is none.
  bool add_old_part(const array::Group& root, const std::string& element, const array::Node& node);

  // array_element.cc
  void add_array(const std::string& path, const std::shared_ptr<const array::Array>& array, bool encoded);
  // An expression that is no stored array; gets the encoding that its type asks for.
  void add_values(const std::string& path, lazy::ExprPtr values);
  void add_group(const std::string& path, const char* type, const char* version, array::Attributes attributes = {});

  // matrix_element.cc
  void add_sparse(const std::string& path, const array::Group& group);
  // A dense matrix that is asked for in a sparse form. False when it is not, or when the array is no matrix of numbers.
  bool add_as_sparse(const std::string& path, const std::shared_ptr<const array::Array>& array);

  // dataframe.cc
  void add_frame(const std::string& path, const array::Group& group);
  void add_old_frame(const std::string& path, const array::Group& group);
  void add_string_column(const std::string& path, lazy::ExprPtr values, const array::Attributes& attributes);

  // record_frame.cc
  void add_record_frame(const std::string& path, const std::shared_ptr<const array::Array>& records,
                        const array::Node& uns, std::set<std::string>& used_categories);
  void add_record_arrays(const std::string& path, const std::shared_ptr<const array::Array>& records);

 private:
  void add_children(const std::string& path, const array::Group& group, bool encoded);
  void add_old_root(const array::Group& root);
  void add_old_uns(const array::Group& root, const std::set<std::string>& used_categories);
  void add_old_raw(const array::Group& root);
  void add_others(const array::Group& root);
  void add_raw(const std::string& path, const array::Group& raw);
  void add_standard_group(const std::string& name, const array::Node& node);
  void check_lengths(const array::Group& root) const;
  void check_parts(const std::string& path, const array::Group& group, const std::string& type) const;
  void check_columns(const std::string& path, const array::Group& frame, const std::string& index) const;
  [[noreturn]] void corrupt(const std::string& element, const std::string& what) const;

  const ConvertOptions& options_;
  std::string file_;
  plan::Recipe recipe_;
};

std::string join(const std::string& parent, const std::string& name);

// Entries along the first axis, from metadata: of an array, a sparse matrix, a frame, a column. -1 when the encoding
// does not tell.
int64_t length_of(const array::Node& node);

// Rows and columns of an array or a sparse matrix; empty when the node is neither. A length that no array has is -1.
Shape shape_of(const array::Node& node);

// A length as an attribute tells it, in any type of number; -1 when it is none.
int64_t length_in(const Json& value);

// In the target's byte order and text form: what the format cannot hold as it is, but can after a harmless cast.
lazy::ExprPtr for_target(lazy::ExprPtr values, array::SinkFormat target);

// The attributes of an encoding.
array::Attributes encoding(const char* type, const char* version);

}  // namespace lamella::anndata
