#include "anndata/convert.h"

#include <algorithm>

#include "anndata/element.h"
#include "anndata/load.h"
#include "anndata/target_text.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

std::string last_part(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

matrix::Layout wanted(SparseForm form, matrix::Layout now) {
  switch (form) {
    case SparseForm::Keep: return now;
    case SparseForm::Csr: return matrix::Layout::Csr;
    case SparseForm::Csc: return matrix::Layout::Csc;
    case SparseForm::Dense: return matrix::Layout::Dense;
  }
  return now;
}

// Is any element not zero? In blocks, as a mask may be as long as the data are.
bool any_set(const lazy::Expr& mask) {
  const int64_t n = mask.shape()[0];
  const Shape grain = mask.grain();
  const int64_t chunk = grain.empty() ? 1 : grain[0];
  const int64_t step = std::max(chunk, (int64_t{1} << 20) / chunk * chunk);
  for (int64_t begin = 0; begin < n; begin += step) {
    const Shape part = {std::min(step, n - begin)};
    Buffer values(part[0]);
    Heap heap;
    mask.read(Box{{begin}, part}, View::c_order(values.data(), part, 1), heap, ThreadPool::shared());
    if (std::any_of(values.data(), values.data() + part[0], [](std::byte b) { return b != std::byte{0}; })) return true;
  }
  return false;
}

// Goes through a tree and lists what is to be written.
class Flattener {
 public:
  explicit Flattener(const ConvertOptions& options) : options_(options) {}

  void add(const std::string& path, const Tree& tree);
  void add_array(const std::string& path, const Tree& tree);
  bool add_as_sparse(const std::string& path, const Tree& tree);
  void add_group(const std::string& path, array::Attributes attributes) {
    recipe_.items.push_back(plan::GroupItem{path, std::move(attributes)});
  }
  plan::Recipe take() { return std::move(recipe_); }

 private:
  void add_children(const std::string& path, const Tree& tree);
  void add_sparse(const std::string& path, const Tree& tree);
  void add_frame(const std::string& path, const Tree& tree);
  void add_nullable_strings(const std::string& path, const Tree& strings);
  void add_plain_strings(const std::string& path, const Tree& nullable);

  const ConvertOptions& options_;
  bool anndata_ = false;
  plan::Recipe recipe_;
};

void Flattener::add(const std::string& path, const Tree& tree) {
  if (path.empty()) anndata_ = tree.encoding() == "anndata";
  if (tree.sparse) return add_sparse(path, tree);
  if (tree.is_array()) {
    // The matrices of an AnnData, not every array that has two axes: an embedding stays dense.
    const bool is_matrix = path == "X" || path == "raw/X" || path.rfind("layers/", 0) == 0;
    if (anndata_ && is_matrix && add_as_sparse(path, tree)) return;
    return add_array(path, tree);
  }
  if (tree.encoding() == "dataframe") return add_frame(path, tree);
  add_group(path, tree.attributes);
  add_children(path, tree);
}

void Flattener::add_children(const std::string& path, const Tree& tree) {
  for (const std::string& name : tree.children()) {
    if (const TreePtr child = tree.child(name)) add(join(path, name), *child);
  }
}

void Flattener::add_array(const std::string& path, const Tree& tree) {
  plan::ArrayItem item;
  item.path = path;
  item.attributes = tree.attributes;
  item.null_space = tree.is_null;
  if (!tree.is_null) {
    try {
      item.source = for_target(tree.values, options_.target);
    } catch (Error& error) {
      throw error.prefix(tree.name);
    }
    item.small = item.source->shape().empty() || item.source->type().kind == TypeKind::Struct;
    item.like = tree.like;
    // Records that were made anew lie differently.
    if (item.source->type().kind == TypeKind::Struct && item.source->source() == nullptr) item.like.reset();
  }
  recipe_.items.push_back(std::move(item));
}

bool Flattener::add_as_sparse(const std::string& path, const Tree& tree) {
  const bool asked = options_.sparse == SparseForm::Csr || options_.sparse == SparseForm::Csc;
  if (!asked || tree.is_null || tree.values->shape().size() != 2 || !tree.values->type().is_numeric()) return false;
  if (tree.values->type().kind == TypeKind::Float && tree.values->type().size == 2) {
    throw Error(ErrorKind::Unsupported, tree.name +
                                            ": scipy, and so anndata, has no sparse matrices of float16; "
                                            "leave --sparse away or take the element out");
  }
  plan::MatrixItem item;
  item.path = path;
  item.attributes = tree.attributes;
  for (const char* name : {"encoding-type", "encoding-version"}) item.attributes.erase(name);
  item.source.dense = for_target(tree.values, options_.target);
  item.layout = wanted(options_.sparse, matrix::Layout::Dense);
  recipe_.items.push_back(std::move(item));
  return true;
}

void Flattener::add_sparse(const std::string& path, const Tree& tree) {
  plan::MatrixItem item;
  item.path = path;
  item.attributes = tree.attributes;
  for (const char* name : {"encoding-type", "encoding-version"}) item.attributes.erase(name);
  item.source.sparse = for_target(tree.sparse, options_.target);
  item.layout = wanted(options_.sparse, tree.sparse->layout());
  const bool stays_group = item.layout != matrix::Layout::Dense;
  if (!stays_group && !tree.children().empty()) {
    throw Error(ErrorKind::Unsupported, tree.name + ": holds '" + tree.children().front() +
                                            "' beside the matrix, which a dense array cannot; leave --sparse away");
  }
  recipe_.items.push_back(std::move(item));
  add_children(path, tree);
}

void Flattener::add_frame(const std::string& path, const Tree& tree) {
  add_group(path, tree.attributes);
  for (const std::string& name : tree.children()) {
    const TreePtr child = tree.child(name);
    const std::string target = join(path, name);
    const bool text =
        child->values && child->values->type().kind == TypeKind::String && child->encoding() == "string-array";
    if (text && options_.strings == Strings::Nullable) add_nullable_strings(target, *child);
    else if (child->encoding() == "nullable-string-array" && options_.strings == Strings::Plain)
      add_plain_strings(target, *child);
    else add(target, *child);
  }
}

void Flattener::add_nullable_strings(const std::string& path, const Tree& strings) {
  array::Attributes group = encoding("nullable-string-array", "0.1.0");
  group.set("na-value", Json("NaN"));
  for (const auto& [name, attribute] : strings.attributes) {
    if (name != "encoding-type" && name != "encoding-version") group.set(name, attribute);
  }
  add_group(path, std::move(group));
  plan::ArrayItem mask, values;
  mask.path = join(path, "mask");
  mask.attributes = encoding("array", "0.2.0");
  mask.source = lazy::fill(strings.values->shape(), DType::boolean(), {std::byte{0}});
  recipe_.items.push_back(std::move(mask));
  values.path = join(path, "values");
  values.attributes = encoding("string-array", "0.2.0");
  values.source = strings.values;
  values.like = strings.like;
  recipe_.items.push_back(std::move(values));
}

void Flattener::add_plain_strings(const std::string& path, const Tree& nullable) {
  const TreePtr values = nullable.child("values"), mask = nullable.child("mask");
  const bool whole =
      values->values && mask->values && mask->values->shape().size() == 1 && mask->values->type().size == 1;
  if (!whole) throw Error(ErrorKind::Corrupt, nullable.name + ": nullable strings without values or mask");
  if (any_set(*mask->values)) {
    throw Error(ErrorKind::Unsupported, nullable.name +
                                            ": has missing values, which plain strings cannot tell; "
                                            "leave --strings plain away");
  }
  plan::ArrayItem item;
  item.path = path;
  item.attributes = values->attributes;
  for (const auto& [name, attribute] : encoding("string-array", "0.2.0")) item.attributes.set(name, attribute);
  item.source = lazy::cast(values->values, DType::string());
  item.like = values->like;
  recipe_.items.push_back(std::move(item));
}

}  // namespace

