#include "array/hdf5/datatype.h"

#include <string>

#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int kDeepest = 16;

struct Head {
  int version;
  int kind;
  uint32_t bits;
  int64_t size;
};

[[noreturn]] void unsupported(const std::string& what) { throw Error(ErrorKind::Unsupported, what + " are not read"); }

Datatype parse(const Container& container, ByteReader& in, int depth);

DType parse_integer(ByteReader& in, const Head& head) {
  const int offset = in.u16();
  const int precision = in.u16();
  const int64_t size = head.size;
  if (offset != 0 || precision != size * 8 || (size != 1 && size != 2 && size != 4 && size != 8)) {
    unsupported("integers of " + std::to_string(precision) + " bits in " + std::to_string(size) + " bytes");
  }
  const bool is_signed = head.kind == 0 && (head.bits & 8);
  return DType::make(is_signed ? TypeKind::Int : TypeKind::UInt, size, (head.bits & 1) && size > 1);
}

DType parse_float(ByteReader& in, const Head& head) {
  in.skip(2);
  const int precision = in.u16();
  in.skip(1);
  const int exponent = in.u8();
  in.skip(1);
  const int mantissa = in.u8();
  in.skip(4);
  const bool big = head.bits & 1;
  const int64_t size = head.size;
  if (head.bits & 0x40) unsupported("floats in VAX order");
  if (size == 2 && exponent == 8) unsupported("bfloat16 floats");
  const bool known = (size == 2 && exponent == 5 && mantissa == 10) || (size == 4 && exponent == 8 && mantissa == 23) ||
                     (size == 8 && exponent == 11 && mantissa == 52) ||
                     (size == 16 && precision == 80 && exponent == 15 && mantissa == 64);
  if (!known) {
    unsupported("floats of " + std::to_string(exponent) + " exponent and " + std::to_string(mantissa) +
                " mantissa bits in " + std::to_string(size) + " bytes");
  }
  return DType::make(TypeKind::Float, size, big);
}

// h5py keeps numpy's dates as opaque bytes with numpy's type in the tag.
DType parse_opaque(ByteReader& in, const Head& head) {
  const ConstBytes raw = in.take(head.bits & 0xff);
  std::string tag(reinterpret_cast<const char*>(raw.data()), raw.size());
  tag = tag.substr(0, tag.find('\0'));
  if (tag.starts_with("NUMPY:")) {
    try {
      const DType type = parse_dtype(tag.substr(6));
      if (type.size == head.size && (type.kind == TypeKind::DateTime || type.kind == TypeKind::TimeDelta)) return type;
    } catch (const Error&) {  // a tag is free text: the bytes stay what they are
    }
  }
  return DType::make(TypeKind::Raw, head.size);
}

std::string take_name(ByteReader& in, int version) {
  const int64_t begin = in.position();
  std::string name(in.c_string());
  if (version < 3) in.skip(round_up(in.position() - begin, 8) - (in.position() - begin));
  return name;
}

int offset_width(int64_t size) {
  int width = 1;
  while (width < 8 && (size >> (8 * width)) != 0) ++width;
  return width;
}

DType parse_compound(const Container& container, ByteReader& in, const Head& head, int depth) {
  std::vector<Field> fields;
  for (uint32_t n = head.bits & 0xffff; n > 0; --n) {
    Field field;
    field.name = take_name(in, head.version);
    field.offset = static_cast<int64_t>(head.version >= 3 ? in.uint(offset_width(head.size)) : in.u32());
    if (head.version == 1) {
      const int rank = in.u8();
      in.skip(11);
      for (int axis = 0; axis < 4; ++axis) {
        const int64_t length = in.u32();
        if (axis < rank) field.shape.push_back(length);
      }
    }
    Datatype member = parse(container, in, depth + 1);
    if (member.sequence_of) unsupported("variable-length sequences inside of a compound (field '" + field.name + "')");
    field.type = std::move(member.type);
    field.shape.insert(field.shape.end(), member.shape.begin(), member.shape.end());
    const int64_t bytes = checked_mul(count(field.shape), field.type.size);
    if (field.offset < 0 || field.offset > head.size - bytes)
      in.fail("field '" + field.name + "' inside of its compound,");
    fields.push_back(std::move(field));
  }
  if (fields.empty()) in.fail("a field of the compound");
  if (fields.size() == 2 && fields[0].name == "r" && fields[1].name == "i" && fields[0].type.kind == TypeKind::Float &&
      fields[0].type == fields[1].type && fields[0].offset == 0 && fields[0].shape.empty() && fields[1].shape.empty() &&
      fields[1].offset == fields[0].type.size && head.size == 2 * fields[0].type.size) {
    const DType part = fields[0].type;
    if (part.size >= 4) return DType::make(TypeKind::Complex, 2 * part.size, part.big_endian);
  }
  return DType::record(std::move(fields), head.size);
}

