#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "array/zarr/data_type.h"
#include "base/convert.h"
#include "base/error.h"

namespace lamella::array::zarr {
namespace {

[[noreturn]] void bad_fill(const Json& fill, const DType& type) {
  throw Error(ErrorKind::Corrupt, "fill_value " + fill.dump() + " is none for elements of type " + to_string(type));
}

void put_scalar(const DType& type, double value, std::byte* out) {
  convert_elements(DType::float_(8), reinterpret_cast<const std::byte*>(&value), type, out, 1);
}

// The low bytes of `bits`, in the order of the type.
void put_bits(uint64_t bits, const DType& type, std::byte* out) {
  std::memcpy(out, &bits, static_cast<size_t>(type.size));
  if (type.big_endian) swap_bytes(type, out, 1);
}

// A number, "NaN", "Infinity", "-Infinity", or the bits as "0x…".
void read_float(const Json& fill, const DType& type, std::byte* out) {
  if (fill.is_number() || fill.is_boolean())
    return put_scalar(type, fill.is_boolean() ? (fill.get<bool>() ? 1 : 0) : fill.get<double>(), out);
  if (!fill.is_string()) bad_fill(fill, type);
  const auto& text = fill.get_ref<const std::string&>();
  if (text == "NaN") return put_scalar(type, std::numeric_limits<double>::quiet_NaN(), out);
  if (text == "Infinity") return put_scalar(type, HUGE_VAL, out);
  if (text == "-Infinity") return put_scalar(type, -HUGE_VAL, out);
  if (text.rfind("0x", 0) == 0 && type.size <= 8 && text.size() == 2 + 2 * static_cast<size_t>(type.size)) {
    uint64_t bits = 0;
    const auto [end, status] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (status != std::errc() || end != text.data() + text.size()) bad_fill(fill, type);
    return put_bits(bits, type, out);
  }
  if (text.empty()) return;
  bad_fill(fill, type);
}

// The number as 64 bits of two's complement, if `type` can hold it.
std::optional<uint64_t> integer_bits(const Json& fill, const DType& type) {
  const int width = static_cast<int>(type.size) * 8;
  const uint64_t most =
      type.kind == TypeKind::Bool ? 1 : ~uint64_t{0} >> (type.kind == TypeKind::Int ? 65 - width : 64 - width);
  if (fill.is_boolean()) return fill.get<bool>() ? 1 : 0;
  if (fill.is_number_float()) {  // "0.0": old writers
    const double value = fill.get<double>();
    if (std::trunc(value) != value || std::abs(value) >= 0x1p63) return std::nullopt;
    return integer_bits(static_cast<int64_t>(value), type);
  }
  if (!fill.is_number_integer()) return std::nullopt;
  const auto bits = fill.get<uint64_t>();
  if (fill.is_number_unsigned() || fill.get<int64_t>() >= 0) return bits <= most ? std::optional(bits) : std::nullopt;
  return type.kind == TypeKind::Int && ~bits <= most ? std::optional(bits) : std::nullopt;
}

void read_integer(const Json& fill, const DType& type, std::byte* out) {
  const std::optional<uint64_t> bits = integer_bits(fill, type);
  if (!bits) bad_fill(fill, type);
  put_bits(*bits, type, out);
}

void read_ticks(const Json& fill, const DType& type, std::byte* out) {
  if (fill == "NaT") return put_bits(uint64_t{1} << 63, type, out);
  if (!fill.is_number_integer()) bad_fill(fill, type);
  put_bits(fill.get<uint64_t>(), type, out);
}

// Bytes: base64, or a list of numbers; 0 is none.
std::vector<std::byte> read_bytes(const Json& fill, const DType& type) {
  if (fill.is_string()) return decode_base64(fill.get<std::string>());
  if (fill.is_number() && fill == 0) return {};
  if (!fill.is_array()) bad_fill(fill, type);
  std::vector<std::byte> bytes;
  for (const Json& one : fill) {
    if (!one.is_number_integer() || one.get<uint64_t>() > 255) bad_fill(fill, type);
    bytes.push_back(static_cast<std::byte>(one.get<uint64_t>()));
  }
  return bytes;
}

void read_raw(const Json& fill, const DType& type, std::byte* out) {
  const std::vector<std::byte> bytes = read_bytes(fill, type);
  if (static_cast<int64_t>(bytes.size()) > type.size) bad_fill(fill, type);
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
}

void put_text(ConstBytes text, Heap& texts, std::byte* out) {
  if (text.empty()) return;
  const std::byte* kept = texts.adopt(Buffer::copy_of(text));
  const StringRef ref{reinterpret_cast<const char*>(kept), static_cast<int64_t>(text.size())};
  std::memcpy(out, &ref, sizeof(ref));
}

void read_vlen(const Json& fill, const DType& type, Heap& texts, std::byte* out) {
  if (type.kind == TypeKind::VlenBytes) return put_text(read_bytes(fill, type), texts, out);
  if (fill.is_number() && fill == 0) return;  // old writers
  if (!fill.is_string()) bad_fill(fill, type);
  put_text(std::as_bytes(std::span(fill.get_ref<const std::string&>())), texts, out);
}

void read_unicode(const Json& fill, const DType& type, std::byte* out) {
  if (!fill.is_string()) return;  // old writers put 0
  const auto& text = fill.get_ref<const std::string&>();
  int64_t at = 0;
  for (size_t i = 0; i < text.size() && at + 4 <= type.size; at += 4) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 63);
    std::memcpy(out + at, &code, 4);
    i += length;
  }
  if (type.big_endian) swap_bytes(type, out, 1);
}

