#include "base/dtype.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace lamella {
namespace {

struct Name {
  const char* text;
  TypeKind kind;
  int64_t size;
};

constexpr Name kNames[] = {
    {"bool", TypeKind::Bool, 1},         {"int8", TypeKind::Int, 1},
    {"int16", TypeKind::Int, 2},         {"int32", TypeKind::Int, 4},
    {"int64", TypeKind::Int, 8},         {"uint8", TypeKind::UInt, 1},
    {"uint16", TypeKind::UInt, 2},       {"uint32", TypeKind::UInt, 4},
    {"uint64", TypeKind::UInt, 8},       {"float16", TypeKind::Float, 2},
    {"float32", TypeKind::Float, 4},     {"float64", TypeKind::Float, 8},
    {"complex64", TypeKind::Complex, 8}, {"complex128", TypeKind::Complex, 16},
};

[[noreturn]] void unknown(const std::string& text) {
  throw Error(ErrorKind::Unsupported,
              "data type '" + text + "' is not known; use numpy's spelling, e.g. <f4 or float32");
}

char letter(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return 'b';
    case TypeKind::Int: return 'i';
    case TypeKind::UInt: return 'u';
    case TypeKind::Float: return 'f';
    case TypeKind::Complex: return 'c';
    case TypeKind::Bytes: return 'S';
    case TypeKind::Unicode: return 'U';
    case TypeKind::Raw: return 'V';
    case TypeKind::DateTime: return 'M';
    case TypeKind::TimeDelta: return 'm';
    default: return '?';
  }
}

bool valid_size(TypeKind kind, int64_t size) {
  switch (kind) {
    case TypeKind::Bool: return size == 1;
    case TypeKind::Int:
    case TypeKind::UInt: return size == 1 || size == 2 || size == 4 || size == 8;
    case TypeKind::Float: return size == 2 || size == 4 || size == 8 || size == 16;
    case TypeKind::Complex: return size == 8 || size == 16 || size == 32;
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: return size == 8;
    default: return size >= 0 && size < (int64_t{1} << 31);
  }
}

void swap_scalars(std::byte* data, int64_t elements, int64_t stride, int64_t width) {
  for (int64_t i = 0; i < elements; ++i) std::reverse(data + i * stride, data + i * stride + width);
}

// Bytes that are swapped as one, and how many of them lie in an element.
int64_t scalar_width(const DType& type) {
  if (type.kind == TypeKind::Complex) return type.size / 2;
  if (type.kind == TypeKind::Unicode) return 4;
  return type.size;
}

bool has_byte_order(const DType& type) {
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Bytes:
    case TypeKind::Raw:
    case TypeKind::String:
    case TypeKind::VlenBytes:
    case TypeKind::Struct: return false;
    default: return scalar_width(type) > 1;
  }
}

}  // namespace

DType DType::record(std::vector<Field> fields, int64_t size) {
  DType type = make(TypeKind::Struct, size);
  type.fields = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

bool DType::has_references_to_heap() const {
  if (kind != TypeKind::Struct) return is_vlen();
  return std::any_of(fields->begin(), fields->end(), [](const Field& f) { return f.type.has_references_to_heap(); });
}

bool DType::operator==(const DType& other) const {
  if (kind != other.kind || size != other.size || big_endian != other.big_endian || unit != other.unit) return false;
  return kind != TypeKind::Struct || fields == other.fields || *fields == *other.fields;
}

std::string to_string(const DType& type) {
  switch (type.kind) {
    case TypeKind::Struct: return "struct";
    case TypeKind::String: return "string";
    case TypeKind::VlenBytes: return "bytes";
    case TypeKind::Reference: return "reference";
    default: break;
  }
  std::string text(1, has_byte_order(type) || type.kind == TypeKind::Unicode ? (type.big_endian ? '>' : '<') : '|');
  text += letter(type.kind);
  text += std::to_string(type.kind == TypeKind::Unicode ? type.size / 4 : type.size);
  const bool timed = type.kind == TypeKind::DateTime || type.kind == TypeKind::TimeDelta;
  if (timed && !type.unit.empty() && type.unit != "generic") text += "[" + type.unit + "]";
  return text;
}

DType parse_dtype(const std::string& text) {
  for (const Name& name : kNames) {
    if (text == name.text) return DType::make(name.kind, name.size);
  }
  if (text == "string") return DType::string();
  if (text == "bytes") return DType::vlen_bytes();
  if (text == "reference") return DType::make(TypeKind::Reference, 8);
  size_t at = 0;
  bool big = false;
  if (at < text.size() && std::string("<>|=").find(text[at]) != std::string::npos) big = text[at++] == '>';
  if (at >= text.size()) unknown(text);
  const char code = text[at++];
  int64_t number = 0;
  size_t digits = 0;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && digits < 10) {
    number = number * 10 + (text[at++] - '0');
    ++digits;
  }
  std::string unit;
  if (at < text.size() && text[at] == '[' && text.back() == ']' && (code == 'M' || code == 'm')) {
    unit = text.substr(at + 1, text.size() - at - 2);
    at = text.size();
  }
  const std::string codes = "biufcSUVMm";
  const size_t kind_index = codes.find(code);
  if (digits == 0 || at != text.size() || kind_index == std::string::npos) unknown(text);
  DType type = DType::make(static_cast<TypeKind>(kind_index), code == 'U' ? number * 4 : number, big);
  if (code == 'M' || code == 'm') type.unit = unit.empty() ? "generic" : unit;
  if (!valid_size(type.kind, type.size)) unknown(text);
  if (!has_byte_order(type)) type.big_endian = false;
  return type;
}

void swap_bytes(const DType& type, std::byte* data, int64_t elements) {
  if (type.kind == TypeKind::Struct) {
    for (const Field& field : *type.fields) {
      const int64_t inner = count(field.shape);
      for (int64_t i = 0; i < elements; ++i) swap_bytes(field.type, data + i * type.size + field.offset, inner);
    }
    return;
  }
  if (!has_byte_order(type)) return;
  const int64_t width = scalar_width(type);
  const int64_t scalars = elements * (type.size / width);
  switch (width) {
    case 2:
      for (int64_t i = 0; i < scalars; ++i) {
        uint16_t v;
        __builtin_memcpy(&v, data + i * 2, 2);
        v = __builtin_bswap16(v);
        __builtin_memcpy(data + i * 2, &v, 2);
      }
      return;
    case 4:
      for (int64_t i = 0; i < scalars; ++i) {
        uint32_t v;
        __builtin_memcpy(&v, data + i * 4, 4);
        v = __builtin_bswap32(v);
        __builtin_memcpy(data + i * 4, &v, 4);
      }
      return;
    case 8:
      for (int64_t i = 0; i < scalars; ++i) {
        uint64_t v;
        __builtin_memcpy(&v, data + i * 8, 8);
        v = __builtin_bswap64(v);
        __builtin_memcpy(data + i * 8, &v, 8);
      }
      return;
    default: swap_scalars(data, scalars, width, width);
  }
}

DType little_endian(const DType& type) {
  DType out = type;
  out.big_endian = false;
  if (type.kind == TypeKind::Struct) {
    std::vector<Field> fields = *type.fields;
    for (Field& field : fields) field.type = little_endian(field.type);
    out.fields = std::make_shared<const std::vector<Field>>(std::move(fields));
  }
  return out;
}

bool any_big_endian(const DType& type) {
  if (type.kind != TypeKind::Struct) return type.big_endian;
  return std::any_of(type.fields->begin(), type.fields->end(), [](const Field& f) { return any_big_endian(f.type); });
}

}  // namespace lamella
