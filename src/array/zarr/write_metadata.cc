#include <algorithm>

#include "array/zarr/data_type.h"
#include "array/zarr/metadata.h"
#include "base/error.h"

namespace lamella::array::zarr {
namespace {

bool one_byte(const DType& type) {
  return type.size == 1 || type.kind == TypeKind::Bytes || type.kind == TypeKind::Raw;
}

// zarr-python leaves the byte order out where there is none.
Json codec_v3(const codec::CodecSpec& codec, const DType& type) {
  if (codec.name == "bytes" && one_byte(type)) return {{"name", "bytes"}};
  if (codec.name == "crc32c") return {{"name", "crc32c"}};
  Json out = codec::to_zarr3(codec);
  if (codec.name == "sharding_indexed") {
    Json inner = Json::array();
    for (const Json& one : codec.configuration["codecs"])
      inner.push_back(codec_v3({one["name"], one["configuration"]}, type));
    out["configuration"]["codecs"] = inner;
    Json index = Json::array();
    for (const Json& one : codec.configuration["index_codecs"])
      index.push_back(codec_v3({one["name"], one["configuration"]}, DType::uint(8)));
    out["configuration"]["index_codecs"] = index;
  }
  return out;
}

Json list_of(const codec::CodecList& codecs) {
  Json out = Json::array();
  for (const codec::CodecSpec& codec : codecs)
    out.push_back({{"name", codec.name}, {"configuration", codec.configuration}});
  return out;
}

DType big_endian(DType type) {
  if (type.kind == TypeKind::Struct) {
    std::vector<Field> fields = *type.fields;
    for (Field& field : fields) field.type = big_endian(field.type);
    type.fields = std::make_shared<const std::vector<Field>>(std::move(fields));
    return type;
  }
  type.big_endian = true;
  return parse_dtype(to_string(type));  // without an order where there is none
}

Shape chunk_lengths(const Shape& chunks, const Shape& shape) {
  Shape out = chunks.empty() ? shape : chunks;
  for (int64_t& length : out) length = std::max<int64_t>(length, 1);
  return out;
}

}  // namespace

codec::CodecList index_codecs() { return {{"bytes", Json::object()}, codec::canonical({"crc32c", Json::object()}, 8)}; }

codec::CodecList sharded(const ArraySpec& spec) {
  return {{"sharding_indexed",
           {{"chunk_shape", spec.chunks},
            {"codecs", list_of(spec.codecs)},
            {"index_codecs", list_of(index_codecs())},
            {"index_location", "end"}}}};
}

Json write_attributes(const Attributes& attributes) {
  Json out = Json::object();
  for (const auto& [name, attribute] : attributes) {
    attribute.check();
    out[name] = attribute.value;
  }
  return out;
}

Json write_group_v3(const Attributes& attributes) {
  return {{"attributes", write_attributes(attributes)}, {"zarr_format", 3}, {"node_type", "group"}};
}

Json write_array_v3(const ArraySpec& spec, const Attributes& attributes) {
  Json out;
  if (spec.null_space) {  // anndata's "null": a scalar of which no chunk is stored
    ArraySpec scalar;
    scalar.type = DType::boolean();
    scalar.codecs = {{"bytes", Json::object()}};
    return write_array_v3(scalar, attributes);
  }
  const Shape grid = spec.shards.empty() ? chunk_lengths(spec.chunks, spec.shape) : spec.shards;
  out["shape"] = spec.shape;
  out["data_type"] = write_type_v3(spec.type);
  out["chunk_grid"] = {{"name", "regular"}, {"configuration", {{"chunk_shape", grid}}}};
  out["chunk_key_encoding"] = {{"name", "default"}, {"configuration", {{"separator", "/"}}}};
  out["fill_value"] = write_fill(spec.fill_element(), spec.type, 3);
  Json codecs = Json::array();
  for (const codec::CodecSpec& codec : spec.shards.empty() ? spec.codecs : sharded(spec))
    codecs.push_back(codec_v3(codec, spec.type));
  out["codecs"] = codecs;
  out["attributes"] = write_attributes(attributes);
  if (!spec.dimension_names.empty()) {
    Json names = Json::array();
    for (const auto& name : spec.dimension_names) names.push_back(name ? Json(*name) : Json(nullptr));
    out["dimension_names"] = names;
  }
  out["zarr_format"] = 3;
  out["node_type"] = "array";
  out["storage_transformers"] = Json::array();
  return out;
}

// v2 has no codec for the byte order: its type says it.
ArraySpec with_stored_order(ArraySpec spec) {
  const auto swapped =
      std::find(spec.codecs.begin(), spec.codecs.end(), codec::CodecSpec{"bytes", {{"endian", "big"}}});
  if (swapped == spec.codecs.end()) return spec;
  if (swapped != spec.codecs.begin() && codec::kind_of(*(swapped - 1)) == codec::CodecKind::Array &&
      (swapped - 1)->name != "transpose") {
    throw Error(ErrorKind::Unsupported,
                "big-endian elements behind the filter \"" + (swapped - 1)->name + "\" cannot be stored in Zarr v2");
  }
  spec.fill = spec.fill_element();
  if (!any_big_endian(spec.type)) {
    swap_bytes(spec.type, spec.fill.data(), 1);
    spec.type = big_endian(spec.type);
  }
  swapped->configuration = Json::object();
  return spec;
}

// The order of encoding is told by three members: a reversal of the axes by "order", the last compressor by
// "compressor", all between by "filters".
Json write_array_v2(const ArraySpec& given) {
  if (given.null_space) {
    ArraySpec scalar;
    scalar.type = DType::boolean();
    return write_array_v2(scalar);
  }
  const ArraySpec spec = with_stored_order(given);
  std::string order = "C";
  Json filters = Json::array();
  Json compressor = nullptr;
  for (size_t i = 0; i < spec.codecs.size(); ++i) {
    const codec::CodecSpec& codec = spec.codecs[i];
    if (codec.name == "bytes" && codec.configuration.empty()) continue;
    if (codec.name == "transpose" && i == 0) {
      auto axes = codec.configuration["order"].get<std::vector<int64_t>>();
      std::reverse(axes.begin(), axes.end());
      if (std::is_sorted(axes.begin(), axes.end())) {
        order = "F";
        continue;
      }
    }
    const bool last = i + 1 == spec.codecs.size() && codec::kind_of(codec) == codec::CodecKind::Bytes;
    if (last) compressor = codec::to_zarr2(codec);
    else filters.push_back(codec::to_zarr2(codec));
  }
  return {{"shape", spec.shape},
          {"chunks", chunk_lengths(spec.chunks, spec.shape)},
          {"dtype", write_type_v2(spec.type)},
          {"fill_value", write_fill(spec.fill_element(), spec.type, 2)},
          {"order", order},
          {"filters", filters.empty() ? Json(nullptr) : filters},
          {"dimension_separator", "."},
          {"compressor", compressor},
          {"zarr_format", 2}};
}

}  // namespace lamella::array::zarr
