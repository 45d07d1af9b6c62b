#include "anndata/recipe_maker.h"

#include "base/error.h"

namespace lamella::anndata {

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

void RecipeMaker::add(const std::string& path, const array::Node& node, bool encoded) {
  if (node.array) return add_array(path, node.array, encoded);
  const array::Group& group = *node.group;
  switch (classify(node).kind) {
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
    default: break;
  }
  recipe_.items.push_back(plan::GroupItem{path, group.attributes()});
  add_children(path, group, encoded);
}

}  // namespace lamella::anndata
