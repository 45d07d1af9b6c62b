#include <algorithm>
#include <tuple>

#include "anndata/recipe_maker.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

constexpr const char* kStandard[] = {"X", "layers", "obs", "obsm", "obsp", "uns", "var", "varm", "varp", "raw"};

bool is_standard(const std::string& name) {
  return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

}  // namespace

// What does not fit the annotation would be written just as wrong as it is.
void RecipeMaker::check_lengths(const array::Group& root) const {
  const int64_t n_obs = length_of(root.child("obs")), n_var = length_of(root.child("var"));
  auto check = [&](const std::string& name, const array::Node& node, int64_t rows, int64_t columns) {
    const Shape shape = shape_of(node);
    const int64_t length = length_of(node);
    const bool fits =
        (rows < 0 || length < 0 || length == rows) && (columns < 0 || shape.size() < 2 || shape[1] == columns);
    if (fits) return;
    corrupt(name, "has " + (shape.empty() ? std::to_string(length) + " rows" : "shape " + to_string(shape)) +
                      ", but obs has " + std::to_string(n_obs) + " and var " + std::to_string(n_var) + " rows");
  };
  check("X", root.child("X"), n_obs, n_var);
  const std::tuple<const char*, int64_t, int64_t> aligned[] = {{"layers", n_obs, n_var},
                                                               {"obsm", n_obs, -1},
                                                               {"varm", n_var, -1},
                                                               {"obsp", n_obs, n_obs},
                                                               {"varp", n_var, n_var}};
  for (const auto& [name, rows, columns] : aligned) {
    const array::Node all = root.child(name);
    if (!all.group) continue;
    for (const std::string& one : all.group->children()) check(join(name, one), all.group->child(one), rows, columns);
  }
}

void RecipeMaker::add_standard_group(const std::string& name, const array::Node& node) {
  if (node) return add(name, node, true);
  add_group(name, "dict", "0.1.0");
}

void RecipeMaker::add_raw(const std::string& path, const array::Group& raw) {
  array::Attributes attributes = raw.attributes();
  for (const char* name : {"encoding-type", "encoding-version", "shape"}) attributes.erase(name);
  add_group(path, "raw", "0.1.0", attributes);
  add_children(path, raw, true);
  if (!raw.child("varm")) add_group(join(path, "varm"), "dict", "0.1.0");
}

// What no AnnData has at its root, and somebody put there.
void RecipeMaker::add_others(const array::Group& root) {
  for (const std::string& name : root.children()) {
    // "raw.X" and its like are the raw of before 0.7, and anndata skips whatever else is called so.
    if (is_standard(name) || name.rfind("raw.", 0) == 0) continue;
    if (const array::Node node = root.child(name)) add(name, node, true);
  }
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
  const bool old = !root.attributes().string("encoding-type");
  for (const std::string name : kStandard) {
    const array::Node node = root.child(name);
    if (name == "X" || name == "raw") {
      if (node.group && name == "raw" && classify(node).type != "null") add_raw("raw", *node.group);
      else if (node) add(name, node, true);
    } else if (name == "uns" && old) {
      add_old_uns(root, {});
    } else {
      add_standard_group(name, node);
    }
  }
  add_others(root);
}

// Before 0.8: the graphs of neighbours stood in uns until they got obsp.
void RecipeMaker::add_old_uns(const array::Group& root, const std::set<std::string>& used_categories) {
  const array::Node uns = root.child("uns");
  add_group("uns", "dict", "0.1.0", uns.group ? uns.group->attributes() : array::Attributes());
  if (!uns.group) return;
  const array::Node obsp = root.child("obsp");
  const int64_t n_obs = length_of(root.child("obs"));
  auto moves = [&](const std::string& name, const array::Node& node) {
    return (name == "distances" || name == "connectivities") && shape_of(node) == Shape{n_obs, n_obs} &&
           !(obsp.group && obsp.group->child(name));
  };
  for (const std::string& name : uns.group->children()) {
    const array::Node node = uns.group->child(name);
    if (!node || used_categories.count(name) > 0) continue;
    if (name != "neighbors" || !node.group || classify(node).kind != ElementKind::Plain) {
      add(join("uns", name), node, true);
      continue;
    }
    add_group("uns/neighbors", "dict", "0.1.0", node.group->attributes());
    for (const std::string& one : node.group->children()) {
      if (const array::Node part = node.group->child(one))
        add(join(moves(one, part) ? "obsp" : "uns/neighbors", one), part, true);
    }
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
  add_old_uns(root, used);
  add_old_raw(root);
  add_others(root);
}

bool RecipeMaker::add_old_part(const array::Group& root, const std::string& element, const array::Node& node) {
  if (!node.array || node.array->spec().type.kind != TypeKind::Struct) return false;
  const size_t begin = std::min(element.find_first_not_of('/'), element.size());
  const std::string name = element.substr(begin, element.find_last_not_of('/') + 1 - begin);
  std::set<std::string> used;
  if (name == "obs" || name == "var" || name == "raw.var") add_record_frame("", node.array, root.child("uns"), used);
  else if (name == "obsm" || name == "varm" || name == "raw.varm") add_record_arrays("", node.array);
  else return false;
  return true;
}

void RecipeMaker::add_old_raw(const array::Group& root) {
  const array::Node x = root.child("raw.X"), raw = root.child("raw");
  if (x && raw) corrupt("raw", "the file has both raw and raw.X, of two ages");
  if (raw.group) return add_raw("raw", *raw.group);
  if (!x) return;
  const array::Node uns = root.child("uns");
  std::set<std::string> used;
  add_group("raw", "raw", "0.1.0");
  add("raw/X", x, true);
  const array::Node var = root.child("raw.var"), varm = root.child("raw.varm");
  if (var.array) add_record_frame("raw/var", var.array, uns, used);
  else if (var) add("raw/var", var, true);
  if (varm.array) add_record_arrays("raw/varm", varm.array);
  else add_group("raw/varm", "dict", "0.1.0");
}

}  // namespace lamella::anndata
