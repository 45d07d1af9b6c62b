#include "anndata/subset.h"

#include <functional>

#include "anndata/awkward.h"
#include "anndata/element.h"
#include "base/error.h"
#include "matrix/select.h"

namespace lamella::anndata {
namespace {

using lazy::Picks;
using lazy::Stride;
using Change = std::function<TreePtr(const TreePtr&)>;

Picks all_of(int64_t n) { return Stride{0, 1, n}; }

bool is_all(const Picks& picks, int64_t n) { return picks.count() == n && picks.is_run(); }

// The same group with each child changed when it is asked for.
std::shared_ptr<Tree> with_children(const TreePtr& tree, const Change& change) {
  auto out = std::make_shared<Tree>();
  out->attributes = tree->attributes;
  out->name = tree->name;
  for (const std::string& name : tree->children())
    out->add(name, [tree, name, change] { return change(tree->child(name)); });
  return out;
}

TreePtr with_values(const TreePtr& tree, lazy::ExprPtr values) {
  auto out = std::make_shared<Tree>();
  out->attributes = tree->attributes;
  out->name = tree->name;
  if (tree->like) {
    out->like = tree->like;
    out->like->shape = values->shape();
    out->like->max_shape = {};
  }
  out->values = std::move(values);
  return out;
}

TreePtr take_matrix(const TreePtr& tree, const Picks& rows, const Picks& columns) {
  if (is_all(rows, tree->shape()[0]) && is_all(columns, tree->shape()[1])) return tree;
  const matrix::Matrix taken = matrix::take(tree->matrix(), rows, columns);
  if (taken.dense) return with_values(tree, taken.dense);
  auto out = std::make_shared<Tree>();
  out->attributes = tree->attributes;
  out->name = tree->name;
  out->sparse = taken.sparse;
  for (const std::string& name : tree->children()) out->add(name, [tree, name] { return tree->child(name); });
  return out;
}

// Along the first two axes; what has one only, or is no matrix, along that.
TreePtr take_both(const TreePtr& tree, const Picks& rows, const Picks& columns) {
  if (tree->sparse || (tree->values && tree->values->shape().size() == 2 && tree->values->type().is_numeric()))
    return take_matrix(tree, rows, columns);
  return take_rows(tree, rows);
}

}  // namespace

TreePtr take_rows(const TreePtr& tree, const Picks& rows) {
  if (tree->is_null) return tree;
  if (tree->sparse) return take_matrix(tree, rows, all_of(tree->shape()[1]));
  if (tree->values) {
    const Shape& shape = tree->values->shape();
    if (shape.empty()) return tree;
    if (is_all(rows, shape[0])) return tree;
    std::vector<Picks> picks{rows};
    for (size_t axis = 1; axis < shape.size(); ++axis) picks.push_back(all_of(shape[axis]));
    return with_values(tree, lazy::take(tree->values, std::move(picks)));
  }
  const std::string encoding = tree->encoding();
  if (encoding == "awkward-array") return take_awkward(tree, rows);
  if (encoding == "categorical") {
    auto out = std::make_shared<Tree>();
    out->attributes = tree->attributes;
    out->name = tree->name;
    for (const std::string& name : tree->children()) {
      out->add(name, [tree, name, rows] {
        const TreePtr child = tree->child(name);
        return name == "codes" ? take_rows(child, rows) : child;
      });
    }
    return out;
  }
  const bool known = encoding == "dataframe" || encoding.rfind("nullable-", 0) == 0;
  if (!known) throw Error(ErrorKind::Unsupported, tree->name + ": rows of an element of encoding '" + encoding + "'");
  return with_children(tree, [rows](const TreePtr& child) { return take_rows(child, rows); });
}

Store subset(const Store& store, const Picks& obs, const Picks& var) {
  const TreePtr root = store.root;
  if (root->encoding() != "anndata") throw Error(ErrorKind::Invalid, root->name + ": is no AnnData");
  obs.check(root->child("obs")->length(), 0);
  var.check(root->child("var")->length(), 1);
  auto out = std::make_shared<Tree>();
  out->attributes = root->attributes;
  out->name = root->name;
  for (const std::string& name : root->children()) {
    out->add(name, [root, name, obs, var]() -> TreePtr {
      const TreePtr part = root->child(name);
      const auto each = [&](const Change& change) { return TreePtr(with_children(part, change)); };
      if (name == "X") return part->is_null ? part : take_both(part, obs, var);
      if (name == "layers") return each([=](const TreePtr& one) { return take_both(one, obs, var); });
      if (name == "obs") return take_rows(part, obs);
      if (name == "var") return take_rows(part, var);
      if (name == "obsm") return each([=](const TreePtr& one) { return take_rows(one, obs); });
      if (name == "varm") return each([=](const TreePtr& one) { return take_rows(one, var); });
      if (name == "obsp") return each([=](const TreePtr& one) { return take_both(one, obs, obs); });
      if (name == "varp") return each([=](const TreePtr& one) { return take_both(one, var, var); });
      if (name != "raw" || part->is_null) return part;
      auto raw = std::make_shared<Tree>();
      raw->attributes = part->attributes;
      raw->name = part->name;
      for (const std::string& one : part->children()) {
        raw->add(one, [part, one, obs] {
          const TreePtr child = part->child(one);
          return one == "X" ? take_rows(child, obs) : child;
        });
      }
      return raw;
    });
  }
  return {out, store.inputs, "lazy"};
}

}  // namespace lamella::anndata
