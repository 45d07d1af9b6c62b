#include "anndata/recipe_maker.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace lamella::anndata {
namespace {

constexpr int64_t kMostLevels = 256;  // of groups in groups; who nests deeper wants to exhaust the stack

// What a group of an encoding cannot do without.
const std::map<std::string, std::vector<const char*>> kParts = {
    {"categorical", {"codes", "categories"}},
    {"nullable-integer", {"values", "mask"}},
    {"nullable-boolean", {"values", "mask"}},
    {"nullable-string-array", {"values", "mask"}},
};

}  // namespace

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

array::Attributes encoding(const char* type, const char* version) {
  array::Attributes out;
  if (type == nullptr) return out;
  out.set("encoding-type", Json(type));
  out.set("encoding-version", Json(version));
  return out;
}

void RecipeMaker::corrupt(const std::string& element, const std::string& what) const {
  throw Error(ErrorKind::Corrupt, file_ + ": /" + element + ": " + what);
}

void RecipeMaker::add_group(const std::string& path, const char* type, const char* version,
                            array::Attributes attributes) {
  array::Attributes all = encoding(type, version);
  for (const auto& [name, attribute] : attributes) all.set(name, attribute);
  recipe_.items.push_back(plan::GroupItem{path, std::move(all)});
}

void RecipeMaker::add_children(const std::string& path, const array::Group& group, bool encoded) {
  for (const std::string& name : group.children()) {
    if (const array::Node child = group.child(name)) add(join(path, name), child, encoded);
  }
}

void RecipeMaker::check_parts(const std::string& path, const array::Group& group, const std::string& type) const {
  const auto parts = kParts.find(type);
  if (parts == kParts.end()) return;
  for (const char* name : parts->second) {
    if (!group.child(name)) corrupt(path, type + " without " + name);
  }
  const int64_t values = length_of(group.child("values")), mask = length_of(group.child("mask"));
  if (values != mask) {
    corrupt(path, type + " with " + std::to_string(values) + " values and a mask for " + std::to_string(mask));
  }
}

void RecipeMaker::add(const std::string& path, const array::Node& node, bool encoded) {
  if (node.array) return add_array(path, node.array, encoded);
  if (std::count(path.begin(), path.end(), '/') > kMostLevels) corrupt(path, "groups nested deeper than 256 levels");
  const array::Group& group = *node.group;
  const Element element = classify(node);
  switch (element.kind) {
    case ElementKind::AnnData:
      if (path.empty()) return add_root(group);
      break;
    case ElementKind::Sparse:
    case ElementKind::OldSparse: return add_sparse(path, group);
    case ElementKind::DataFrame: return add_frame(path, group);
    case ElementKind::OldDataFrame: return add_old_frame(path, group);
    case ElementKind::Plain:
      if (encoded) {
        add_group(path, "dict", "0.1.0", group.attributes());
        return add_children(path, group, encoded);
      }
      break;
    default: check_parts(path, group, element.type);
  }
  recipe_.items.push_back(plan::GroupItem{path, group.attributes()});
  add_children(path, group, encoded);
}

}  // namespace lamella::anndata
