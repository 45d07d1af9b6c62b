#include "anndata/tree.h"

#include <algorithm>

#include "anndata/element.h"
#include "base/error.h"

namespace lamella::anndata {

void Tree::add(const std::string& child, Maker maker) {
  auto slot = std::make_shared<Slot>();
  slot->maker = std::move(maker);
  names_.push_back(child);
  slots_.push_back(std::move(slot));
}

void Tree::add(const std::string& child, TreePtr tree) {
  add(child, [tree = std::move(tree)] { return tree; });
}

bool Tree::has(const std::string& child) const {
  return std::find(names_.begin(), names_.end(), child) != names_.end();
}

TreePtr Tree::child(const std::string& child) const {
  const auto at = std::find(names_.begin(), names_.end(), child);
  if (at == names_.end()) return nullptr;
  Slot& slot = *slots_[static_cast<size_t>(at - names_.begin())];
  std::call_once(slot.once, [&] { slot.tree = slot.maker(); });
  return slot.tree;
}

TreePtr Tree::at(const std::string& path) const {
  const Tree* here = this;
  TreePtr found;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    found = here->child(part);
    if (!found) {
      std::string there;
      for (const std::string& one : here->children()) there += (there.empty() ? "" : ", ") + one;
      throw Error(ErrorKind::NotFound, here->name + ": has no element '" + part + "'" +
                                           (there.empty() ? "; it is empty" : "; it has " + there));
    }
    here = found.get();
  }
  if (!found) throw Error(ErrorKind::Invalid, name + ": the path of an element is empty");
  return found;
}

matrix::Matrix Tree::matrix() const {
  if (sparse) return {nullptr, sparse};
  if (values && values->shape().size() == 2 && values->type().is_numeric()) return {values, nullptr};
  throw Error(ErrorKind::Invalid, name + ": is no matrix of numbers");
}

Shape Tree::shape() const { return sparse ? sparse->shape() : values ? values->shape() : Shape(); }

int64_t Tree::length() const {
  if (!is_group()) return shape().empty() ? -1 : shape()[0];
  if (const array::Attribute* length = attributes.find("length"); length != nullptr && encoding() == "awkward-array")
    return length_in(length->value);
  if (const auto index = attributes.string("_index")) {
    const TreePtr column = child(*index);
    return column ? column->length() : -1;
  }
  for (const char* part : {"values", "codes"}) {
    if (const TreePtr column = child(part)) return column->is_array() ? column->length() : -1;
  }
  return -1;
}

std::shared_ptr<Tree> make_group(const char* type, const char* version) {
  auto out = std::make_shared<Tree>();
  out->attributes = encoding(type, version);
  return out;
}

TreePtr make_array(lazy::ExprPtr values) {
  auto out = std::make_shared<Tree>();
  out->attributes = implied_encoding(*values);
  out->values = std::move(values);
  return out;
}

TreePtr make_sparse(matrix::SparsePtr sparse) {
  auto out = std::make_shared<Tree>();
  const bool csr = sparse->layout() == matrix::Layout::Csr;
  out->attributes = encoding(csr ? "csr_matrix" : "csc_matrix", "0.1.0");
  out->name = sparse->name();
  out->sparse = std::move(sparse);
  return out;
}

TreePtr make_matrix(const matrix::Matrix& matrix) {
  return matrix.sparse ? make_sparse(matrix.sparse) : make_array(matrix.dense);
}

}  // namespace lamella::anndata
