// The typed filters of numcodecs and of Zarr v3 that keep the number of elements: "delta", "fixedscaleoffset",
// "astype", "quantize", "bitround", "scale_offset".
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

// The stored type of a filter, with the fill value carried along.
BlockType stored_as(const BlockType& type, const DType& stored) {
  BlockType out = type;
  out.type = stored;
  out.fill.assign(static_cast<size_t>(stored.size), std::byte{0});
  if (can_convert(type.type, stored) && !type.fill.empty())
    convert_elements(type.type, type.fill.data(), stored, out.fill.data(), 1);
  return out;
}

void require_numbers(const char* codec, const DType& type) {
  if (type.is_numeric() && type.kind != TypeKind::Complex) return;
  throw Error(ErrorKind::Unsupported, std::string("codec \"") + codec + "\" on elements of type " + to_string(type));
}

// The step of an arithmetic that numpy does in single precision where the array is.
double rounded(const DType& type, double value) {
  return type.kind == TypeKind::Float && type.size == 4 ? static_cast<double>(static_cast<float>(value)) : value;
}

// Works on doubles, block by block: exact for what these filters are used for (integers up to 53 bits, floats).
template <class Body>
void through_doubles(const DType& from, ConstBytes in, const DType& to, Bytes out, const Body& body) {
  const DType wide = DType::float_(8);
  const int64_t n = static_cast<int64_t>(in.size()) / from.size;
  std::vector<double> values(static_cast<size_t>(std::min<int64_t>(n, 4096)));
  for (int64_t done = 0; done < n; done += 4096) {
    const int64_t part = std::min<int64_t>(4096, n - done);
    convert_elements(from, in.data() + done * from.size, wide, reinterpret_cast<std::byte*>(values.data()), part);
    for (int64_t i = 0; i < part; ++i) values[static_cast<size_t>(i)] = body(values[static_cast<size_t>(i)]);
    convert_elements(wide, reinterpret_cast<const std::byte*>(values.data()), to, out.data() + done * to.size, part);
  }
}

// Differences of neighbours in the type of the array, stored in another.
class DeltaCodec : public ArrayCodec {
 public:
  DeltaCodec(DType decoded, DType stored) : decoded_(std::move(decoded)), stored_(std::move(stored)) {}

  BlockType encoded_type(const BlockType& type) const override { return stored_as(type, stored_); }

  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    if (decoded_.kind == TypeKind::Float) return accumulate<long double, true>(type, in, out);
    accumulate<int64_t, true>(type, in, out);
  }
  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    if (decoded_.kind == TypeKind::Float) return accumulate<long double, false>(type, in, out);
    accumulate<int64_t, false>(type, in, out);
  }

 private:
  // Integers wrap around in 64 bits, which keeps the lower bits of narrower types right.
  template <class Wide, bool differences>
  void accumulate(const BlockType& type, ConstBytes in, Bytes out) const {
    const DType& from = differences ? type.type : stored_;
    const DType& to = differences ? stored_ : type.type;
    const DType wide = sizeof(Wide) == 8 ? DType::int_(8) : DType::float_(16);
    const int64_t n = count(type.shape);
    Wide previous = 0;
    for (int64_t i = 0; i < n; ++i) {
      alignas(16) std::byte bytes[16];
      convert_elements(from, in.data() + i * from.size, wide, bytes, 1);
      Wide value;
      std::memcpy(&value, bytes, sizeof(Wide));
      Wide result;
      if constexpr (sizeof(Wide) == 8) {
        const auto a = static_cast<uint64_t>(value), b = static_cast<uint64_t>(previous);
        result = static_cast<Wide>(differences ? a - b : a + b);
        if constexpr (differences) {  // numpy takes the difference in the array's own type, where it may wrap
          std::byte narrow[8];
          convert_elements(wide, reinterpret_cast<const std::byte*>(&result), from, narrow, 1);
          convert_elements(from, narrow, wide, reinterpret_cast<std::byte*>(&result), 1);
        }
      } else {
        // Rounded to the array's own precision at each step, as a running sum in that type is.
        result = differences ? value - previous : value + previous;
        if (decoded_.size == 4) result = static_cast<float>(result);
        else if (decoded_.size == 8) result = static_cast<double>(result);
      }
      previous = differences ? value : result;
      std::memcpy(bytes, &result, sizeof(Wide));
      convert_elements(wide, bytes, to, out.data() + i * to.size, 1);
    }
  }

  DType decoded_, stored_;
};

