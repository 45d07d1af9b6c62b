#include <algorithm>
#include <cstring>

#include "array/hdf5/writer/encode_messages.h"
#include "array/hdf5/writer/header_writer.h"
#include "base/convert.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

[[noreturn]] void cannot(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::Unsupported, "attribute '" + name + "': " + what + " cannot be stored in HDF5");
}

// Lengths of nested lists; all on one level must agree. `complex_type`: the innermost pairs are numbers.
Shape shape_of(const Json& value, const std::string& name) {
  Shape shape;
  const Json* here = &value;
  while (here->is_array()) {
    shape.push_back(static_cast<int64_t>(here->size()));
    if (here->empty()) break;
    here = &(*here)[0];
    if (shape.size() > 32) cannot(name, "a list nested that deeply");
  }
  return shape;
}

// The leaves in row-major order.
void flatten(const Json& value, size_t depth, const Shape& shape, const std::string& name, std::vector<const Json*>& out) {
  if (depth == shape.size()) {
    if (value.is_structured()) cannot(name, "a list of unlike things");
    out.push_back(&value);
    return;
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[depth]) cannot(name, "a list of unlike things");
  for (const Json& one : value) flatten(one, depth + 1, shape, name, out);
}

// What JSON leaves open: bool, int64, uint64 beyond that, float64, string. Python's json keeps ints and floats apart, and so
// do we, unless they are mixed.
DType guess_type(const std::vector<const Json*>& leaves, const std::string& name) {
  if (leaves.empty()) return DType::float_(8);  // as h5py writes an empty list
  auto all = [&](auto test) { return std::all_of(leaves.begin(), leaves.end(), [&](const Json* leaf) { return test(*leaf); }); };
  if (all([](const Json& leaf) { return leaf.is_string(); })) return DType::string();
  if (all([](const Json& leaf) { return leaf.is_boolean(); })) return DType::boolean();
  if (all([](const Json& leaf) { return leaf.is_number_integer(); })) {
    const bool wide = std::any_of(leaves.begin(), leaves.end(), [](const Json* leaf) {
      return leaf->is_number_unsigned() && leaf->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    });
    return wide ? DType::uint(8) : DType::int_(8);
  }
  if (all([](const Json& leaf) { return leaf.is_number(); })) return DType::float_(8);
  cannot(name, leaves[0]->is_null() ? "null" : leaves[0]->is_object() ? "an object" : "a list of unlike things");
}

void put_number(const Json& leaf, const DType& type, std::byte* out) {
  if (leaf.is_boolean() || leaf.is_number_integer()) {
    const bool is_unsigned = leaf.is_number_unsigned();
    const uint64_t bits = leaf.is_boolean() ? leaf.get<bool>() : is_unsigned ? leaf.get<uint64_t>() : static_cast<uint64_t>(leaf.get<int64_t>());
    convert_elements(is_unsigned ? DType::uint(8) : DType::int_(8), reinterpret_cast<const std::byte*>(&bits), type, out, 1);
    return;
  }
  const double number = leaf.get<double>();
  convert_elements(DType::float_(8), reinterpret_cast<const std::byte*>(&number), type, out, 1);
}

// One element of the given type from its JSON form, at `out`, which is zero.
void put_element(const Json& value, const DType& type, std::byte* out, HeapBuilder& heap, const std::string& name) {
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::UInt:
    case TypeKind::Float:
      if (!value.is_number() && !value.is_boolean()) cannot(name, value.dump());
      return put_number(value, type, out);
    case TypeKind::Complex: {
      const DType part = DType::make(TypeKind::Float, type.size / 2, type.big_endian);
      put_number(value.at(0), part, out);
      return put_number(value.at(1), part, out + part.size);
    }
    case TypeKind::Bytes:
    case TypeKind::Raw: {
      const auto& text = value.get_ref<const std::string&>();
      std::memcpy(out, text.data(), std::min(text.size(), static_cast<size_t>(type.size)));
      return;
    }
    case TypeKind::String:
    case TypeKind::VlenBytes: {
      const auto& text = value.get_ref<const std::string&>();
      return put_reference(out, heap.add({reinterpret_cast<const std::byte*>(text.data()), text.size()}), 0);
    }
    case TypeKind::Struct:
      for (const Field& field : *type.fields) put_element(value.at(field.name), field.type, out + field.offset, heap, name);
      return;
    case TypeKind::Reference: return;  // the address is not known yet
    default: cannot(name, "a value of type " + lamella::to_string(type));
  }
}

}  // namespace

