#include "anndata/loader.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

std::vector<std::string> column_names(const array::Attributes& attributes) {
  std::vector<std::string> out;
  const array::Attribute* order = attributes.find("column-order");
  if (order == nullptr || !order->value.is_array()) return out;
  for (const Json& name : order->value) {
    if (name.is_string()) out.push_back(name.get<std::string>());
  }
  return out;
}

array::Attributes frame_attributes(const array::Attributes& from) {
  array::Attributes out = from;
  out.set("encoding-type", Json("dataframe"));
  out.set("encoding-version", Json("0.2.0"));
  // A list of names is a list of names, whatever type an empty one was stored with.
  if (const array::Attribute* order = from.find("column-order")) out.set("column-order", order->value);
  return out;
}

}  // namespace

TreePtr Loader::text_column(const std::string& path, lazy::ExprPtr values, const array::Attributes& attributes) const {
  auto out = start(path, attributes);
  for (const auto& [name, attribute] : encoding("string-array", "0.2.0")) out->attributes.set(name, attribute);
  out->values = lazy::cast(std::move(values), DType::string());
  if (out->values->source() != nullptr) out->like = out->values->source()->spec();
  return out;
}

void Loader::check_columns(const std::string& path, const array::Group& frame, const std::string& index) const {
  const int64_t n = length_of(frame.child(index));
  for (const std::string& name : column_names(frame.attributes())) {
    const array::Node column = frame.child(name);
    if (!column) corrupt(path, "its column '" + name + "' is missing");
    const int64_t length = length_of(column);
    if (n < 0 || length < 0 || length == n) continue;
    corrupt(join(path, name), "has " + std::to_string(length) + " rows, the index " + std::to_string(n));
  }
}

TreePtr Loader::frame(const std::string& path, const array::Group& group) const {
  const auto index = group.attributes().string("_index");
  if (!index || !group.child(*index))
    corrupt(path, index ? "its index '" + *index + "' is missing" : "a data frame without an index");
  check_columns(path, group, *index);
  auto out = start(path, frame_attributes(group.attributes()));
  for (const std::string& name : group.children()) {
    const array::Node child = group.child(name);
    if (!child) continue;
    const std::string target = join(path, name);
    const bool text = child.array && is_text(child.array->spec().type) &&
                      child.array->spec().type.kind != TypeKind::Bytes && classify(child).kind != ElementKind::Other;
    if (text) out->add(name, text_column(target, lazy::source(child.array), child.attributes()));
    else add_child(*out, name, target, child, true);
  }
  return out;
}

// anndata 0.7: a categorical column is its codes, with a reference to the categories.
TreePtr Loader::old_frame(const std::string& path, const array::Group& group) const {
  auto out = start(path, frame_attributes(group.attributes()));
  const array::Node categories_group = group.child("__categories");
  for (const std::string& name : group.children()) {
    if (name == "__categories") continue;
    const array::Node child = group.child(name);
    if (!child) continue;
    const std::string target = join(path, name);
    if (!child.array) {
      add_child(*out, name, target, child, true);
      continue;
    }
    if (child.attributes().find("categories") == nullptr) {
      if (is_text(child.array->spec().type)) out->add(name, text_column(target, lazy::source(child.array), {}));
      else add_child(*out, name, target, child, true);
      continue;
    }
    const array::Node categories = categories_group.group ? categories_group.group->child(name) : array::Node();
    if (!categories.array) corrupt(target, "its categories are missing");
    array::Attributes attributes = encoding("categorical", "0.2.0");
    const array::Attribute* ordered = categories.attributes().find("ordered");
    attributes.set("ordered",
                   array::Attribute{ordered != nullptr && ordered->value == true, DType::boolean(), {}, false});
    auto column = start(target, std::move(attributes));
    lazy::ExprPtr values = lazy::source(categories.array);
    if (is_text(values->type())) values = lazy::cast(values, DType::string());
    column->add("categories", make_array(values));
    column->add("codes", make_array(lazy::source(child.array)));
    out->add(name, column);
  }
  return out;
}

}  // namespace lamella::anndata
