#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "anndata/awkward.h"
#include "anndata/concat_parts.h"
#include "anndata/element.h"
#include "base/error.h"
#include "base/promote.h"
#include "lazy/concat.h"
#include "matrix/densify.h"
#include "matrix/values.h"

namespace lamella::anndata {
namespace {

using matrix::Layout;
using matrix::Matrix;
using matrix::Positions;
using matrix::SparsePtr;

lazy::Picks all_of(int64_t n) { return lazy::Stride{0, 1, n}; }

// -1 becomes the position of an element that was put behind the others.
Positions with_gaps_at(const Positions& positions, int64_t place) {
  Positions out = positions;
  std::replace(out.begin(), out.end(), int64_t{-1}, place);
  return out;
}

DType promoted(const DType& a, const DType& b, const std::string& where) {
  const auto type = promote(a, b);
  if (!type)
    throw Error(ErrorKind::Unsupported,
                where + ": elements of " + to_string(a) + " and " + to_string(b) + " have no common type");
  return *type;
}

lazy::ExprPtr reindex_dense(lazy::ExprPtr dense, size_t axis, const Reindex& reindex, const Fill& fill,
                            const std::string& where) {
  if (!reindex.positions) return dense;
  const Positions& positions = *reindex.positions;
  Shape shape = dense->shape();
  std::vector<lazy::Picks> picks;
  for (int64_t length : shape) picks.push_back(all_of(length));
  if (reindex.gaps) {
    const int64_t n = shape[axis];
    shape[axis] = static_cast<int64_t>(positions.size());
    if (n == 0) return lazy::fill(shape, fill.type, fill.element(fill.type));
    const DType type = promoted(dense->type(), fill.type, where);
    shape[axis] = 1;
    dense = lazy::concat({lazy::cast(dense, type), lazy::fill(shape, type, fill.element(type))}, axis);
    picks[axis] = with_gaps_at(positions, n);
  } else {
    picks[axis] = positions;
  }
  return lazy::take(std::move(dense), std::move(picks));
}

SparsePtr reindex_sparse(const SparsePtr& sparse, size_t axis, const Reindex& reindex, const Fill& fill,
                         bool keep_types, const std::string& where) {
  if (!reindex.positions) return sparse;
  const Positions& positions = *reindex.positions;
  if (reindex.gaps && !fill.is_zero())
    return matrix::nonzeros(reindex_dense(matrix::densify(sparse), axis, reindex, fill, where));
  Shape shape = sparse->shape();
  if (reindex.gaps && shape[axis] == 0) {
    shape[axis] = static_cast<int64_t>(positions.size());
    return matrix::empty_sparse(sparse->layout(), shape, keep_types ? sparse->type() : DType::float_(8));
  }
  const bool along_major = (axis == 0) == (sparse->layout() == Layout::Csr);
  if (!along_major) return matrix::take_minor(sparse, positions);
  if (!reindex.gaps) return matrix::take_major(sparse, positions);
  shape[axis] = 1;
  const SparsePtr longer = matrix::stack_major({sparse, matrix::empty_sparse(sparse->layout(), shape, sparse->type())});
  return matrix::take_major(longer, with_gaps_at(positions, sparse->major()));
}

SparsePtr as_csr(const Matrix& matrix, const std::string& where) {
  if (matrix.sparse) return matrix.layout() == Layout::Csr ? matrix.sparse : matrix::relaid(matrix.sparse);
  if (matrix.type().kind == TypeKind::Float && matrix.type().size == 2)
    throw Error(ErrorKind::Unsupported,
                where + ": scipy has no sparse matrices of float16, and others are sparse here");
  return matrix::nonzeros(matrix.dense);
}

std::string where_of(const Part& part, const std::string& name) { return part.input + ": /" + name; }

bool is_array(const Part& part) { return part.tree && (part.tree->sparse || part.tree->values); }

void check_kinds(const std::string& name, const std::vector<Part>& parts) {
  const Part *array = nullptr, *other = nullptr;
  for (const Part& part : parts) {
    if (!part.tree) continue;
    (is_array(part) ? array : other) = &part;
  }
  if (other == nullptr) return;
  for (const Part& part : parts) {
    if (part.tree && part.tree->encoding() == "awkward-array")
      throw Error(ErrorKind::Unsupported,
                  name + ": Cannot concatenate an AwkwardArray with other array types; it is one in " + part.input);
  }
  const std::string kind = other->tree->encoding().empty() ? "group" : other->tree->encoding();
  if (array != nullptr)
    throw Error(ErrorKind::Unsupported, name + " is an array in " + array->input + " and of encoding '" + kind +
                                            "' in " + other->input + "; they cannot be concatenated");
  throw Error(ErrorKind::Unsupported, where_of(*other, name) + ": elements of encoding '" + kind +
                                          "' cannot be concatenated lazily; leave it out, or concatenate in memory");
}

// The layout of the first input is a good one for all.
TreePtr like_first(lazy::ExprPtr values, const std::vector<Part>& parts) {
  const TreePtr made = make_array(std::move(values));
  for (const Part& part : parts) {
    if (!part.tree || !part.tree->like || part.tree->like->shape.size() != made->values->shape().size()) continue;
    auto out = std::const_pointer_cast<Tree>(made);
    out->like = part.tree->like;
    out->like->shape = made->values->shape();
    out->like->type = made->values->type();
    out->like->fill.clear();
    out->like->max_shape.clear();
    break;
  }
  return made;
}

}  // namespace

Fill fill_of(const std::optional<Json>& value) {
  Fill out;
  if (!value) return out;
  out.given = true;
  if (value->is_boolean()) {
    out.type = DType::boolean();
    out.value = value->get<bool>() ? 1 : 0;
  } else if (value->is_number_integer()) {
    out.type = DType::int_(8);
    out.value = value->get<double>();
  } else if (value->is_number_float()) {
    out.value = value->get<double>();
  } else if (value->is_null()) {
    out.value = std::numeric_limits<double>::quiet_NaN();
  } else {
    throw Error(ErrorKind::Invalid, "fill_value " + dump_json(*value) + ": a number is wanted");
  }
  return out;
}

Fill resolved(const Fill& fill, bool any_sparse) {
  if (fill.given) return fill;
  Fill out;
  if (any_sparse) out.type = DType::int_(8);
  else out.value = std::numeric_limits<double>::quiet_NaN();
  return out;
}

TreePtr reindex_array(const TreePtr& array, size_t axis, const Reindex& reindex, const Fill& fill) {
  if (!reindex.positions) return array;
  const Fill used = resolved(fill, array->sparse != nullptr);
  if (array->sparse) return make_sparse(reindex_sparse(array->sparse, axis, reindex, used, false, array->name));
  return like_first(reindex_dense(array->values, axis, reindex, used, array->name), {{array, 0, ""}});
}

TreePtr concat_arrays(const std::string& name, const std::vector<Part>& parts, size_t axis,
                      const std::vector<Reindex>& others, const Fill& given, bool keep_types) {
  check_kinds(name, parts);
  const bool any_sparse =
      std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.tree && part.tree->sparse; });
  const Fill fill = resolved(given, any_sparse);
  const size_t other = 1 - axis;
  std::optional<DType> type;
  std::vector<Matrix> made;
  Shape rest;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    Matrix one;
    if (part.tree) {
      const std::string where = where_of(part, name);
      if (any_sparse && !part.tree->sparse && part.tree->values->shape().size() != 2)
        throw Error(ErrorKind::Unsupported,
                    where + ": an array of shape " + to_string(part.tree->shape()) + " beside sparse matrices");
      // Dense arrays beside sparse ones become sparse before anything else, which decides their type.
      if (any_sparse)
        one.sparse = reindex_sparse(as_csr(part.tree->matrix(), where), other, others[i], fill, keep_types, where);
      else if (part.tree->shape().size() > other)
        one.dense = reindex_dense(part.tree->values, other, others[i], fill, where);
      else one.dense = part.tree->values;
      if (rest.empty() && one.dense) rest = one.dense->shape();
      type = type ? promoted(*type, one.type(), where) : little_endian(one.type());
    }
    made.push_back(std::move(one));
  }
  // What is missing: rows (or columns) of the fill value.
  int64_t width = 0;
  for (const Matrix& one : made) {
    if (one.dense || one.sparse) width = one.shape().size() > other ? one.shape()[other] : 0;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].tree) continue;
    Shape shape = any_sparse || rest.empty() ? Shape{0, 0} : rest;
    shape[axis] = parts[i].length;
    if (shape.size() > other) shape[other] = width;
    if (any_sparse && fill.is_zero()) {
      if (!keep_types) type = promoted(*type, DType::float_(8), name);
      made[i].sparse = matrix::empty_sparse(Layout::Csr, shape, *type);
    } else {
      type = promoted(*type, fill.type, name);
      made[i].dense = lazy::fill(shape, fill.type, fill.element(fill.type));
    }
  }
  if (!any_sparse) {
    std::vector<lazy::ExprPtr> dense;
    for (size_t i = 0; i < made.size(); ++i) dense.push_back(lazy::cast(made[i].dense, *type));
    try {
      return like_first(lazy::concat(std::move(dense), axis), parts);
    } catch (Error& error) {
      throw error.prefix(name);
    }
  }
  std::vector<SparsePtr> sparse;
  for (size_t i = 0; i < made.size(); ++i) {
    SparsePtr csr = as_csr(made[i], where_of(parts[i], name));
    sparse.push_back(matrix::cast(std::move(csr), *type));
  }
  return make_sparse(axis == 0 ? matrix::stack_major(std::move(sparse)) : matrix::stack_minor(std::move(sparse)));
}

