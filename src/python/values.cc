#include "python/bindings.h"

namespace lamella::python {
namespace {

// numpy's spelling of a field that is no record.
std::string format(const DType& type) {
  if (type.is_vlen()) return "V16";
  if (type.kind == TypeKind::Reference) return "<u8";
  return to_string(type);
}

}  // namespace

nb::object to_python(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean: return nb::bool_(value.get<bool>());
    case Json::value_t::number_integer: return nb::int_(value.get<int64_t>());
    case Json::value_t::number_unsigned: return nb::int_(value.get<uint64_t>());
    case Json::value_t::number_float: return nb::float_(value.get<double>());
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      // Attributes of old files may hold bytes that are no UTF-8; they come through as Python's own file names do.
      PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
      if (!decoded) nb::raise_python_error();
      return nb::steal(decoded);
    }
    case Json::value_t::array: {
      nb::list list;
      for (const Json& item : value) list.append(to_python(item));
      return list;
    }
    case Json::value_t::object: {
      nb::dict dict;
      for (const auto& [key, item] : value.items()) dict[nb::str(key.c_str(), key.size())] = to_python(item);
      return dict;
    }
    default: return nb::none();
  }
}

nb::dict to_python(const array::Attributes& attributes) {
  nb::dict dict;
  for (const auto& [name, attribute] : attributes) {
    attribute.check();
    dict[nb::str(name.c_str(), name.size())] = attribute.null_space ? nb::none() : to_python(attribute.value);
  }
  return dict;
}

nb::object dtype_description(const DType& type) {
  if (type.kind != TypeKind::Struct) return nb::str(format(type).c_str());
  nb::list names, formats, offsets;
  for (const Field& field : *type.fields) {
    names.append(nb::str(field.name.c_str(), field.name.size()));
    nb::object of_field = dtype_description(field.type);
    if (!field.shape.empty()) {
      nb::list shape;
      for (int64_t length : field.shape) shape.append(length);
      of_field = nb::make_tuple(of_field, nb::tuple(shape));
    }
    formats.append(of_field);
    offsets.append(field.offset);
  }
  nb::dict dict;
  dict["names"] = names;
  dict["formats"] = formats;
  dict["offsets"] = offsets;
  dict["itemsize"] = type.size;
  return dict;
}

nb::object vlen_description(const DType& type) {
  if (type.kind == TypeKind::String) return nb::str("str");
  if (type.kind == TypeKind::VlenBytes) return nb::str("bytes");
  if (!type.has_references_to_heap()) return nb::none();
  nb::dict dict;
  for (const Field& field : *type.fields)
    dict[nb::str(field.name.c_str(), field.name.size())] = vlen_description(field.type);
  return dict;
}

}  // namespace lamella::python
