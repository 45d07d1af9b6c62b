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

// Lengths of nested lists.
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

// The leaves in row-major order; all lists on one level must be of the length that `shape` says.
void flatten(const Json& value, size_t depth, const Shape& shape, const std::string& name,
             std::vector<const Json*>& out) {
  if (depth == shape.size()) return out.push_back(&value);
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[depth]) cannot(name, "a list of unlike things");
  for (const Json& one : value) flatten(one, depth + 1, shape, name, out);
}

// What JSON leaves open: bool, int64, uint64 beyond that, float64, string. Python's json keeps ints and floats apart,
// and so do we, unless they are mixed.
DType guess_type(const std::vector<const Json*>& leaves, const std::string& name) {
  if (leaves.empty()) return DType::float_(8);  // as h5py writes an empty list
  auto all = [&](auto test) {
    return std::all_of(leaves.begin(), leaves.end(), [&](const Json* leaf) { return test(*leaf); });
  };
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
    const uint64_t bits = leaf.is_boolean() ? leaf.get<bool>()
                          : is_unsigned     ? leaf.get<uint64_t>()
                                            : static_cast<uint64_t>(leaf.get<int64_t>());
    const DType from = is_unsigned ? DType::uint(8) : DType::int_(8);
    convert_elements(from, reinterpret_cast<const std::byte*>(&bits), type, out, 1);
    return;
  }
  const double number = leaf.get<double>();
  convert_elements(DType::float_(8), reinterpret_cast<const std::byte*>(&number), type, out, 1);
}

// The bytes of opaque elements are JSON's characters U+0000 to U+00FF.
std::string from_latin1(const std::string& text, const std::string& name) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      out += text[i];
      continue;
    }
    if ((c & 0xfc) != 0xc0 || ++i == text.size()) cannot(name, "text beyond U+00FF as bytes");
    out += static_cast<char>(c << 6 | (text[i] & 0x3f));
  }
  return out;
}

void put_element(const Json& value, const DType& type, std::byte* out, HeapBuilder& heap, const std::string& name);

void put_record(const Json& value, const DType& type, std::byte* out, HeapBuilder& heap, const std::string& name) {
  for (const Field& field : *type.fields) {
    std::vector<const Json*> leaves;
    flatten(value.at(field.name), 0, field.shape, name, leaves);
    std::byte* at = out + field.offset;
    for (const Json* leaf : leaves) {
      put_element(*leaf, field.type, at, heap, name);
      at += field.type.size;
    }
  }
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
      const auto& given = value.get_ref<const std::string&>();
      const std::string text = type.kind == TypeKind::Raw ? from_latin1(given, name) : given;
      if (static_cast<int64_t>(text.size()) > type.size) cannot(name, "a text longer than its fixed length");
      std::memcpy(out, text.data(), text.size());
      return;
    }
    case TypeKind::String:
    case TypeKind::VlenBytes: {
      const auto& given = value.get_ref<const std::string&>();
      const std::string text = type.kind == TypeKind::VlenBytes ? from_latin1(given, name) : given;
      return put_reference(out, heap.add({reinterpret_cast<const std::byte*>(text.data()), text.size()}), 0);
    }
    case TypeKind::Struct: return put_record(value, type, out, heap, name);
    case TypeKind::Reference: return;  // the address is not known yet
    default: cannot(name, "a value of type " + lamella::to_string(type));
  }
}

// A reference inside of a record has no place among the pending ones.
bool has_reference(const DType& type) {
  if (type.kind == TypeKind::Reference) return true;
  return type.kind == TypeKind::Struct &&
         std::any_of(type.fields->begin(), type.fields->end(), [](const Field& f) { return has_reference(f.type); });
}

void store_value(const Attribute& attribute, HeapBuilder& heap, StoredAttribute& out) {
  const Shape shape = attribute.type ? attribute.shape : shape_of(attribute.value, out.name);
  if (shape.size() > 32) cannot(out.name, "a value of more than 32 axes");
  std::vector<const Json*> leaves;
  // Where an axis has length 0, nobody says how deeply the empty lists are nested.
  if (count(shape) > 0) flatten(attribute.value, 0, shape, out.name, leaves);
  out.element = attribute.type ? *attribute.type : guess_type(leaves, out.name);
  if (out.element.kind == TypeKind::Struct && has_reference(out.element)) cannot(out.name, "a record of references");
  out.elements = static_cast<int64_t>(leaves.size());
  put_datatype(out.type, out.element);
  put_dataspace(out.space, shape, {}, false);
  out.data.zeros(checked_mul(out.elements, out.element.size));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (out.element.kind == TypeKind::Reference) out.targets.push_back(leaves[i]->get<std::string>());
    put_element(*leaves[i], out.element, out.data.data() + i * static_cast<size_t>(out.element.size), heap, out.name);
  }
}

}  // namespace

StoredAttribute store_attribute(const std::string& name, const Attribute& attribute, HeapBuilder& heap) {
  StoredAttribute out;
  out.name = name;
  attribute.check();
  if (name.empty() || name.size() > 60000 || name.find('\0') != std::string::npos) cannot(name, "such a name");
  if (attribute.null_space) {
    out.element = attribute.type.value_or(DType::float_(4));
    put_datatype(out.type, out.element);
    put_dataspace(out.space, {}, {}, true);
    return out;
  }
  try {
    store_value(attribute, heap, out);
  } catch (const Json::exception&) {
    cannot(name, attribute.value.dump());
  } catch (Error& error) {
    if (std::string(error.what()).rfind("attribute", 0) != 0) error.prefix("attribute '" + name + "'");
    throw;
  }
  if (out.type.size() > kMostMessage) cannot(name, "a type with so many members");
  return out;
}

int64_t StoredAttribute::message_bytes() const {
  return 24 + round_up(static_cast<int64_t>(name.size()) + 1, 8) + round_up(type.size(), 8) +
         round_up(space.size(), 8) + data.size();
}

ByteWriter StoredAttribute::message(int64_t heap_address, bool version_3) const {
  ByteWriter values = data;
  relocate_strings(element, values.data(), elements, heap_address);
  ByteWriter out;
  const bool utf8 = !is_ascii(name);
  const bool padded = !version_3 && !utf8;  // as version 1 has it, which knows no character sets
  out.u8(padded ? 1 : 3).u8(0).u16(name.size() + 1).u16(static_cast<uint64_t>(type.size()));
  out.u16(static_cast<uint64_t>(space.size()));
  if (!padded) out.u8(utf8 ? 1 : 0);
  const auto part = [&](ConstBytes bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    out.put(bytes);
    if (padded) out.zeros(round_up(size, 8) - size);
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
