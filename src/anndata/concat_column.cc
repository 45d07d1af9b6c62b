#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "anndata/concat_parts.h"
#include "anndata/element.h"
#include "anndata/subset.h"
#include "anndata/union_categories.h"
#include "anndata/values.h"
#include "base/error.h"
#include "base/promote.h"
#include "lazy/concat.h"
#include "lazy/lookup.h"

namespace lamella::anndata {
namespace {

enum class Kind { Missing, Categorical, Strings, Nullable, Numbers };

// A column of one input, in the terms in which pandas joins columns.
struct Column {
  Kind kind = Kind::Missing;
  lazy::ExprPtr values;  // codes of a Categorical
  lazy::ExprPtr mask;    // null: nothing is missing
  TreePtr tree;
  int64_t length = 0;
  std::string input;
};

bool is_ordered(const Tree& categorical) {
  const array::Attribute* ordered = categorical.attributes.find("ordered");
  return ordered != nullptr && (ordered->value == true || ordered->value == 1);
}

Column normalised(const std::string& name, const Part& part) {
  Column out{Kind::Missing, nullptr, nullptr, part.tree, part.length, part.input};
  if (!part.tree) return out;
  const Tree& tree = *part.tree;
  const std::string encoding = tree.encoding();
  if (encoding == "categorical") {
    out.kind = Kind::Categorical;
    out.values = tree.child("codes")->values;
  } else if (encoding.rfind("nullable-", 0) == 0) {
    out.kind = encoding == "nullable-string-array" ? Kind::Strings : Kind::Nullable;
    out.values = tree.child("values")->values;
    out.mask = lazy::cast(tree.child("mask")->values, DType::boolean());
  } else if (tree.values && tree.values->shape().size() == 1 && tree.values->type().kind == TypeKind::String) {
    out.kind = Kind::Strings;
    out.values = tree.values;
  } else if (tree.values && tree.values->shape().size() == 1 && tree.values->type().is_numeric()) {
    out.kind = Kind::Numbers;
    out.values = tree.values;
  } else {
    throw Error(ErrorKind::Unsupported, part.input + ": column '" + name + "' of encoding '" + encoding +
                                            "' cannot be concatenated; leave it out");
  }
  return out;
}

lazy::ExprPtr constant(int64_t n, bool value) {
  return lazy::fill({n}, DType::boolean(), {std::byte{value ? uint8_t{1} : uint8_t{0}}});
}

// The categories themselves in the place of the codes.
Column spelled_out(const Column& column) {
  Column out = column;
  const TreePtr categories = column.tree->child("categories");
  auto heap = std::make_shared<Heap>();
  const lazy::ExprPtr values =
      categories->encoding() == "nullable-string-array" ? categories->child("values")->values : categories->values;
  const auto table = std::make_shared<const Buffer>(values->read_all(*heap));
  out.kind = values->type().kind == TypeKind::String ? Kind::Strings : Kind::Numbers;
  std::vector<std::byte> none(static_cast<size_t>(values->type().size));
  if (out.kind == Kind::Numbers && values->type().kind == TypeKind::Float && values->type().size == 8) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(none.data(), &nan, 8);
  }
  out.values = lazy::lookup(column.values, values->type(), table, none, heap);
  if (out.kind == Kind::Strings) {
    auto flags = std::make_shared<Buffer>(table->size() / values->type().size);
    std::fill_n(flags->data(), flags->size(), std::byte{0});
    out.mask = lazy::lookup(column.values, DType::boolean(), flags, {std::byte{1}});
  }
  return out;
}

TreePtr with_mask(const char* encoding_type, lazy::ExprPtr values, lazy::ExprPtr mask) {
  auto out = make_group(encoding_type, "0.1.0");
  if (std::strcmp(encoding_type, "nullable-string-array") == 0) out->attributes.set("na-value", Json("NaN"));
  out->add("values", make_array(std::move(values)));
  out->add("mask", make_array(std::move(mask)));
  return out;
}

lazy::ExprPtr joined_masks(const std::vector<Column>& columns) {
  std::vector<lazy::ExprPtr> masks;
  for (const Column& column : columns)
    masks.push_back(column.kind == Kind::Missing ? constant(column.length, true)
                    : column.mask                ? column.mask
                                                 : constant(column.length, false));
  return lazy::concat(std::move(masks), 0);
}

TreePtr concat_strings(const std::vector<Column>& columns) {
  std::vector<lazy::ExprPtr> values;
  bool nullable = false;
  for (const Column& column : columns) {
    nullable |= column.kind == Kind::Missing || column.mask;
    values.push_back(column.kind == Kind::Missing ? lazy::fill({column.length}, DType::string(), {}) : column.values);
  }
  if (nullable) {
    const TreePtr out = with_mask("nullable-string-array", lazy::concat(std::move(values), 0), joined_masks(columns));
    for (const Column& column : columns) {
      const array::Attribute* na = column.tree ? column.tree->attributes.find("na-value") : nullptr;
      if (na == nullptr) continue;
      std::const_pointer_cast<Tree>(out)->attributes.set("na-value", *na);
      break;
    }
    return out;
  }
  return make_array(lazy::concat(std::move(values), 0));
}

// All bool, or numbers of which some are missing.
TreePtr concat_numbers(const std::string& name, const std::vector<Column>& columns) {
  std::optional<DType> type;
  bool missing = false, nullable = false, only_bool = true;
  std::string first;
  for (const Column& column : columns) {
    missing |= column.kind == Kind::Missing;
    nullable |= column.kind == Kind::Nullable;
    if (column.kind == Kind::Missing) continue;
    only_bool &= column.values->type().kind == TypeKind::Bool;
    type = type ? promote(*type, column.values->type()) : little_endian(column.values->type());
    if (!type)
      throw Error(ErrorKind::Unsupported,
                  column.input + ": column '" + name + "' and that of " + first + " have types without a common one");
    if (first.empty()) first = column.input;
  }
  const bool masked = nullable || (missing && only_bool);
  const bool integer = type->kind == TypeKind::Int || type->kind == TypeKind::UInt || type->kind == TypeKind::Bool;
  if (missing && !masked && integer) type = DType::float_(8);
  std::vector<lazy::ExprPtr> values;
  for (const Column& column : columns) {
    Fill none;
    none.value = masked ? 0 : std::numeric_limits<double>::quiet_NaN();
    values.push_back(column.kind == Kind::Missing ? lazy::fill({column.length}, *type, none.element(*type))
                                                  : lazy::cast(column.values, *type));
  }
  lazy::ExprPtr all = lazy::concat(std::move(values), 0);
  if (!masked) return make_array(std::move(all));
  const char* encoding = type->kind == TypeKind::Bool    ? "nullable-boolean"
                         : type->kind == TypeKind::Float ? "nullable-float"
                                                         : "nullable-integer";
  return with_mask(encoding, std::move(all), joined_masks(columns));
}

TreePtr concat_categoricals(const std::vector<Column>& columns, const CategoryUnion& united) {
  std::vector<lazy::ExprPtr> codes;
  const DType type = code_type(united.size);
  std::vector<std::byte> none(static_cast<size_t>(type.size), std::byte{0xff});  // -1
  size_t part = 0;
  for (const Column& column : columns) {
    if (column.kind == Kind::Missing) {
      codes.push_back(lazy::fill({column.length}, type, none));
      continue;
    }
    const std::vector<int64_t>& map = united.maps[part++];
    auto table = std::make_shared<Buffer>(static_cast<int64_t>(map.size()) * type.size);
    for (size_t i = 0; i < map.size(); ++i)
      std::memcpy(table->data() + static_cast<int64_t>(i) * type.size, &map[i], static_cast<size_t>(type.size));
    codes.push_back(lazy::lookup(column.values, type, table, none));
  }
  auto out = make_group("categorical", "0.2.0");
  out->attributes.set("ordered", array::Attribute{united.ordered, DType::boolean(), {}, false});
  out->add("categories", united.categories);
  out->add("codes", make_array(lazy::concat(std::move(codes), 0)));
  return out;
}

}  // namespace

