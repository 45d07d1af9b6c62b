#include "anndata/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "anndata/element.h"
#include "base/convert.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

std::string text_of(const StringRef& ref) {
  return ref.size > 0 ? std::string(ref.data, static_cast<size_t>(ref.size)) : "";
}

std::vector<std::string> texts(const lazy::Expr& values) {
  Heap heap;
  const Buffer raw = values.read_all(heap);
  std::vector<std::string> out(static_cast<size_t>(count(values.shape())));
  for (size_t i = 0; i < out.size(); ++i) {
    StringRef ref;
    std::memcpy(&ref, raw.data() + i * sizeof ref, sizeof ref);
    out[i] = text_of(ref);
  }
  return out;
}

std::vector<bool> mask_of(const Tree& nullable) {
  const TreePtr mask = nullable.child("mask");
  if (!mask || !mask->values) throw Error(ErrorKind::Corrupt, nullable.name + ": nullable values without a mask");
  Heap heap;
  const Buffer raw = lazy::cast(mask->values, DType::boolean())->read_all(heap);
  std::vector<bool> out(static_cast<size_t>(raw.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = raw.data()[i] != std::byte{0};
  return out;
}

bool is_nan(const DType& type, const std::byte* at) {
  if (type.kind != TypeKind::Float && type.kind != TypeKind::Complex) return false;
  double parts[2];
  if (type.kind == TypeKind::Float)
    convert_elements(type, at, DType::float_(8), reinterpret_cast<std::byte*>(parts), 1);
  else convert_elements(type, at, DType::make(TypeKind::Complex, 16), reinterpret_cast<std::byte*>(parts), 1);
  return std::isnan(parts[0]) || (type.kind == TypeKind::Complex && std::isnan(parts[1]));
}

// Bytes say whether elements are equal, but for NaN and minus zero; records are compared field by field.
bool equal_element(const DType& type, const std::byte* a, const std::byte* b) {
  if (type.is_vlen()) {
    StringRef x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return text_of(x) == text_of(y);
  }
  if (type.kind == TypeKind::Struct) {
    return std::all_of(type.fields->begin(), type.fields->end(), [&](const Field& field) {
      for (int64_t i = 0; i < count(field.shape); ++i) {
        const int64_t at = field.offset + i * field.type.size;
        if (!equal_element(field.type, a + at, b + at)) return false;
      }
      return true;
    });
  }
  if (std::memcmp(a, b, static_cast<size_t>(type.size)) == 0) return true;
  if (type.kind != TypeKind::Float && type.kind != TypeKind::Complex) return false;
  if (is_nan(type, a) || is_nan(type, b)) return is_nan(type, a) && is_nan(type, b);
  const bool real = type.kind == TypeKind::Float;
  const DType wide = real ? DType::float_(8) : DType::make(TypeKind::Complex, 16);
  double x[2] = {}, y[2] = {};
  convert_elements(type, a, wide, reinterpret_cast<std::byte*>(x), 1);
  convert_elements(type, b, wide, reinterpret_cast<std::byte*>(y), 1);
  return x[0] == y[0] && x[1] == y[1];
}

bool equal_arrays(const lazy::Expr& a, const lazy::Expr& b, const std::vector<bool>* ignored = nullptr) {
  if (a.shape() != b.shape() || a.type() != b.type()) return false;
  Heap heap;
  const Buffer x = a.read_all(heap), y = b.read_all(heap);
  const int64_t n = count(a.shape()), size = a.type().size;
  for (int64_t i = 0; i < n; ++i) {
    if (ignored != nullptr && (*ignored)[static_cast<size_t>(i)]) continue;
    if (!equal_element(a.type(), x.data() + i * size, y.data() + i * size)) return false;
  }
  return true;
}

// A number as Python compares it: 1 equals 1.0, NaN nothing.
bool equal_scalars(const lazy::Expr& a, const lazy::Expr& b) {
  if (a.type().is_vlen() || b.type().is_vlen()) return a.type().is_vlen() && b.type().is_vlen() && texts(a) == texts(b);
  const DType wide = DType::make(TypeKind::Complex, 16);
  if (!can_convert(a.type(), wide) || !can_convert(b.type(), wide)) return equal_arrays(a, b);
  const bool whole = a.type().kind <= TypeKind::UInt && b.type().kind <= TypeKind::UInt;
  Heap heap;
  const Buffer x = a.read_all(heap), y = b.read_all(heap);
  if (whole) {
    int64_t p, q;
    convert_elements(a.type(), x.data(), DType::int_(8), reinterpret_cast<std::byte*>(&p), 1);
    convert_elements(b.type(), y.data(), DType::int_(8), reinterpret_cast<std::byte*>(&q), 1);
    return p == q;
  }
  double p[2], q[2];
  convert_elements(a.type(), x.data(), wide, reinterpret_cast<std::byte*>(p), 1);
  convert_elements(b.type(), y.data(), wide, reinterpret_cast<std::byte*>(q), 1);
  return p[0] == q[0] && p[1] == q[1];
}

// Absent entries are zero and several at one place are summed.
std::map<std::pair<int64_t, int64_t>, double> entries_of(const matrix::Sparse& sparse) {
  std::map<std::pair<int64_t, int64_t>, double> out;
  const bool csr = sparse.layout() == matrix::Layout::Csr;
  std::vector<double> values;
  sparse.visit_share(0, 1, true, {ThreadPool::shared()}, [&](const matrix::EntryBlock& block) {
    values.resize(static_cast<size_t>(block.n));
    convert_elements(sparse.type(), block.data, DType::float_(8), reinterpret_cast<std::byte*>(values.data()), block.n);
    for (int64_t i = 0; i < block.n; ++i) {
      const int64_t row = csr ? block.major[i] : block.minor[i], column = csr ? block.minor[i] : block.major[i];
      out[{row, column}] += values[static_cast<size_t>(i)];
    }
  });
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

bool equal_sparse(const matrix::Sparse& a, const matrix::Sparse& b) {
  const auto x = entries_of(a), y = entries_of(b);
  return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [](const auto& p, const auto& q) {
           return p.first == q.first && (p.second == q.second || (std::isnan(p.second) && std::isnan(q.second)));
         });
}

bool is_strings(const Tree& tree) {
  return tree.encoding() == "nullable-string-array" ||
         (tree.values && tree.values->type().kind == TypeKind::String && tree.values->shape().size() == 1);
}

std::vector<int64_t> codes_of(const Tree& categorical) {
  Heap heap;
  const Buffer raw = lazy::cast(categorical.child("codes")->values, DType::int_(8))->read_all(heap);
  const auto* begin = reinterpret_cast<const int64_t*>(raw.data());
  return {begin, begin + raw.size() / 8};
}

bool is_ordered(const Tree& categorical) {
  const array::Attribute* ordered = categorical.attributes.find("ordered");
  return ordered != nullptr && (ordered->value == true || ordered->value == 1);
}

// The same categories, in any order if they have none, and the same one in each row.
bool equal_categoricals(const Tree& a, const Tree& b) {
  if (is_ordered(a) != is_ordered(b)) return false;
  const TreePtr x = a.child("categories"), y = b.child("categories");
  const std::vector<int64_t> p = codes_of(a), q = codes_of(b);
  if (equal_elements(x, y)) return p == q;
  if (is_ordered(a) || !is_strings(*x) || !is_strings(*y)) return false;
  const std::vector<std::string> names = read_strings(*x), others = read_strings(*y);
  std::map<std::string, int64_t> place;
  for (size_t i = 0; i < names.size(); ++i) place[names[i]] = static_cast<int64_t>(i);
  if (others.size() != names.size() || p.size() != q.size()) return false;
  std::vector<int64_t> to(others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    const auto found = place.find(others[i]);
    if (found == place.end()) return false;
    to[i] = found->second;
  }
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != (q[i] < 0 ? q[i] : to[static_cast<size_t>(q[i])])) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> read_strings(const Tree& tree, std::vector<bool>* missing) {
  if (tree.encoding() == "nullable-string-array") {
    if (missing != nullptr) *missing = mask_of(tree);
    return texts(*tree.child("values")->values);
  }
  if (!tree.values || tree.values->type().kind != TypeKind::String)
    throw Error(ErrorKind::Unsupported, tree.name + ": holds no strings but " +
                                            (tree.values ? to_string(tree.values->type()) : tree.encoding()));
  std::vector<std::string> out = texts(*tree.values);
  if (missing != nullptr) missing->assign(out.size(), false);
  return out;
}

bool equal_elements(const TreePtr& a, const TreePtr& b) {
  if (a->is_null || b->is_null) return a->is_null && b->is_null;
  if (a->sparse || b->sparse)
    return a->sparse && b->sparse && a->shape() == b->shape() && equal_sparse(*a->sparse, *b->sparse);
  const bool one_dimensional = is_strings(*a) && is_strings(*b);
  if (one_dimensional) {
    std::vector<bool> p, q;
    return read_strings(*a, &p) == read_strings(*b, &q) && p == q;
  }
  if (a->values || b->values) {
    if (!a->values || !b->values) return false;
    if (a->values->shape().empty() && b->values->shape().empty()) return equal_scalars(*a->values, *b->values);
    return equal_arrays(*a->values, *b->values);
  }
  if (a->encoding() != b->encoding()) return false;
  if (a->encoding() == "categorical") return equal_categoricals(*a, *b);
  if (a->encoding().rfind("nullable-", 0) == 0) {
    const std::vector<bool> mask = mask_of(*a);
    return mask == mask_of(*b) && equal_arrays(*a->child("values")->values, *b->child("values")->values, &mask);
  }
  // Tables and dicts: the same children, in the same order if they are columns.
  std::vector<std::string> names = a->children(), others = b->children();
  const array::Attribute *order = a->attributes.find("column-order"), *other_order = b->attributes.find("column-order");
  if ((order != nullptr) != (other_order != nullptr)) return false;
  if (order != nullptr && order->value != other_order->value) return false;
  std::sort(names.begin(), names.end());
  std::sort(others.begin(), others.end());
  if (names != others) return false;
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return equal_elements(a->child(name), b->child(name)); });
}

}  // namespace lamella::anndata
