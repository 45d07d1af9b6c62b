#include "array/hdf5/writer/encode_messages.h"

#include <algorithm>

#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& advice) {
  throw Error(ErrorKind::Unsupported, what + " cannot be stored in HDF5; " + advice);
}

// Class and version, three bytes of bits, size.
void put_head(ByteWriter& out, uint64_t kind, uint32_t bits, int64_t size, int version = 1) {
  if (size > UINT32_MAX) throw Error(ErrorKind::Unsupported, "an element of 4 GiB or more cannot be stored in HDF5");
  out.u8(static_cast<uint64_t>(version) << 4 | kind).put(bits, 3).u32(static_cast<uint64_t>(size));
}

void put_integer(ByteWriter& out, int64_t size, bool is_signed, bool big) {
  put_head(out, 0, (big ? 1u : 0u) | (is_signed ? 8u : 0u), size);
  out.u16(0).u16(static_cast<uint64_t>(size * 8));
}

struct FloatForm {
  int64_t size;
  uint32_t precision, exponent, exponent_bits, mantissa_bits, bias;
  uint32_t hidden_bit;  // 2: the first bit of the mantissa is one and not stored
};
constexpr FloatForm kFloats[] = {{2, 16, 10, 5, 10, 15, 2},
                                 {4, 32, 23, 8, 23, 127, 2},
                                 {8, 64, 52, 11, 52, 1023, 2},
                                 {16, 80, 64, 15, 64, 16383, 0}};

void put_float(ByteWriter& out, int64_t size, bool big) {
  for (const FloatForm& form : kFloats) {
    if (form.size != size) continue;
    put_head(out, 1, (big ? 1u : 0u) | form.hidden_bit << 4 | (form.precision - 1) << 8, size);
    out.u16(0).u16(form.precision).u8(form.exponent).u8(form.exponent_bits).u8(0).u8(form.mantissa_bits).u32(form.bias);
    return;
  }
  throw Error(ErrorKind::Unsupported, "floats of " + std::to_string(size) + " bytes");
}

void put_padded_name(ByteWriter& out, const std::string& name) {
  const int64_t begin = out.size();
  out.text(name).u8(0);
  const int64_t length = out.size() - begin;
  out.zeros((8 - length % 8) % 8);
}

void put_enumeration(ByteWriter& out, const DType& base, const std::vector<std::pair<std::string, int64_t>>& members) {
  if (members.size() > UINT16_MAX) throw Error(ErrorKind::Unsupported, "an enumeration of more than 65535 members");
  put_head(out, 8, static_cast<uint32_t>(members.size()), base.size);
  put_integer(out, base.size, base.kind == TypeKind::Int, base.big_endian);
  for (const auto& member : members) put_padded_name(out, member.first);
  for (const auto& member : members) {
    ByteWriter value;
    value.put(static_cast<uint64_t>(member.second), static_cast<int>(base.size));
    if (base.big_endian) std::reverse(value.data(), value.data() + value.size());
    out.put(value.bytes());
  }
}

// The version of a compound: the second has array types for its members, of any number of axes.
int compound_version(const DType& type) {
  const bool arrays = std::any_of(type.fields->begin(), type.fields->end(), [](const Field& field) {
    return !field.shape.empty() || (field.type.kind == TypeKind::Struct && compound_version(field.type) > 1);
  });
  return arrays ? 2 : 1;
}

void put_array_type(ByteWriter& out, const Shape& shape, const DType& type) {
  if (shape.size() > 32 || count(shape) == 0) cannot("record fields of shape " + to_string(shape), "leave them out");
  put_head(out, 10, 0, checked_mul(count(shape), type.size), 2);
  out.u8(shape.size()).zeros(3);
  for (int64_t length : shape) out.u32(static_cast<uint64_t>(length));
  out.zeros(4 * static_cast<int64_t>(shape.size()));  // a permutation that nobody ever used
  put_datatype(out, type);
}

void put_member(ByteWriter& out, int version, const Field& field) {
  put_padded_name(out, field.name);
  out.u32(static_cast<uint64_t>(field.offset));
  if (version == 1) out.zeros(28);  // where the first version has up to 4 axes
  if (field.shape.empty()) put_datatype(out, field.type);
  else put_array_type(out, field.shape, field.type);
}

}  // namespace

