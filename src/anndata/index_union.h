#pragma once

#include <algorithm>
#include <set>
#include <vector>

namespace lamella::anndata {

// pandas' Index.union of lists without duplicates: the left one as it is when the other is equal or empty, else all
// values sorted (strings by code point, which is the order of UTF-8 bytes).
template <class T>
std::vector<T> index_union(const std::vector<T>& a, const std::vector<T>& b) {
  if (b.empty() || a == b) return a;
  if (a.empty()) return b;
  std::set<T> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  return {all.begin(), all.end()};
}

// pandas' Index.intersection: in the order of the first.
template <class T>
std::vector<T> index_intersection(const std::vector<T>& a, const std::vector<T>& b) {
  if (a == b) return a;
  const std::set<T> other(b.begin(), b.end());
  std::vector<T> out;
  std::copy_if(a.begin(), a.end(), std::back_inserter(out), [&](const T& one) { return other.count(one) > 0; });
  return out;
}

}  // namespace lamella::anndata
