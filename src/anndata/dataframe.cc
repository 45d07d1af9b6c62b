#include <algorithm>

#include "anndata/recipe_maker.h"
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

// Is any element not zero? In blocks, as a mask may be as long as the data are.
bool any_set(const array::Array& mask) {
  const int64_t n = mask.spec().shape[0];
  const int64_t chunk = mask.spec().chunks.empty() ? 1 : mask.spec().chunks[0];
  const int64_t step = std::max(chunk, (int64_t{1} << 20) / chunk * chunk);
  for (int64_t begin = 0; begin < n; begin += step) {
    const Shape part = {std::min(step, n - begin)};
    Buffer values(part[0]);
    Heap heap;
    mask.read(Box{{begin}, part}, View::c_order(values.data(), part, 1), heap);
    if (std::any_of(values.data(), values.data() + part[0], [](std::byte b) { return b != std::byte{0}; })) return true;
  }
  return false;
}

bool is_text(const array::Array& array) {
  const TypeKind kind = array.spec().type.kind;
  return kind == TypeKind::String || kind == TypeKind::Unicode || kind == TypeKind::Bytes;
}

}  // namespace

void RecipeMaker::add_string_column(const std::string& path, lazy::ExprPtr values,
                                    const array::Attributes& attributes) {
  values = lazy::cast(values, DType::string());
  plan::ArrayItem item;
  if (values->source() != nullptr) item.like = values->source()->spec();
  if (options_.strings != Strings::Nullable) {
    item.path = path;
    item.attributes = attributes;
    for (const auto& [name, attribute] : encoding("string-array", "0.2.0")) item.attributes.set(name, attribute);
    item.source = std::move(values);
    recipe_.items.push_back(std::move(item));
    return;
  }
  array::Attributes group;
  group.set("na-value", Json("NaN"));
  for (const auto& [name, attribute] : attributes) {
    if (name != "encoding-type" && name != "encoding-version") group.set(name, attribute);
  }
  add_group(path, "nullable-string-array", "0.1.0", group);
  const Shape shape = values->shape();
  plan::ArrayItem mask;
  mask.path = join(path, "mask");
  mask.attributes = encoding("array", "0.2.0");
  mask.source = lazy::fill(shape, DType::boolean(), {std::byte{0}});
  recipe_.items.push_back(std::move(mask));
  item.path = join(path, "values");
  item.attributes = encoding("string-array", "0.2.0");
  item.source = std::move(values);
  recipe_.items.push_back(std::move(item));
}

void RecipeMaker::check_columns(const std::string& path, const array::Group& frame, const std::string& index) const {
  const int64_t n = length_of(frame.child(index));
  for (const std::string& name : column_names(frame.attributes())) {
    const array::Node column = frame.child(name);
    if (!column) corrupt(path, "its column '" + name + "' is missing");
    const int64_t length = length_of(column);
    if (n < 0 || length < 0 || length == n) continue;
    corrupt(join(path, name), "has " + std::to_string(length) + " rows, the index " + std::to_string(n));
  }
}

void RecipeMaker::add_frame(const std::string& path, const array::Group& group) {
  const auto index = group.attributes().string("_index");
  if (!index || !group.child(*index))
    corrupt(path, index ? "its index '" + *index + "' is missing" : "a data frame without an index");
  check_columns(path, group, *index);
  recipe_.items.push_back(plan::GroupItem{path, frame_attributes(group.attributes())});
  for (const std::string& name : group.children()) {
    const array::Node child = group.child(name);
    const ElementKind kind = classify(child).kind;
    const bool text = child.array && is_text(*child.array) && child.array->spec().type.kind != TypeKind::Bytes &&
                      kind != ElementKind::Other;
    if (text && options_.strings != Strings::Keep) {
      add_string_column(join(path, name), lazy::source(child.array), child.attributes());
    } else if (kind == ElementKind::NullableStrings && options_.strings == Strings::Plain) {
      const array::Node values = child.group->child("values"), mask = child.group->child("mask");
      if (!values.array || !mask.array || mask.array->spec().shape.size() != 1 || mask.array->spec().type.size != 1)
        corrupt(join(path, name), "nullable strings without values or mask");
      if (any_set(*mask.array)) {
        throw Error(ErrorKind::Unsupported,
                    file_ + ": /" + join(path, name) +
                        ": has missing values, which plain strings cannot tell; leave --strings plain away");
      }
      add_string_column(join(path, name), lazy::source(values.array), values.attributes());
    } else {
      add(join(path, name), child, true);
    }
  }
}

// anndata 0.7: a categorical column is its codes, with a reference to the categories.
void RecipeMaker::add_old_frame(const std::string& path, const array::Group& group) {
  recipe_.items.push_back(plan::GroupItem{path, frame_attributes(group.attributes())});
  const array::Node categories_group = group.child("__categories");
  for (const std::string& name : group.children()) {
    if (name == "__categories") continue;
    const array::Node child = group.child(name);
    const std::string target = join(path, name);
    if (!child.array) {
      add(target, child, true);
      continue;
    }
    const bool categorical = child.attributes().find("categories") != nullptr;
    if (!categorical) {
      if (is_text(*child.array) && options_.strings != Strings::Keep)
        add_string_column(target, lazy::source(child.array), {});
      else add_array(target, child.array, true);
      continue;
    }
    const array::Node categories = categories_group.group ? categories_group.group->child(name) : array::Node();
    if (!categories.array) corrupt(target, "its categories are missing");
    array::Attributes attributes;
    const array::Attribute* ordered = categories.attributes().find("ordered");
    attributes.set("ordered",
                   array::Attribute{ordered != nullptr && ordered->value == true, DType::boolean(), {}, false});
    add_group(target, "categorical", "0.2.0", attributes);
    lazy::ExprPtr values = lazy::source(categories.array);
    if (is_text(*categories.array)) values = lazy::cast(values, DType::string());
    add_values(join(target, "categories"), values);
    add_values(join(target, "codes"), lazy::source(child.array));
  }
}

}  // namespace lamella::anndata