TreePtr concat_members(const std::string& name, const std::vector<Part>& parts, bool outer, const TreePtr& index,
                       const std::string& index_name, const Fill& fill, bool keep_types) {
  const bool frames = std::all_of(parts.begin(), parts.end(),
                                  [](const Part& part) { return !part.tree || part.tree->encoding() == "dataframe"; });
  if (frames) {
    // A table that is not there has no types to change when it would have no rows either.
    std::vector<Part> with_rows;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(with_rows),
                 [](const Part& part) { return part.tree || part.length > 0; });
    return concat_frames(with_rows, outer, index, index_name);
  }
  const bool awkward = std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return !part.tree || part.tree->encoding() == "awkward-array";
  });
  if (awkward) return concat_awkward(name, parts, outer);
  check_kinds(name, parts);
  int64_t width = -1;
  for (const Part& part : parts) {
    const int64_t own = !part.tree ? 0 : part.tree->shape().size() < 2 ? 1 : part.tree->shape()[1];
    if (part.tree || outer) width = width < 0 ? own : outer ? std::max(width, own) : std::min(width, own);
  }
  std::vector<Reindex> others(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].tree || parts[i].tree->shape().size() < 2) continue;
    const int64_t own = parts[i].tree->shape()[1];
    if (own == width) continue;
    auto positions = std::make_shared<Positions>();
    for (int64_t column = 0; column < width; ++column) positions->push_back(column < own ? column : -1);
    others[i] = {positions, own < width};
  }
  return concat_arrays(name, parts, 0, others, fill, keep_types);
}

TreePtr block_diagonal(const std::vector<Part>& parts) {
  int64_t total = 0, before = 0;
  std::optional<DType> type;
  for (const Part& part : parts) {
    total += part.length;
    if (part.tree)
      type = type ? promoted(*type, part.tree->matrix().type(), part.input) : little_endian(part.tree->matrix().type());
  }
  const bool missing = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return !part.tree; });
  if (missing) type = promoted(*type, DType::float_(8), "pairwise");
  std::vector<SparsePtr> rows;
  for (const Part& part : parts) {
    const auto zeros = [&](int64_t columns) {
      return matrix::empty_sparse(Layout::Csr, {part.length, columns}, *type);
    };
    const SparsePtr block =
        part.tree ? matrix::cast(as_csr(part.tree->matrix(), part.input), *type) : zeros(part.length);
    rows.push_back(matrix::stack_minor({zeros(before), block, zeros(total - before - part.length)}));
    before += part.length;
  }
  return make_sparse(matrix::stack_major(std::move(rows)));
}

}  // namespace lamella::anndata
