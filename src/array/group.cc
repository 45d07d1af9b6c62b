#include <algorithm>

#include "array/array.h"
#include "base/error.h"

namespace lamella::array {

const Attributes& Node::attributes() const { return array ? array->attributes() : group->attributes(); }

Node Group::child(const std::string& name) const {
  constexpr size_t kMostKept = 32;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = opened_.find(name); found != opened_.end()) return found->second;
  }
  Node node = open_child(name);
  std::lock_guard lock(mutex_);
  if (opened_.size() >= kMostKept) opened_.clear();
  opened_[name] = node;
  return node;
}

Node Group::at(const std::string& path) const {
  const Group* here = this;
  Node node;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    if (here == nullptr) {
      throw Error(ErrorKind::NotFound, node.array->name() + ": is an array and has no element '" + part + "'");
    }
    Node next = here->child(part);
    if (!next) {
      std::string there;
      for (const std::string& name : here->children()) there += (there.empty() ? "" : ", ") + name;
      throw Error(ErrorKind::NotFound, here->name() + ": has no element '" + part + "'" +
                                           (there.empty() ? "; it is empty" : "; it has " + there));
    }
    node = next;
    here = node.group.get();
  }
  if (!node) throw Error(ErrorKind::Invalid, name() + ": the path of an element is empty");
  return node;
}

}  // namespace lamella::array
