#include "array/hdf5/attribute_value.h"

#include <cmath>
#include <cstring>

#include "array/hdf5/global_heap.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? HUGE_VAL : std::nan("");
  return bits & 0x8000 ? -value : value;
}

template <class T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

double load_float(const std::byte* data, int64_t size) {
  switch (size) {
    case 2: return half_to_double(load<uint16_t>(data));
    case 4: return load<float>(data);
    case 8: return load<double>(data);
    default: return static_cast<double>(load<long double>(data));
  }
}

int64_t load_int(const std::byte* data, int64_t size) {
  switch (size) {
    case 1: return load<int8_t>(data);
    case 2: return load<int16_t>(data);
    case 4: return load<int32_t>(data);
    default: return load<int64_t>(data);
  }
}

uint64_t load_uint(const std::byte* data, int64_t size) {
  uint64_t value = 0;
  std::memcpy(&value, data, static_cast<size_t>(size));
  return value;
}

std::string latin1(const std::byte* data, int64_t size) {
  std::string out;
  for (int64_t i = 0; i < size; ++i) {
    const auto c = static_cast<unsigned char>(data[i]);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

class Converter {
 public:
  explicit Converter(const Container& container) : container_(container), reader_(container, heap_) {}

  Json list(const Datatype& datatype, const Shape& shape, size_t axis, const std::byte*& data) {
    if (axis == shape.size()) {
      Json value = datatype.sequence_of ? sequence(*datatype.sequence_of, data) : element(datatype.type, data);
      data += datatype.type.size;
      return value;
    }
    Json out = Json::array();
    for (int64_t i = 0; i < shape[axis]; ++i) out.push_back(list(datatype, shape, axis + 1, data));
    return out;
  }

 private:
  Json sequence(const Datatype& base, const std::byte* data) {
    const auto length = load<uint32_t>(data);
    const auto address = load<int64_t>(data + 4);
    if (length == 0 || address == 0 || address == kUndefined) return Json::array();
    Shape shape{length};
    shape.insert(shape.end(), base.shape.begin(), base.shape.end());
    const ConstBytes object = reader_.object(address, load<uint32_t>(data + 12));
    if (checked_mul(count(shape), base.type.size) > static_cast<int64_t>(object.size())) {
      container_.corrupt("global heap collection", address, "its object is shorter than the sequence in it");
    }
    const std::byte* inside = object.data();
    if (++depth_ > 8) container_.corrupt("global heap collection", address, "sequences are nested too deeply");
    Json out = list(base, shape, 0, inside);
    --depth_;
    return out;
  }

  Json element(const DType& type, const std::byte* data) {
    std::byte swapped[32];
    if (type.big_endian && type.is_numeric()) {
      DType little = type;
      std::memcpy(swapped, data, static_cast<size_t>(type.size));
      swap_bytes(little, swapped, 1);
      data = swapped;
    }
    switch (type.kind) {
      case TypeKind::Bool: return load<uint8_t>(data) != 0;
      case TypeKind::Int:
      case TypeKind::DateTime:
      case TypeKind::TimeDelta: return load_int(data, type.size);
      case TypeKind::UInt: return load_uint(data, type.size);
      case TypeKind::Float: return load_float(data, type.size);
      case TypeKind::Complex: return {load_float(data, type.size / 2), load_float(data + type.size / 2, type.size / 2)};
      case TypeKind::Bytes: {
        const std::string text(reinterpret_cast<const char*>(data), static_cast<size_t>(type.size));
        const size_t end = text.find_last_not_of('\0');
        return text.substr(0, end == std::string::npos ? 0 : end + 1);
      }
      case TypeKind::String:
      case TypeKind::VlenBytes: return text(type, data);
      case TypeKind::Reference: {
        const auto address = load<int64_t>(data);
        return address == 0 || address == kUndefined ? std::string() : container_.path_of(address);
      }
      case TypeKind::Struct: return record(type, data);
      default: return latin1(data, type.size);
    }
  }

  Json text(const DType& type, const std::byte* data) {
    std::byte copy[sizeof(StringRef)];
    std::memcpy(copy, data, sizeof(copy));
    resolve_elements(reader_, type, copy, 1);
    const auto ref = load<StringRef>(copy);
    if (type.kind == TypeKind::VlenBytes) return latin1(reinterpret_cast<const std::byte*>(ref.data), ref.size);
    return ref.size == 0 ? std::string() : std::string(ref.data, static_cast<size_t>(ref.size));
  }

  Json record(const DType& type, const std::byte* data) {
    Json out = Json::object();
    for (const Field& field : *type.fields) {
      const std::byte* at = data + field.offset;
      out[field.name] = list(Datatype{field.type, {}, nullptr}, field.shape, 0, at);
    }
    return out;
  }

  const Container& container_;
  Heap heap_;
  GlobalHeapReader reader_;
  int depth_ = 0;
};

}  // namespace

Attribute make_attribute(const Container& container, const Datatype& datatype, const Dataspace& space,
                         ConstBytes stored) {
  Attribute out;
  out.null_space = space.null;
  out.shape = space.shape;
  out.shape.insert(out.shape.end(), datatype.shape.begin(), datatype.shape.end());
  if (!datatype.sequence_of) out.type = datatype.type;
  if (space.null) {
    out.shape.clear();
    return out;
  }
  const int64_t elements = count(out.shape);
  if (checked_mul(elements, datatype.type.size) > static_cast<int64_t>(stored.size())) {
    throw Error(ErrorKind::Corrupt, "its value needs " + std::to_string(elements * datatype.type.size) + " bytes, " +
                                        std::to_string(stored.size()) + " are stored");
  }
  // An axis of length 0 hides the others, which then must not be walked.
  if (elements == 0) {
    out.value = Json::array();
    return out;
  }
  const std::byte* data = stored.data();
  out.value = Converter(container).list(datatype, out.shape, 0, data);
  return out;
}

}  // namespace lamella::array::hdf5