class FixedScaleOffsetCodec : public ArrayCodec {
 public:
  FixedScaleOffsetCodec(double offset, double scale, DType stored)
      : offset_(offset), scale_(scale), stored_(std::move(stored)) {}
  BlockType encoded_type(const BlockType& type) const override { return stored_as(type, stored_); }
  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    through_doubles(type.type, in, stored_, out, [&](double v) {
      return std::nearbyint(rounded(type.type, rounded(type.type, v - offset_) * scale_));
    });
  }
  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    through_doubles(stored_, in, type.type, out, [&](double v) { return rounded(stored_, v / scale_) + offset_; });
  }

 private:
  double offset_, scale_;
  DType stored_;
};

// Zarr v3's own: in the type of the array, without rounding.
class ScaleOffsetCodec : public ArrayCodec {
 public:
  ScaleOffsetCodec(double offset, double scale) : offset_(offset), scale_(scale) {}
  BlockType encoded_type(const BlockType& type) const override { return type; }
  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    through_doubles(type.type, in, type.type, out, [&](double v) { return rounded(type.type, v - offset_) * scale_; });
  }
  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    through_doubles(type.type, in, type.type, out, [&](double v) { return rounded(type.type, v / scale_) + offset_; });
  }

 private:
  double offset_, scale_;
};

class AstypeCodec : public ArrayCodec {
 public:
  explicit AstypeCodec(DType stored) : stored_(std::move(stored)) {}
  BlockType encoded_type(const BlockType& type) const override { return stored_as(type, stored_); }
  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    convert_elements(type.type, in.data(), stored_, out.data(), count(type.shape));
  }
  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    convert_elements(stored_, in.data(), type.type, out.data(), count(type.shape));
  }

 private:
  DType stored_;
};

// Lossy on the way in; nothing to undo on the way out but the type.
class QuantizeCodec : public ArrayCodec {
 public:
  QuantizeCodec(int64_t digits, DType stored) : stored_(std::move(stored)) {
    const double precision = std::pow(10.0, -static_cast<double>(digits));
    const double exponent = std::log10(precision);
    scale_ = std::pow(
        2.0, std::ceil(std::log2(std::pow(10.0, -(exponent < 0 ? std::floor(exponent) : std::ceil(exponent))))));
  }
  BlockType encoded_type(const BlockType& type) const override { return stored_as(type, stored_); }
  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    through_doubles(type.type, in, stored_, out, [&](double v) { return std::nearbyint(scale_ * v) / scale_; });
  }
  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    convert_elements(stored_, in.data(), type.type, out.data(), count(type.shape));
  }

 private:
  double scale_;
  DType stored_;
};

class BitroundCodec : public ArrayCodec {
 public:
  explicit BitroundCodec(int64_t keep) : keep_(keep) {}
  BlockType encoded_type(const BlockType& type) const override { return type; }
  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    std::memcpy(out.data(), in.data(), in.size());
    const int64_t n = count(type.shape);
    if (type.type.big_endian) swap_bytes(type.type, out.data(), n);
    if (type.type.size == 2) round<uint16_t>(out, 10 - keep_);
    if (type.type.size == 4) round<uint32_t>(out, 23 - keep_);
    if (type.type.size == 8) round<uint64_t>(out, 52 - keep_);
    if (type.type.big_endian) swap_bytes(type.type, out.data(), n);
  }
  void decode(const BlockType&, ConstBytes in, Bytes out) const override {
    std::memcpy(out.data(), in.data(), in.size());
  }

 private:
  // To the nearest number with `drop` trailing zero bits, ties to even.
  template <class T>
  static void round(Bytes bytes, int64_t drop) {
    if (drop <= 0) return;
    const T mask = static_cast<T>(~T{0} << drop);
    const T half = static_cast<T>((T{1} << (drop - 1)) - 1);
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T v;
      std::memcpy(&v, bytes.data() + at, sizeof(T));
      v = static_cast<T>((v + ((v >> drop) & 1) + half) & mask);
      std::memcpy(bytes.data() + at, &v, sizeof(T));
    }
  }
  int64_t keep_;
};

