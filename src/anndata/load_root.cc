#include <algorithm>

#include "anndata/loader.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

constexpr const char* kStandard[] = {"X", "layers", "obs", "obsm", "obsp", "uns", "var", "varm", "varp", "raw"};

bool is_standard(const std::string& name) {
  return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

// Did the graph of neighbours stand in uns, until there was obsp?
bool is_moved(const array::Group& root, const std::string& name, const array::Node& node) {
  if (name != "distances" && name != "connectivities") return false;
  const int64_t n_obs = length_of(root.child("obs"));
  const array::Node obsp = root.child("obsp");
  return shape_of(node) == Shape{n_obs, n_obs} && !(obsp.group && obsp.group->child(name));
}

array::Node neighbors_of(const array::Group& root) {
  const array::Node uns = root.child("uns");
  const array::Node node = uns.group ? uns.group->child("neighbors") : array::Node();
  return node.group && classify(node).kind == ElementKind::Plain ? node : array::Node();
}

}  // namespace

// What does not fit the annotation is refused, not carried on just as wrong as it is.
void Loader::check_shape(const std::string& path, const array::Node& node, int64_t rows, int64_t columns, int64_t n_obs,
                         int64_t n_var) const {
  const Shape shape = shape_of(node);
  const int64_t length = length_of(node);
  const bool fits =
      (rows < 0 || length < 0 || length == rows) && (columns < 0 || shape.size() < 2 || shape[1] == columns);
  if (fits) return;
  corrupt(path, "has " + (shape.empty() ? std::to_string(length) + " rows" : "shape " + to_string(shape)) +
                    ", but obs has " + std::to_string(n_obs) + " and var " + std::to_string(n_var) + " rows");
}

// layers, obsm and their like: each member is checked when it is opened.
TreePtr Loader::aligned(const array::Group& root, const std::string& name, int64_t rows, int64_t columns) const {
  const array::Node node = root.child(name);
  const int64_t n_obs = length_of(root.child("obs")), n_var = length_of(root.child("var"));
  if (!node) {
    auto out = start(name, encoding("dict", "0.1.0"));
    if (name == "obsp") add_moved_graphs(*out, root);
    return out;
  }
  if (!node.group) return element(name, node, true);
  array::Attributes attributes = classify(node).type.empty() ? encoding("dict", "0.1.0") : array::Attributes();
  for (const auto& [key, attribute] : node.group->attributes()) attributes.set(key, attribute);
  auto out = start(name, std::move(attributes));
  for (const std::string& one : node.group->children()) {
    const array::Node child = node.group->child(one);
    if (!child) continue;
    const std::string path = join(name, one);
    out->add(one, [self = shared_from_this(), path, child, rows, columns, n_obs, n_var] {
      self->check_shape(path, child, rows, columns, n_obs, n_var);
      return self->element(path, child, true);
    });
  }
  if (name == "obsp") add_moved_graphs(*out, root);
  return out;
}

void Loader::add_moved_graphs(Tree& obsp, const array::Group& root) const {
  if (root.attributes().string("encoding-type")) return;
  const array::Node neighbors = neighbors_of(root);
  if (!neighbors) return;
  for (const std::string& one : neighbors.group->children()) {
    const array::Node part = neighbors.group->child(one);
    if (part && is_moved(root, one, part)) add_child(obsp, one, join("obsp", one), part, true);
  }
}

TreePtr Loader::raw(const array::Group& raw) const {
  array::Attributes attributes = encoding("raw", "0.1.0");
  for (const auto& [name, attribute] : raw.attributes()) {
    if (name != "encoding-type" && name != "encoding-version" && name != "shape") attributes.set(name, attribute);
  }
  auto out = start("raw", std::move(attributes));
  add_children(*out, "raw", raw, true);
  if (!raw.child("varm")) out->add("varm", start("raw/varm", encoding("dict", "0.1.0")));
  return out;
}

// What no AnnData has at its root, and somebody put there.
void Loader::add_others(Tree& tree, const array::Group& root) const {
  for (const std::string& name : root.children()) {
    // "raw.X" and its like are the raw of before 0.7, and anndata skips whatever else is called so.
    if (is_standard(name) || name.rfind("raw.", 0) == 0) continue;
    if (const array::Node node = root.child(name)) add_child(tree, name, name, node, true);
  }
}

