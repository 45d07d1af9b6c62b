#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace lamella::anndata {

// What a value is looked up by.
template <class T>
struct LookupKey {
  using type = T;
};
template <>
struct LookupKey<std::string> {
  using type = std::string_view;
};
template <class T>
using LookupSet = std::unordered_set<typename LookupKey<T>::type>;

// pandas' Index.union of one list after the other, none with duplicates: the first that is not empty as it is, if those
// that are not empty are all the same, else all values sorted (strings by code point, the order of UTF-8 bytes).
template <class T>
std::vector<T> index_union(const std::vector<const std::vector<T>*>& lists) {
  const auto filled = [](const std::vector<T>* list) { return !list->empty(); };
  const auto first = std::find_if(lists.begin(), lists.end(), filled);
  if (first == lists.end()) return {};
  if (std::all_of(first, lists.end(), [&](const auto* list) { return list->empty() || *list == **first; }))
    return **first;
  LookupSet<T> all;
  for (const auto* list : lists) all.insert(list->begin(), list->end());
  std::vector<T> out(all.begin(), all.end());
  std::sort(out.begin(), out.end());
  return out;
}

// pandas' Index.intersection of one list after the other: in the order of the first.
template <class T>
std::vector<T> index_intersection(const std::vector<const std::vector<T>*>& lists) {
  std::vector<T> out = *lists.front();
  for (const auto* list : lists) {
    if (*list == out) continue;
    const LookupSet<T> other(list->begin(), list->end());
    std::erase_if(out, [&](const T& one) { return other.count(one) == 0; });
  }
  return out;
}

}  // namespace lamella::anndata
