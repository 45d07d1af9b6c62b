#include <algorithm>
#include <set>

#include "anndata/concat_parts.h"
#include "anndata/values.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

bool is_dict(const Tree& tree) { return tree.is_group() && (tree.encoding() == "dict" || tree.encoding().empty()); }

bool all_equal(const std::vector<TreePtr>& values) {
  return std::all_of(values.begin() + 1, values.end(),
                     [&](const TreePtr& value) { return equal_elements(values.front(), value); });
}

}  // namespace

Merge parse_merge(const std::string& text) {
  if (text.empty() || text == "none") return Merge::None;
  if (text == "same") return Merge::Same;
  if (text == "unique") return Merge::Unique;
  if (text == "first") return Merge::First;
  if (text == "only") return Merge::Only;
  throw Error(ErrorKind::Invalid, "merge '" + text + "': one of none, same, unique, first, only");
}

std::vector<std::string> keys_in_any(const std::vector<std::vector<std::string>>& keys) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& some : keys) {
    for (const std::string& key : some) {
      if (seen.insert(key).second) out.push_back(key);
    }
  }
  return out;
}

std::vector<std::string> keys_in_all(const std::vector<std::vector<std::string>>& keys) {
  if (keys.empty()) return {};
  std::vector<std::string> out = keys.front();
  for (size_t i = 1; i < keys.size(); ++i) {
    const std::set<std::string> some(keys[i].begin(), keys[i].end());
    std::erase_if(out, [&](const std::string& key) { return some.count(key) == 0; });
  }
  return out;
}

std::vector<std::string> merge_keys(Merge strategy, const std::vector<std::vector<std::string>>& keys) {
  if (strategy == Merge::None) return {};
  return strategy == Merge::Same ? keys_in_all(keys) : keys_in_any(keys);
}

TreePtr merge_values(Merge strategy, const std::vector<TreePtr>& values) {
  if (values.empty() || strategy == Merge::None) return nullptr;
  if (strategy == Merge::First) return values.front();
  if (strategy == Merge::Only) return values.size() == 1 ? values.front() : nullptr;
  return all_equal(values) ? values.front() : nullptr;
}

TreePtr merge_dicts(Merge strategy, const std::vector<TreePtr>& dicts) {
  std::vector<std::vector<std::string>> keys;
  for (const TreePtr& dict : dicts) keys.push_back(dict->children());
  auto out = make_group("dict", "0.1.0");
  for (const std::string& key : merge_keys(strategy, keys)) {
    std::vector<TreePtr> values;
    for (const TreePtr& dict : dicts) {
      if (TreePtr value = dict->child(key)) values.push_back(std::move(value));
    }
    const bool nested =
        !values.empty() && std::all_of(values.begin(), values.end(), [](const TreePtr& v) { return is_dict(*v); });
    if (!nested) {
      if (TreePtr value = merge_values(strategy, values)) out->add(key, std::move(value));
      continue;
    }
    TreePtr inner = merge_dicts(strategy, values);
    if (!inner->children().empty()) out->add(key, std::move(inner));
  }
  return out;
}

}  // namespace lamella::anndata
