#include "anndata/convert.h"

#include "anndata/recipe_maker.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

std::string last_part(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
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

plan::Recipe make_recipe(const array::Opened& in, const std::string& in_path, const ConvertOptions& options) {
  RecipeMaker maker(options, in_path);
  const bool hdf5 = options.target == array::SinkFormat::Hdf5;
  array::Node node = in.root;
  // Parts of an AnnData are written as they would be in the whole.
  const bool encoded = node.group && (classify(node).kind == ElementKind::AnnData || is_old_anndata(*node.group));
  if (!options.element.empty() && last_part(options.element).size() > 0) {
    if (!in.root.group)
      throw Error(ErrorKind::NotFound, in_path + ": is a single array and has no element '" + options.element + "'");
    node = in.root.group->at(options.element);
  }
  const bool old_part = encoded && maker.add_old_part(*in.root.group, options.element, node);
  if (node.array && !old_part) {
    std::string name = last_part(options.element);
    if (name.empty()) name = "data";
    if (hdf5) maker.add_group("", nullptr, nullptr);
    if (!maker.add_as_sparse(hdf5 ? name : "", node.array)) maker.add_array(hdf5 ? name : "", node.array, encoded);
  } else if (node.group && (classify(node).kind == ElementKind::AnnData || is_old_anndata(*node.group))) {
    maker.add_root(*node.group);
  } else if (node.group) {
    maker.add("", node, encoded);
  }
  plan::Recipe recipe = maker.take();
  recipe.inputs.push_back(in_path);
  return recipe;
}

}  // namespace lamella::anndata