std::vector<std::byte> Fill::element(const DType& to) const {
  std::vector<std::byte> out(static_cast<size_t>(to.size));
  const lazy::ExprPtr made =
      lazy::cast(lazy::in_memory({1}, DType::float_(8), reinterpret_cast<const std::byte*>(&value), nullptr), to);
  Heap heap;
  const Buffer bytes = made->read_all(heap);
  std::copy_n(bytes.data(), bytes.size(), out.begin());
  return out;
}

TreePtr concat_column(const std::string& name, const std::vector<Part>& parts) {
  std::vector<Column> columns;
  std::vector<TreePtr> categoricals;
  std::vector<std::string> inputs;
  size_t present = 0;
  for (const Part& part : parts) {
    columns.push_back(normalised(name, part));
    if (columns.back().kind == Kind::Missing) continue;
    ++present;
    if (columns.back().kind == Kind::Categorical) categoricals.push_back(part.tree);
  }
  if (categoricals.size() == present) {
    if (const auto united = unite_categories(categoricals)) return concat_categoricals(columns, *united);
  }
  for (Column& column : columns) {
    if (column.kind == Kind::Categorical) column = spelled_out(column);
  }
  const Column *strings = nullptr, *numbers = nullptr;
  for (const Column& column : columns) {
    if (column.kind == Kind::Strings) strings = &column;
    else if (column.kind != Kind::Missing) numbers = &column;
  }
  if (strings != nullptr && numbers != nullptr)
    throw Error(ErrorKind::Unsupported, "column '" + name + "' holds strings in " + strings->input +
                                            " and numbers in " + numbers->input +
                                            ", which no store can hold in one column");
  return strings != nullptr ? concat_strings(columns) : concat_numbers(name, columns);
}

