#include "anndata/union_categories.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <variant>

#include "anndata/index_union.h"
#include "anndata/values.h"
#include "base/convert.h"
#include "base/error.h"
#include "base/natural_order.h"
#include "base/promote.h"

namespace lamella::anndata {
namespace {

bool is_ordered(const Tree& categorical) {
  const array::Attribute* ordered = categorical.attributes.find("ordered");
  return ordered != nullptr && (ordered->value == true || ordered->value == 1);
}

template <class T>
struct Lists {
  std::vector<std::vector<T>> of_columns;
  std::vector<T> united;
};

template <class T, class Less>
std::optional<CategoryUnion> unite(const std::vector<std::vector<T>>& lists, bool any_ordered, bool all_ordered,
                                   const Less& natural, std::vector<T>& united) {
  CategoryUnion out;
  if (all_ordered) {
    const std::vector<T>* same = nullptr;
    for (const auto& list : lists) {
      if (list.empty()) continue;
      if (same != nullptr && *same != list) return std::nullopt;
      same = &list;
    }
    if (same != nullptr) united = *same;
    out.ordered = true;
  } else {
    if (any_ordered) return std::nullopt;
    std::vector<const std::vector<T>*> all;
    for (const auto& list : lists) all.push_back(&list);
    united = index_union(all);
    if (united.size() == lists.front().size()) united = lists.front();
    else std::stable_sort(united.begin(), united.end(), natural);
  }
  std::map<T, int64_t> place;
  for (size_t i = 0; i < united.size(); ++i) place[united[i]] = static_cast<int64_t>(i);
  for (const auto& list : lists) {
    std::vector<int64_t> map;
    for (const T& one : list) map.push_back(place.at(one));
    out.maps.push_back(std::move(map));
  }
  out.size = static_cast<int64_t>(united.size());
  return out;
}

template <class T>
std::vector<T> numbers(const lazy::ExprPtr& values, const DType& type) {
  Heap heap;
  const Buffer raw = lazy::cast(values, type)->read_all(heap);
  std::vector<T> out(static_cast<size_t>(count(values->shape())));
  if (!out.empty()) std::memcpy(out.data(), raw.data(), out.size() * sizeof(T));
  return out;
}

template <class T>
std::optional<CategoryUnion> unite_numbers(const std::vector<TreePtr>& categories, const DType& wide, const DType& type,
                                           bool any_ordered, bool all_ordered) {
  std::vector<std::vector<T>> lists;
  for (const TreePtr& one : categories) lists.push_back(numbers<T>(one->values, wide));
  std::vector<T> united;
  auto out = unite(lists, any_ordered, all_ordered, std::less<T>(), united);
  if (!out) return out;
  Buffer raw(static_cast<int64_t>(united.size() * sizeof(T)));
  if (!united.empty()) std::memcpy(raw.data(), united.data(), united.size() * sizeof(T));
  out->categories = make_array(lazy::cast(lazy::in_memory({out->size}, wide, std::move(raw)), type));
  return out;
}

}  // namespace

std::optional<CategoryUnion> unite_categories(const std::vector<TreePtr>& columns) {
  std::vector<TreePtr> categories;
  bool any_ordered = false, all_ordered = true, strings = false, others = false;
  std::optional<DType> type;
  for (const TreePtr& column : columns) {
    any_ordered |= is_ordered(*column);
    all_ordered &= is_ordered(*column);
    TreePtr one = column->child("categories");
    const bool text =
        one->encoding() == "nullable-string-array" || (one->values && one->values->type().kind == TypeKind::String);
    // An empty list has whatever type its writer chose.
    if (one->length() > 0) (text ? strings : others) = true;
    if (!text && one->values && one->values->type().is_numeric())
      type = type ? promote(*type, one->values->type()) : little_endian(one->values->type());
    categories.push_back(std::move(one));
  }
  if (strings && others) return std::nullopt;
  if (!others) {
    std::vector<std::vector<std::string>> lists;
    for (const TreePtr& one : categories)
      lists.push_back(one->length() > 0 ? read_strings(*one) : std::vector<std::string>());
    std::vector<std::string> united;
    auto out = unite(lists, any_ordered, all_ordered, natural_less, united);
    if (out) out->categories = make_array(lazy::strings(united));
    return out;
  }
  for (TreePtr& one : categories) {
    if (one->values && one->values->type().is_numeric()) continue;
    if (one->length() == 0) one = make_array(lazy::fill({0}, *type, {}));
    else throw Error(ErrorKind::Unsupported, one->name + ": categories of this type cannot be united");
  }
  if (type->kind == TypeKind::Float)
    return unite_numbers<double>(categories, DType::float_(8), *type, any_ordered, all_ordered);
  return unite_numbers<int64_t>(categories, DType::int_(8), *type, any_ordered, all_ordered);
}

}  // namespace lamella::anndata