void put_datatype(ByteWriter& out, const DType& type) {
  switch (type.kind) {
    case TypeKind::Bool: return put_enumeration(out, DType::int_(1), {{"FALSE", 0}, {"TRUE", 1}});
    case TypeKind::Int:
    case TypeKind::UInt:
      if (type.enumerators && !type.enumerators->empty()) return put_enumeration(out, type, *type.enumerators);
      return put_integer(out, type.size, type.kind == TypeKind::Int, type.big_endian);
    case TypeKind::Float: return put_float(out, type.size, type.big_endian);
    case TypeKind::Complex: {
      const DType part = DType::make(TypeKind::Float, type.size / 2, type.big_endian);
      put_head(out, 6, 2, type.size);
      put_member(out, 1, {"r", 0, part, {}});
      put_member(out, 1, {"i", part.size, part, {}});
      return;
    }
    case TypeKind::Bytes:
      if (type.size == 0) cannot("text of fixed length 0", "cast it to strings");
      return put_head(out, 3, 1, type.size);  // null-padded ASCII
    case TypeKind::Raw:
      if (type.size == 0) cannot("opaque elements of 0 bytes", "leave the element out");
      return put_head(out, 5, 0, type.size);
    case TypeKind::String:
      put_head(out, 9, 1 | 1 << 8, 16);  // a string, null-terminated, UTF-8
      return put_integer(out, 1, false, false);
    case TypeKind::VlenBytes: put_head(out, 9, 0, 16); return put_integer(out, 1, false, false);
    case TypeKind::Reference: return put_head(out, 7, 0, 8);
    case TypeKind::Struct:
      if (type.fields->empty()) cannot("records without fields", "leave the element out");
      if (type.fields->size() > UINT16_MAX) cannot("records of more than 65535 fields", "split them");
      put_head(out, 6, static_cast<uint32_t>(type.fields->size()), type.size, compound_version(type));
      for (const Field& field : *type.fields) put_member(out, compound_version(type), field);
      return;
    case TypeKind::Unicode: cannot("text of fixed length in UCS-4", "write it as strings");
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: cannot("dates and time spans", "cast them to integers or keep them in Zarr");
  }
}

void put_dataspace(ByteWriter& out, const Shape& shape, const Shape& max_shape, bool null_space) {
  if (null_space) {
    out.u8(2).u8(0).u8(0).u8(2);
    return;
  }
  const bool limited = !max_shape.empty() && max_shape.size() == shape.size();
  out.u8(1).u8(shape.size()).u8(limited ? 1 : 0).zeros(5);
  for (int64_t length : shape) out.u64(static_cast<uint64_t>(length));
  if (!limited) return;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t most = max_shape[axis];  // -1 is "unlimited" here too
    out.u64(static_cast<uint64_t>(most < 0 ? -1 : std::max(most, shape[axis])));
  }
}

void put_fill_value(ByteWriter& out, const ArraySpec& spec) {
  const bool has_value = !spec.fill.empty() && !spec.type.has_references_to_heap() &&
                         std::any_of(spec.fill.begin(), spec.fill.end(), [](std::byte b) { return b != std::byte{0}; });
  // Space is allocated late (contiguous) or as chunks come; the fill value is written if it was set.
  out.u8(2).u8(spec.contiguous() ? 2 : 3).u8(2).u8(1);
  out.u32(has_value ? spec.fill.size() : 0);
  if (has_value) out.put(ConstBytes(spec.fill));
}

void put_filters(ByteWriter& out, const ArraySpec& spec) {
  const int64_t chunk_bytes = checked_mul(count(spec.chunks), spec.type.size);
  out.u8(1).u8(spec.codecs.size() - 1).zeros(6);
  for (size_t i = 1; i < spec.codecs.size(); ++i) {
    const codec::Hdf5Filter filter = codec::to_hdf5(spec.codecs[i], spec.type.size, chunk_bytes);
    const int64_t name = filter.name.empty() ? 0 : round_up(static_cast<int64_t>(filter.name.size()) + 1, 8);
    out.u16(filter.number).u16(static_cast<uint64_t>(name)).u16(filter.optional ? 1 : 0).u16(filter.values.size());
    out.text(filter.name).zeros(name - static_cast<int64_t>(filter.name.size()));
    for (uint32_t value : filter.values) out.u32(value);
    if (filter.values.size() % 2 != 0) out.u32(0);
  }
}

void put_contiguous_layout(ByteWriter& out, int64_t address, int64_t bytes) {
  out.u8(3).u8(1).address(address).u64(static_cast<uint64_t>(bytes));
}

void put_chunked_layout(ByteWriter& out, const ArraySpec& spec, int64_t tree) {
  out.u8(3).u8(2).u8(spec.chunks.size() + 1).address(tree);
  for (int64_t length : spec.chunks) out.u32(static_cast<uint64_t>(length));
  out.u32(static_cast<uint64_t>(spec.type.size));
}

}  // namespace lamella::array::hdf5