std::vector<std::string> column_order(const Tree& frame) {
  std::vector<std::string> out;
  const array::Attribute* order = frame.attributes.find("column-order");
  if (order == nullptr || !order->value.is_array()) return out;
  for (const Json& name : order->value) {
    if (name.is_string()) out.push_back(name.get<std::string>());
  }
  return out;
}

TreePtr make_frame(const TreePtr& index, const std::string& index_name,
                   const std::vector<std::pair<std::string, TreePtr>>& columns) {
  auto out = make_group("dataframe", "0.2.0");
  Json order = Json::array();
  out->add(index_name, index);
  for (const auto& [name, column] : columns) {
    order.push_back(name);
    out->add(name, column);
  }
  out->attributes.set("_index", Json(index_name));
  out->attributes.set("column-order", std::move(order));
  return out;
}

TreePtr concat_frames(const std::vector<Part>& parts, bool outer, const TreePtr& index, const std::string& index_name) {
  std::vector<std::vector<std::string>> keys;
  for (const Part& part : parts) {
    if (part.tree) keys.push_back(column_order(*part.tree));
    else if (!outer) keys.emplace_back();
  }
  std::vector<std::pair<std::string, TreePtr>> columns;
  for (const std::string& name : outer ? keys_in_any(keys) : keys_in_all(keys)) {
    std::vector<Part> of_column;
    for (const Part& part : parts) {
      const bool has = part.tree && part.tree->has(name);
      of_column.push_back({has ? part.tree->child(name) : nullptr, part.length, part.input});
    }
    columns.emplace_back(name, concat_column(name, of_column));
  }
  return make_frame(index, index_name, columns);
}

TreePtr reindex_column(const TreePtr& column, const Reindex& reindex) {
  if (!reindex.positions) return column;
  if (!reindex.gaps) return take_rows(column, *reindex.positions);
  const int64_t n = column->length();
  const TreePtr with_gap = concat_column(column->name, {{column, n, column->name}, {nullptr, 1, ""}});
  matrix::Positions positions = *reindex.positions;
  std::replace(positions.begin(), positions.end(), int64_t{-1}, n);
  return take_rows(with_gap, positions);
}

}  // namespace lamella::anndata