DType parse_enum(const Container& container, ByteReader& in, const Head& head, int depth) {
  DType base = parse(container, in, depth + 1).type;
  if (base.kind != TypeKind::Int && base.kind != TypeKind::UInt) in.fail("an integer type below the enumeration");
  if (base.size != head.size) in.fail("an enumeration as large as its integer");
  std::vector<std::pair<std::string, int64_t>> values;
  for (uint32_t n = head.bits & 0xffff; n > 0; --n) values.emplace_back(take_name(in, head.version), 0);
  for (auto& [name, value] : values) {
    std::byte raw[8] = {};
    std::memcpy(raw, in.take(base.size).data(), static_cast<size_t>(base.size));
    if (base.big_endian) swap_bytes(base, raw, 1);
    uint64_t bits;
    std::memcpy(&bits, raw, 8);
    const int unused = static_cast<int>(64 - 8 * base.size);
    value = base.kind == TypeKind::Int ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
  }
  const bool is_bool = base.size == 1 && values.size() == 2 &&
                       values[0] == std::pair<std::string, int64_t>("FALSE", 0) &&
                       values[1] == std::pair<std::string, int64_t>("TRUE", 1);
  if (is_bool) return DType::boolean();
  base.enumerators = std::make_shared<const std::vector<std::pair<std::string, int64_t>>>(std::move(values));
  return base;
}

Datatype parse_vlen(const Container& container, ByteReader& in, const Head& head, int depth) {
  Datatype base = parse(container, in, depth + 1);
  if (container.super().offset_size != 8 || head.size != 16) {
    unsupported("variable-length elements of " + std::to_string(head.size) + " bytes (addresses of " +
                std::to_string(container.super().offset_size) + " bytes)");
  }
  if ((head.bits & 0xf) == 1) return {DType::string(), {}, nullptr};
  Datatype out{DType::vlen_bytes(), {}, nullptr};
  const bool byte_like =
      base.type.kind == TypeKind::UInt || base.type.kind == TypeKind::Int || base.type.kind == TypeKind::Raw;
  if (base.type.size != 1 || !byte_like || !base.shape.empty() || base.sequence_of) {
    out.sequence_of = std::make_shared<const Datatype>(std::move(base));
  }
  return out;
}

Datatype parse_array(const Container& container, ByteReader& in, const Head& head, int depth) {
  Datatype out;
  const int rank = in.u8();
  if (head.version < 3) in.skip(3);
  for (int axis = 0; axis < rank; ++axis) out.shape.push_back(in.u32());
  if (head.version < 3) in.skip(4 * rank);
  Datatype base = parse(container, in, depth + 1);
  if (base.sequence_of) unsupported("arrays of variable-length sequences");
  out.type = std::move(base.type);
  out.shape.insert(out.shape.end(), base.shape.begin(), base.shape.end());
  if (checked_mul(count(out.shape), out.type.size) != head.size) in.fail("an array type of the size of its elements");
  return out;
}

Datatype parse(const Container& container, ByteReader& in, int depth) {
  if (depth > kDeepest) in.fail("a datatype nested less than " + std::to_string(kDeepest) + " deep");
  const int first = in.u8();
  Head head{first >> 4, first & 15, static_cast<uint32_t>(in.uint(3)), 0};
  head.size = in.u32();
  if (head.version < 1 || head.version > 5)
    in.fail("datatype version 1 to 5, not " + std::to_string(head.version) + ",");
  if (head.size == 0) in.fail("a datatype that is not empty");
  switch (head.kind) {
    case 0:
    case 4: return {parse_integer(in, head), {}, nullptr};
    case 1: return {parse_float(in, head), {}, nullptr};
    case 2: unsupported("time elements");
    case 3: return {DType::make(TypeKind::Bytes, head.size), {}, nullptr};
    case 5: return {parse_opaque(in, head), {}, nullptr};
    case 6: return {parse_compound(container, in, head, depth), {}, nullptr};
    case 7:
      if ((head.bits & 15) == 1) unsupported("region references");
      if ((head.bits & 15) != 0 || head.size != 8)
        unsupported("references of the kind " + std::to_string(head.bits & 15));
      return {DType::make(TypeKind::Reference, 8), {}, nullptr};
    case 8: return {parse_enum(container, in, head, depth), {}, nullptr};
    case 9: return parse_vlen(container, in, head, depth);
    case 10: return parse_array(container, in, head, depth);
    case 11: {
      const DType part = parse(container, in, depth + 1).type;
      if (part.kind != TypeKind::Float || part.size < 4 || head.size != 2 * part.size)
        unsupported("complex numbers of this kind");
      return {DType::make(TypeKind::Complex, head.size, part.big_endian), {}, nullptr};
    }
    default: unsupported("datatypes of class " + std::to_string(head.kind));
  }
}

}  // namespace

Datatype parse_datatype(const Container& container, ByteReader& in) { return parse(container, in, 0); }

}  // namespace lamella::array::hdf5
