#include <algorithm>

#include "anndata/loader.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

// The categories of a column, if uns has some and every code refers to one: with one name for two axes, that tells
// whose.
lazy::ExprPtr categories_of(const std::string& column, const lazy::ExprPtr& codes, const array::Node& uns) {
  const bool integer = codes->type().kind == TypeKind::Int || codes->type().kind == TypeKind::UInt;
  if (!uns.group || !integer || codes->shape().size() != 1) return nullptr;
  const array::Node node = uns.group->child(column + "_categories");
  if (!node.array) return nullptr;
  lazy::ExprPtr categories = lazy::source(node.array);
  if (is_text(categories->type())) categories = lazy::cast(categories, DType::string());
  if (categories->shape().empty()) categories = lazy::reshape(categories, {1});
  if (categories->shape().size() != 1) return nullptr;
  Heap heap;
  const lazy::ExprPtr wide = lazy::cast(codes, DType::int_(8));
  const Buffer values = wide->read_all(heap);
  const auto* begin = reinterpret_cast<const int64_t*>(values.data());
  const int64_t n = categories->shape()[0];
  const bool all = std::all_of(begin, begin + values.size() / 8, [n](int64_t code) { return code < n; });
  return all ? categories : nullptr;
}

}  // namespace

TreePtr Loader::record_frame(const std::string& path, const std::shared_ptr<const array::Array>& records,
                             const array::Node& uns, std::set<std::string>& used_categories) const {
  const DType& type = records->spec().type;
  if (type.kind != TypeKind::Struct || type.fields->empty()) corrupt(path, "annotation that is no array of records");
  const lazy::ExprPtr source = lazy::source(records);
  const std::string index = type.fields->front().name;
  Json order = Json::array();
  for (size_t i = 1; i < type.fields->size(); ++i) order.push_back((*type.fields)[i].name);
  array::Attributes attributes = encoding("dataframe", "0.2.0");
  attributes.set("_index", Json(index));
  attributes.set("column-order", order);
  auto out = start(path, std::move(attributes));
  for (const Field& one : *type.fields) {
    const std::string target = join(path, one.name);
    lazy::ExprPtr column = lazy::field(source, one.name);
    if (one.name == index && !is_text(one.type))
      throw Error(ErrorKind::Unsupported, records->name() + ": an index of numbers");
    if (is_text(one.type)) {
      out->add(one.name, text_column(target, column, {}));
      continue;
    }
    const lazy::ExprPtr categories = categories_of(one.name, column, uns);
    if (!categories) {
      out->add(one.name, make_array(column));
      continue;
    }
    used_categories.insert(one.name + "_categories");
    array::Attributes categorical = encoding("categorical", "0.2.0");
    categorical.set("ordered", array::Attribute{false, DType::boolean(), {}, false});
    auto made = start(target, std::move(categorical));
    made->add("categories", make_array(categories));
    made->add("codes", make_array(lazy::cast(column, code_type(categories->shape()[0]))));
    out->add(one.name, made);
  }
  return out;
}

// obsm and varm of that time: each field an array of its own.
TreePtr Loader::record_arrays(const std::string& path, const std::shared_ptr<const array::Array>& records) const {
  auto out = start(path, encoding("dict", "0.1.0"));
  const DType& type = records->spec().type;
  if (type.kind != TypeKind::Struct) return out;
  const lazy::ExprPtr source = lazy::source(records);
  for (const Field& one : *type.fields) out->add(one.name, make_array(lazy::field(source, one.name)));
  return out;
}

}  // namespace lamella::anndata