TreePtr Loader::root(const array::Group& root) const {
  const array::Node obs = root.child("obs"), var = root.child("var");
  if (!obs || !var) corrupt("", std::string("an AnnData without ") + (obs ? "var" : "obs"));
  if (obs.array) return old_root(root);
  const bool old = !root.attributes().string("encoding-type");
  const int64_t n_obs = length_of(obs), n_var = length_of(var);
  array::Attributes attributes = root.attributes();
  for (const auto& [name, attribute] : encoding("anndata", "0.1.0")) attributes.set(name, attribute);
  auto out = start("", std::move(attributes));
  if (const array::Node x = root.child("X")) {
    check_shape("X", x, n_obs, n_var, n_obs, n_var);
    add_child(*out, "X", "X", x, true);
  }
  out->add("layers", aligned(root, "layers", n_obs, n_var));
  add_child(*out, "obs", "obs", obs, true);
  out->add("obsm", aligned(root, "obsm", n_obs, -1));
  out->add("obsp", aligned(root, "obsp", n_obs, n_obs));
  const array::Node uns = root.child("uns");
  if (old) out->add("uns", old_uns(root, {}));
  else if (uns) add_child(*out, "uns", "uns", uns, true);
  else out->add("uns", start("uns", encoding("dict", "0.1.0")));
  add_child(*out, "var", "var", var, true);
  out->add("varm", aligned(root, "varm", n_var, -1));
  out->add("varp", aligned(root, "varp", n_var, n_var));
  if (const array::Node node = root.child("raw")) {
    if (node.group && classify(node).type != "null")
      out->add("raw", [self = shared_from_this(), node] { return self->raw(*node.group); });
    else add_child(*out, "raw", "raw", node, true);
  }
  add_others(*out, root);
  return out;
}

// Before 0.8.
TreePtr Loader::old_uns(const array::Group& root, const std::set<std::string>& used_categories) const {
  const array::Node uns = root.child("uns");
  array::Attributes attributes = encoding("dict", "0.1.0");
  if (uns.group) {
    for (const auto& [name, attribute] : uns.group->attributes()) attributes.set(name, attribute);
  }
  auto out = start("uns", std::move(attributes));
  if (!uns.group) return out;
  const array::Node neighbors = neighbors_of(root);
  for (const std::string& name : uns.group->children()) {
    const array::Node node = uns.group->child(name);
    if (!node || used_categories.count(name) > 0) continue;
    if (name != "neighbors" || !neighbors) {
      add_child(*out, name, join("uns", name), node, true);
      continue;
    }
    array::Attributes of_group = encoding("dict", "0.1.0");
    for (const auto& [key, attribute] : node.group->attributes()) of_group.set(key, attribute);
    auto kept = start("uns/neighbors", std::move(of_group));
    for (const std::string& one : node.group->children()) {
      const array::Node part = node.group->child(one);
      if (part && !is_moved(root, one, part)) add_child(*kept, one, join("uns/neighbors", one), part, true);
    }
    out->add(name, kept);
  }
  return out;
}

// Before 0.7: annotation as arrays of records, categories in uns, raw beside the rest.
TreePtr Loader::old_root(const array::Group& root) const {
  const array::Node uns = root.child("uns"), obs = root.child("obs"), var = root.child("var");
  const int64_t n_obs = length_of(obs), n_var = length_of(var);
  if (!var.array) corrupt("var", "is no array of records although obs is one");
  std::set<std::string> used;
  array::Attributes attributes = root.attributes();
  for (const auto& [name, attribute] : encoding("anndata", "0.1.0")) attributes.set(name, attribute);
  auto out = start("", std::move(attributes));
  if (const array::Node x = root.child("X")) {
    check_shape("X", x, n_obs, n_var, n_obs, n_var);
    add_child(*out, "X", "X", x, true);
  }
  out->add("obs", record_frame("obs", obs.array, uns, used));
  out->add("var", record_frame("var", var.array, uns, used));
  for (const auto& [name, rows] : {std::pair{"obsm", n_obs}, {"varm", n_var}}) {
    const array::Node node = root.child(name);
    if (node.array) check_shape(name, node, rows, -1, n_obs, n_var);
    out->add(name, node.array ? record_arrays(name, node.array) : aligned(root, name, rows, -1));
  }
  out->add("layers", aligned(root, "layers", n_obs, n_var));
  out->add("obsp", aligned(root, "obsp", n_obs, n_obs));
  out->add("varp", aligned(root, "varp", n_var, n_var));
  out->add("uns", old_uns(root, used));
  if (const TreePtr raw = old_raw(root)) out->add("raw", raw);
  add_others(*out, root);
  return out;
}

TreePtr Loader::old_raw(const array::Group& root) const {
  const array::Node x = root.child("raw.X"), node = root.child("raw");
  if (x && node) corrupt("raw", "the file has both raw and raw.X, of two ages");
  if (node.group) return raw(*node.group);
  if (!x) return nullptr;
  const array::Node uns = root.child("uns");
  std::set<std::string> used;
  auto out = start("raw", encoding("raw", "0.1.0"));
  add_child(*out, "X", "raw/X", x, true);
  const array::Node var = root.child("raw.var"), varm = root.child("raw.varm");
  if (var.array) out->add("var", record_frame("raw/var", var.array, uns, used));
  else if (var) add_child(*out, "var", "raw/var", var, true);
  if (varm.array) out->add("varm", record_arrays("raw/varm", varm.array));
  else out->add("varm", start("raw/varm", encoding("dict", "0.1.0")));
  return out;
}

TreePtr Loader::old_part(const array::Group& root, const std::string& name, const array::Node& node) const {
  if (!node.array || node.array->spec().type.kind != TypeKind::Struct) return nullptr;
  std::set<std::string> used;
  if (name == "obs" || name == "var" || name == "raw.var")
    return record_frame(name, node.array, root.child("uns"), used);
  if (name == "obsm" || name == "varm" || name == "raw.varm") return record_arrays(name, node.array);
  return nullptr;
}

}  // namespace lamella::anndata
