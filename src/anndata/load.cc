#include "anndata/load.h"

#include <algorithm>
#include <map>

#include "anndata/loader.h"
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

void Loader::corrupt(const std::string& element, const std::string& what) const {
  throw Error(ErrorKind::Corrupt, file_ + ": /" + element + ": " + what);
}

std::shared_ptr<Tree> Loader::start(const std::string& path, array::Attributes attributes) const {
  auto out = std::make_shared<Tree>();
  out->attributes = std::move(attributes);
  out->name = file_ + ": /" + path;
  return out;
}

void Loader::add_child(Tree& tree, const std::string& name, const std::string& path, const array::Node& node,
                       bool encoded) const {
  tree.add(name, [self = shared_from_this(), path, node, encoded] { return self->element(path, node, encoded); });
}

void Loader::add_children(Tree& tree, const std::string& path, const array::Group& group, bool encoded) const {
  for (const std::string& name : group.children()) {
    if (const array::Node child = group.child(name)) add_child(tree, name, join(path, name), child, encoded);
  }
}

void Loader::check_parts(const std::string& path, const array::Group& group, const std::string& type) const {
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

TreePtr Loader::element(const std::string& path, const array::Node& node, bool encoded) const {
  if (node.array) return array(path, node.array, encoded);
  if (std::count(path.begin(), path.end(), '/') > kMostLevels) corrupt(path, "groups nested deeper than 256 levels");
  const array::Group& group = *node.group;
  const Element element = classify(node);
  switch (element.kind) {
    case ElementKind::AnnData:
      if (path.empty()) return root(group);
      break;
    case ElementKind::Sparse:
    case ElementKind::OldSparse: return sparse(path, group);
    case ElementKind::DataFrame: return frame(path, group);
    case ElementKind::OldDataFrame: return old_frame(path, group);
    case ElementKind::Plain:
      if (encoded) {
        array::Attributes attributes = encoding("dict", "0.1.0");
        for (const auto& [name, attribute] : group.attributes()) attributes.set(name, attribute);
        auto out = start(path, std::move(attributes));
        add_children(*out, path, group, encoded);
        return out;
      }
      break;
    default: check_parts(path, group, element.type);
  }
  auto out = start(path, group.attributes());
  add_children(*out, path, group, encoded);
  return out;
}

Store load(const array::Opened& opened, const std::string& path, const std::string& element) {
  const auto loader = std::make_shared<const Loader>(path);
  Store out{nullptr, {path}, opened.format};
  array::Node node = opened.root;
  const auto holds_anndata = [](const array::Node& one) { return one.group && anndata::is_anndata(*one.group); };
  // Parts of an AnnData look as they do in the whole.
  const bool encoded = holds_anndata(node);
  const size_t begin = std::min(element.find_first_not_of('/'), element.size());
  const std::string place = element.substr(begin, element.find_last_not_of('/') + 1 - begin);
  if (!place.empty()) {
    if (!opened.root.group)
      throw Error(ErrorKind::NotFound, path + ": is a single array and has no element '" + element + "'");
    node = opened.root.group->at(place);
    if (encoded) out.root = loader->old_part(*opened.root.group, place, node);
  }
  if (!out.root && holds_anndata(node)) out.root = loader->root(*node.group);
  if (!out.root) out.root = loader->element(place, node, encoded);
  return out;
}

std::vector<Store> load_many(const std::vector<std::string>& paths) {
  std::vector<Store> stores(paths.size());
  ThreadPool::shared().parallel_for(static_cast<int64_t>(paths.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    stores[at] = load(array::open(paths[at]), paths[at]);
  });
  return stores;
}

}  // namespace lamella::anndata
