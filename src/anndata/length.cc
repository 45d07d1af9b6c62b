#include <algorithm>
#include <cmath>

#include "anndata/element.h"

namespace lamella::anndata {

// Other writers store other integer types, or floats.
int64_t length_in(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto length = value.get<uint64_t>();
    return length <= static_cast<uint64_t>(INT64_MAX) ? static_cast<int64_t>(length) : -1;
  }
  if (value.is_number_integer()) return std::max<int64_t>(value.get<int64_t>(), -1);
  if (!value.is_number_float()) return -1;
  const double length = value.get<double>();
  constexpr double kMost = 9007199254740992.0;  // whole numbers up to here
  return length >= 0 && length <= kMost && length == std::floor(length) ? static_cast<int64_t>(length) : -1;
}

Shape shape_of(const array::Node& node) {
  if (!node) return {};
  if (node.array) return node.array->spec().shape;
  for (const char* name : {"shape", "h5sparse_shape"}) {
    const array::Attribute* shape = node.group->attributes().find(name);
    if (shape == nullptr || !shape->value.is_array()) continue;
    Shape out;
    for (const Json& length : shape->value) out.push_back(length_in(length));
    return out;
  }
  return {};
}

int64_t length_of(const array::Node& node) {
  const Shape shape = shape_of(node);
  if (!shape.empty()) return shape[0];
  if (!node.group) return -1;
  const array::Attributes& attributes = node.group->attributes();
  if (attributes.string("encoding-type") == "awkward-array") {
    const array::Attribute* length = attributes.find("length");
    return length == nullptr ? -1 : length_in(length->value);
  }
  // A frame is as long as its index, a column as its codes or values.
  array::Node part = node;
  if (const auto index = attributes.string("_index")) part = part.group->child(*index);
  for (const char* name : {"values", "codes"}) {
    if (part.group && part.group->child(name)) part = part.group->child(name);
  }
  return part.array && part.array->spec().shape.size() == 1 ? part.array->spec().shape[0] : -1;
}

}  // namespace lamella::anndata