DType type_member(ConfigReader& config, const char* key, const char* fallback_key) {
  if (!config.has(key) && fallback_key != nullptr) return parse_dtype(config.text(fallback_key, std::nullopt));
  return parse_dtype(config.text(key, std::nullopt));
}

Json types_of(ConfigReader& config) {
  const DType dtype = type_member(config, "dtype", nullptr);
  const std::string astype = config.has("astype") ? config.text("astype", to_string(dtype)) : to_string(dtype);
  return {{"dtype", to_string(dtype)}, {"astype", to_string(parse_dtype(astype))}};
}

Json canonical_delta(ConfigReader& config, int64_t) { return types_of(config); }

Json canonical_fixed(ConfigReader& config, int64_t) {
  Json out = {{"offset", config.number("offset", std::nullopt)}, {"scale", config.number("scale", std::nullopt)}};
  out.update(types_of(config));
  return out;
}

Json canonical_astype(ConfigReader& config, int64_t) {
  return {{"encode_dtype", to_string(type_member(config, "encode_dtype", nullptr))},
          {"decode_dtype", to_string(type_member(config, "decode_dtype", nullptr))}};
}

Json canonical_quantize(ConfigReader& config, int64_t) {
  Json out = {{"digits", config.integer("digits", std::nullopt, -300, 300)}};
  out.update(types_of(config));
  return out;
}

Json canonical_bitround(ConfigReader& config, int64_t) {
  return {{"keepbits", config.integer("keepbits", std::nullopt, 0, 52)}};
}

Json canonical_scale(ConfigReader& config, int64_t) {
  return {{"offset", config.number("offset", 0.0)}, {"scale", config.number("scale", 1.0)}};
}

DType type_of(const Json& configuration, const char* key) { return parse_dtype(configuration[key].get<std::string>()); }

}  // namespace

extern const Definition kDelta = {
    .canonical = canonical_delta,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      require_numbers("delta", type.type);
      return std::make_unique<DeltaCodec>(type.type, type_of(c, "astype"));
    }};
extern const Definition kFixedScaleOffset = {
    .canonical = canonical_fixed,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      require_numbers("fixedscaleoffset", type.type);
      return std::make_unique<FixedScaleOffsetCodec>(c["offset"].get<double>(), c["scale"].get<double>(),
                                                     type_of(c, "astype"));
    }};
extern const Definition kAstype = {
    .canonical = canonical_astype,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      require_numbers("astype", type.type);
      return std::make_unique<AstypeCodec>(type_of(c, "encode_dtype"));
    }};
extern const Definition kQuantize = {
    .canonical = canonical_quantize,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      require_numbers("quantize", type.type);
      return std::make_unique<QuantizeCodec>(c["digits"].get<int64_t>(), type_of(c, "astype"));
    }};
extern const Definition kBitround = {
    .canonical = canonical_bitround,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      if (type.type.kind != TypeKind::Float || type.type.size > 8) require_numbers("bitround", DType::string());
      return std::make_unique<BitroundCodec>(c["keepbits"].get<int64_t>());
    }};
extern const Definition kScaleOffset = {
    .canonical = canonical_scale,
    .make_array = [](const Json& c, const BlockType& type) -> std::unique_ptr<ArrayCodec> {
      require_numbers("scale_offset", type.type);
      return std::make_unique<ScaleOffsetCodec>(c["offset"].get<double>(), c["scale"].get<double>());
    }};

}  // namespace lamella::codec