SparseForm parse_sparse_form(const std::string& text) {
  if (text == "keep") return SparseForm::Keep;
  if (text == "csr") return SparseForm::Csr;
  if (text == "csc") return SparseForm::Csc;
  if (text == "dense") return SparseForm::Dense;
  throw Error(ErrorKind::Invalid, "sparse '" + text + "': one of keep, csr, csc, dense");
}

Strings parse_strings(const std::string& text) {
  if (text == "nullable") return Strings::Nullable;
  if (text == "plain") return Strings::Plain;
  if (text == "keep") return Strings::Keep;
  throw Error(ErrorKind::Invalid, "strings '" + text + "': one of nullable, plain, keep");
}

plan::Recipe make_recipe(const Store& store, const ConvertOptions& options) {
  Flattener flattener(options);
  if (store.root->is_array()) {
    const bool hdf5 = options.target == array::SinkFormat::Hdf5;
    std::string name = last_part(options.element);
    if (name.empty()) name = "data";
    if (hdf5) flattener.add_group("", {});
    if (!flattener.add_as_sparse(hdf5 ? name : "", *store.root)) flattener.add_array(hdf5 ? name : "", *store.root);
  } else {
    flattener.add("", *store.root);
  }
  plan::Recipe recipe = flattener.take();
  recipe.inputs = store.inputs;
  return recipe;
}

plan::Recipe make_recipe(const array::Opened& in, const std::string& in_path, const ConvertOptions& options) {
  return make_recipe(load(in, in_path, options.element), options);
}

}  // namespace lamella::anndata