void read_into(const Json& fill, const DType& type, Heap& texts, std::byte* out) {
  if (fill.is_null()) return;
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::UInt: return read_integer(fill, type, out);
    case TypeKind::Float: return read_float(fill, type, out);
    case TypeKind::Complex: {
      const DType part = DType::make(TypeKind::Float, type.size / 2, type.big_endian);
      if (!fill.is_array()) return read_float(fill, part, out);
      if (fill.size() != 2) bad_fill(fill, type);
      read_float(fill[0], part, out);
      return read_float(fill[1], part, out + part.size);
    }
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: return read_ticks(fill, type, out);
    case TypeKind::Unicode: return read_unicode(fill, type, out);
    case TypeKind::Bytes:
    case TypeKind::Raw: return read_raw(fill, type, out);
    case TypeKind::Struct:
      if (!fill.is_object()) return read_raw(fill, type, out);
      for (const Field& field : *type.fields) {
        if (fill.contains(field.name)) read_into(fill[field.name], field.type, texts, out + field.offset);
      }
      return;
    case TypeKind::String:
    case TypeKind::VlenBytes: return read_vlen(fill, type, texts, out);
    case TypeKind::Reference: return;
  }
}

Json float_fill(const DType& type, const std::byte* in, int version) {
  double value;
  convert_elements(type, in, DType::float_(8), reinterpret_cast<std::byte*>(&value), 1);
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (!std::isnan(value)) return value;
  // A NaN with a payload is told by its bits, where the version has a spelling for that.
  std::vector<std::byte> usual(static_cast<size_t>(type.size));
  put_scalar(type, std::numeric_limits<double>::quiet_NaN(), usual.data());
  if (version == 2 || type.size > 8 || std::memcmp(usual.data(), in, usual.size()) == 0) return "NaN";
  uint64_t bits = 0;
  std::memcpy(&bits, in, static_cast<size_t>(type.size));
  char text[20];
  std::snprintf(text, sizeof(text), "0x%0*llx", static_cast<int>(type.size * 2), static_cast<unsigned long long>(bits));
  return std::string(text);
}

std::string utf8(const std::byte* in, int64_t codes) {
  std::string text;
  for (int64_t i = 0; i < codes; ++i) {
    uint32_t code;
    std::memcpy(&code, in + 4 * i, 4);
    if (code == 0) break;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    } else if (code < 0x10000) {
      text += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
               static_cast<char>(0x80 | (code & 63))};
    } else {
      text += {static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
               static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
    }
  }
  return text;
}

Json write_native(const std::byte* in, const DType& type, int version) {
  switch (type.kind) {
    case TypeKind::Bool: return in[0] != std::byte{0};
    case TypeKind::Int: {
      int64_t value;
      convert_elements(type, in, DType::int_(8), reinterpret_cast<std::byte*>(&value), 1);
      return value;
    }
    case TypeKind::UInt: {
      uint64_t value;
      convert_elements(type, in, DType::uint(8), reinterpret_cast<std::byte*>(&value), 1);
      return value;
    }
    case TypeKind::Float: return float_fill(type, in, version);
    case TypeKind::Complex: {
      const DType part = DType::float_(type.size / 2);
      return Json::array({float_fill(part, in, version), float_fill(part, in + part.size, version)});
    }
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: {
      int64_t ticks;
      std::memcpy(&ticks, in, 8);
      return ticks;
    }
    case TypeKind::Unicode: return utf8(in, type.size / 4);
    case TypeKind::Bytes: {
      int64_t length = type.size;
      while (length > 0 && in[length - 1] == std::byte{0}) --length;
      return encode_base64({in, in + (version == 2 ? type.size : length)});
    }
    case TypeKind::Struct:
      if (version == 3) {
        Json out = Json::object();
        for (const Field& field : *type.fields) out[field.name] = write_native(in + field.offset, field.type, version);
        return out;
      }
      [[fallthrough]];
    case TypeKind::Raw: return encode_base64({in, in + type.size});
    case TypeKind::String:
    case TypeKind::VlenBytes: {
      StringRef ref;
      std::memcpy(&ref, in, sizeof(ref));
      if (ref.size == 0) break;
      const auto* data = reinterpret_cast<const std::byte*>(ref.data);
      return type.kind == TypeKind::String ? Json(std::string(ref.data, static_cast<size_t>(ref.size)))
                                           : Json(encode_base64({data, data + ref.size}));
    }
    case TypeKind::Reference: break;
  }
  return "";
}

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::vector<std::byte> read_fill(const Json& fill, const DType& type, Heap& texts) {
  std::vector<std::byte> out(static_cast<size_t>(type.size));
  read_into(fill, type, texts, out.data());
  return out;
}

Json write_fill(const std::vector<std::byte>& fill, const DType& type, int version) {
  if (type.kind == TypeKind::Struct && version == 2) return encode_base64(fill);
  std::vector<std::byte> native = fill;
  DType little = type;
  if (any_big_endian(type) && type.kind != TypeKind::Struct) {
    swap_bytes(type, native.data(), 1);
    little = little_endian(type);
  }
  return write_native(native.data(), little, version);
}

std::string encode_base64(const std::vector<std::byte>& bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? std::to_integer<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() || k < 2 ? kAlphabet[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::vector<std::byte> decode_base64(const std::string& text) {
  std::vector<std::byte> out;
  uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    if (c == '=') break;
    const char* found = c == '\0' ? nullptr : std::strchr(kAlphabet, c);
    if (found == nullptr) throw Error(ErrorKind::Corrupt, "fill_value '" + text + "' is no base64");
    bits = bits << 6 | static_cast<uint32_t>(found - kAlphabet);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<std::byte>(bits >> have));
    }
  }
  return out;
}

}  // namespace lamella::array::zarr