StoredAttribute store_attribute(const std::string& name, const Attribute& attribute, HeapBuilder& heap) {
  StoredAttribute out;
  out.name = name;
  if (name.empty() || name.size() > 60000) cannot(name, "such a name");
  if (attribute.null_space || (attribute.value.is_null() && attribute.type)) {
    out.element = attribute.type.value_or(DType::float_(4));
    put_datatype(out.type, out.element);
    put_dataspace(out.space, {}, {}, true);
    return out;
  }
  if (attribute.value.is_object() && !attribute.type) cannot(name, "an object");
  Shape shape = attribute.type ? attribute.shape : shape_of(attribute.value, name);
  std::vector<const Json*> leaves;
  try {
    if (attribute.type && (attribute.type->kind == TypeKind::Complex || attribute.type->kind == TypeKind::Struct)) {
      // Pairs and records are leaves although they have parts.
      std::function<void(const Json&, size_t)> walk = [&](const Json& value, size_t depth) {
        if (depth == shape.size()) leaves.push_back(&value);
        else for (const Json& one : value) walk(one, depth + 1);
      };
      walk(attribute.value, 0);
    } else {
      flatten(attribute.value, 0, shape, name, leaves);
    }
    out.element = attribute.type ? *attribute.type : guess_type(leaves, name);
    // A text that is longer than the fixed length it once had goes in as a string.
    out.elements = static_cast<int64_t>(leaves.size());
    put_datatype(out.type, out.element);
    put_dataspace(out.space, shape, {}, false);
    std::vector<std::byte> data(static_cast<size_t>(out.elements * out.element.size));
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (out.element.kind == TypeKind::Reference) out.targets.push_back(leaves[i]->get<std::string>());
      put_element(*leaves[i], out.element, data.data() + i * static_cast<size_t>(out.element.size), heap, name);
    }
    out.data.put(ConstBytes(data));
  } catch (const Json::exception&) {
    cannot(name, attribute.value.dump());
  } catch (Error& error) {
    if (std::string(error.what()).rfind("attribute", 0) != 0) error.prefix("attribute '" + name + "'");
    throw;
  }
  return out;
}

int64_t StoredAttribute::message_bytes() const {
  return 24 + round_up(static_cast<int64_t>(name.size()) + 1, 8) + round_up(type.size(), 8) + round_up(space.size(), 8) + data.size();
}

ByteWriter StoredAttribute::message(int64_t heap_address, const std::function<int64_t(const std::string&)>& address_of) const {
  ByteWriter values = data;
  relocate_strings(element, values.data(), elements, heap_address);
  for (size_t i = 0; i < targets.size(); ++i) {
    const int64_t address = address_of(targets[i]);
    std::memcpy(values.data() + 8 * i, &address, 8);
  }
  ByteWriter out;
  const bool ascii = is_ascii(name);
  out.u8(ascii ? 1 : 3).u8(0).u16(name.size() + 1).u16(static_cast<uint64_t>(type.size())).u16(static_cast<uint64_t>(space.size()));
  if (!ascii) out.u8(1);
  auto part = [&](ConstBytes bytes) {
    out.put(bytes);
    if (ascii) out.zeros(round_up(static_cast<int64_t>(bytes.size()), 8) - static_cast<int64_t>(bytes.size()));
  };
  ByteWriter terminated;
  terminated.text(name).u8(0);
  part(terminated.bytes());
  part(type.bytes());
  part(space.bytes());
  out.put(values.bytes());
  return out;
}

}  // namespace lamella::array::hdf5
