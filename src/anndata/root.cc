#include <algorithm>

#include "anndata/recipe_maker.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

constexpr const char* kStandard[] = {"X", "layers", "obs", "obsm", "obsp", "uns", "var", "varm", "varp", "raw"};

bool is_standard(const std::string& name) {
  return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

// Rows and columns of an array or sparse matrix; empty when the node is neither.
Shape shape_of(const array::Node& node) {
  if (!node) return {};
  if (node.array) return node.array->spec().shape;
  for (const char* name : {"shape", "h5sparse_shape"}) {
    const array::Attribute* shape = node.group->attributes().find(name);
    if (shape == nullptr || !shape->value.is_array()) continue;
    Shape out;
    for (const Json& length : shape->value)
      out.push_back(length.is_number() ? static_cast<int64_t>(length.get<double>()) : -1);
    return out;
  }
  return {};
}

// Length of a frame, by its index; -1 when that is not to be told.
int64_t length_of(const array::Node& frame) {
  if (!frame) return -1;
  if (frame.array) return frame.array->spec().shape.empty() ? -1 : frame.array->spec().shape[0];
  const auto index = frame.group->attributes().string("_index");
  if (!index) return -1;
  array::Node node = frame.group->child(*index);
  if (node.group) node = node.group->child("values") ? node.group->child("values") : node.group->child("codes");
  return node.array && node.array->spec().shape.size() == 1 ? node.array->spec().shape[0] : -1;
}

}  // namespace

// Matrices that do not fit the annotation would be written just as wrong as they are.
void RecipeMaker::check_lengths(const array::Group& root) const {
  const int64_t n_obs = length_of(root.child("obs")), n_var = length_of(root.child("var"));
  auto check = [&](const std::string& name, const array::Node& node, bool both) {
    const Shape shape = shape_of(node);
    if (shape.size() < (both ? 2u : 1u)) return;
    if ((n_obs >= 0 && shape[0] != n_obs) || (both && n_var >= 0 && shape[1] != n_var)) {
      corrupt(name, "has shape " + to_string(shape) + ", but obs has " + std::to_string(n_obs) + " and var " +
                        std::to_string(n_var) + " rows");
    }
  };
  check("X", root.child("X"), true);
  const array::Node layers = root.child("layers");
  if (!layers.group) return;
  for (const std::string& name : layers.group->children()) check("layers/" + name, layers.group->child(name), true);
}

void RecipeMaker::add_standard_group(const std::string& name, const array::Node& node) {
  if (node) return add(name, node, true);
  add_group(name, "dict", "0.1.0");
}

void RecipeMaker::add_raw(const std::string& path, const array::Group& raw, bool encoded) {
  add_group(path, "raw", "0.1.0");
  for (const char* name : {"X", "var", "varm"}) {
    if (const array::Node child = raw.child(name)) add(join(path, name), child, encoded);
  }
  if (!raw.child("varm")) add_group(join(path, "varm"), "dict", "0.1.0");
}

void RecipeMaker::add_root(const array::Group& root) {
  check_lengths(root);
  array::Attributes attributes = root.attributes();
  attributes.set("encoding-type", Json("anndata"));
  attributes.set("encoding-version", Json("0.1.0"));
  recipe_.items.push_back(plan::GroupItem{"", attributes});
  const array::Node obs = root.child("obs"), var = root.child("var");
  if (!obs || !var) corrupt("", std::string("an AnnData without ") + (obs ? "var" : "obs"));
  if (obs.array) return add_old_root(root);
  for (const char* name : kStandard) {
    const array::Node node = root.child(name);
    if (std::string(name) == "X" || std::string(name) == "raw") {
      if (node && std::string(name) == "raw" && node.group) add_raw("raw", *node.group, true);
      else if (node) add(name, node, true);
      continue;
    }
    add_standard_group(name, node);
  }
  for (const std::string& name : root.children()) {
    if (!is_standard(name)) add(name, root.child(name), true);
  }
}

// Before 0.7: annotation as arrays of records, categories in uns, raw beside the rest.
void RecipeMaker::add_old_root(const array::Group& root) {
  const array::Node uns = root.child("uns");
  std::set<std::string> used;
  if (const array::Node x = root.child("X")) add("X", x, true);
  add_record_frame("obs", root.child("obs").array, uns, used);
  const array::Node var = root.child("var");
  if (!var.array) corrupt("var", "is no array of records although obs is one");
  add_record_frame("var", var.array, uns, used);
  for (const char* name : {"obsm", "varm"}) {
    const array::Node node = root.child(name);
    if (node.array) add_record_arrays(name, node.array);
    else add_standard_group(name, node);
  }
  for (const char* name : {"layers", "obsp", "varp"}) add_standard_group(name, root.child(name));
  add_group("uns", "dict", "0.1.0");
  if (uns.group) {
    for (const std::string& name : uns.group->children()) {
      if (used.count(name) == 0) add("uns/" + name, uns.group->child(name), true);
    }
  }
  if (const array::Node x = root.child("raw.X")) {
    add_group("raw", "raw", "0.1.0");
    add("raw/X", x, true);
    const array::Node raw_var = root.child("raw.var");
    if (raw_var.array) add_record_frame("raw/var", raw_var.array, uns, used);
    else if (raw_var) add("raw/var", raw_var, true);
    const array::Node raw_varm = root.child("raw.varm");
    if (raw_varm.array) add_record_arrays("raw/varm", raw_varm.array);
    else add_group("raw/varm", "dict", "0.1.0");
  } else if (const array::Node raw = root.child("raw")) {
    if (raw.group) add_raw("raw", *raw.group, true);
  }
}

}  // namespace lamella::anndata
