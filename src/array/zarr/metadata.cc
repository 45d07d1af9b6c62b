#include "array/zarr/metadata.h"

#include <algorithm>
#include <set>

#include "array/zarr/data_type.h"
#include "base/error.h"

namespace lamella::array::zarr {
namespace {

constexpr size_t kMaxRank = 32;

[[noreturn]] void bad(const std::string& key, const Json& value) {
  throw Error(ErrorKind::Corrupt, "\"" + key + "\" is " + (value.is_null() ? std::string("missing") : value.dump()));
}

const Json& member(const Json& document, const std::string& key) {
  static const Json kNothing;
  const auto found = document.find(key);
  return found == document.end() ? kNothing : *found;
}

Shape lengths(const Json& list, const std::string& key, int64_t least) {
  if (!list.is_array() || list.size() > kMaxRank) bad(key, list);
  Shape out;
  for (const Json& one : list) {
    if (!one.is_number_integer() || one.get<int64_t>() < least) bad(key, list);
    out.push_back(one.get<int64_t>());
  }
  return out;
}

char separator_of(const Json& value, const std::string& key, char fallback) {
  if (value.is_null()) return fallback;
  if (value != "." && value != "/") bad(key, value);
  return value.get<std::string>()[0];
}

// Name and configuration of an extension point: an object, or a bare string.
std::pair<std::string, Json> extension(const Json& value, const std::string& key) {
  if (value.is_string()) return {value.get<std::string>(), Json::object()};
  if (!value.is_object() || !member(value, "name").is_string()) bad(key, value);
  const Json& configuration = member(value, "configuration");
  return {value["name"].get<std::string>(), configuration.is_null() ? Json::object() : configuration};
}

template <class Body>
auto located(const std::string& where, const Body& body) {
  try {
    return body();
  } catch (Error& error) {
    if (error.kind() == ErrorKind::Invalid)
      throw Error(ErrorKind::Corrupt, where + ": " + error.what());  // nobody asked for it: the file says so
    throw error.prefix(where);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::Corrupt, where + ": " + error.what());
  }
}

// Elements of variable length have no bytes of their own: "bytes" would take what is stored for pointers.
void check_packing(const codec::CodecList& codecs, const DType& type) {
  if (!type.has_references_to_heap()) return;
  for (const codec::CodecSpec& codec : codecs) {
    if (codec.name == "sharding_indexed") check_packing(codec::parse_sharding(codec.configuration).codecs, type);
    else if (codec::kind_of(codec) != codec::CodecKind::Pack) continue;
    else if (!type.is_vlen() || codec.name.rfind("vlen-", 0) != 0) {
      throw Error(ErrorKind::Corrupt, "codec \"" + codec.name + "\" on elements of type " + to_string(type));
    }
  }
}

// Old writers gave an empty axis chunks of length 0.
Shape chunks_v2(const Json& list, const Shape& shape) {
  Shape chunks = lengths(list, "chunks", 0);
  if (chunks.size() != shape.size()) bad("chunks", list);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (chunks[axis] == 0 && shape[axis] > 0) bad("chunks", list);
    chunks[axis] = std::max<int64_t>(chunks[axis], 1);
  }
  return chunks;
}

// What v2 keeps apart, in the order of encoding: order, filters, compressor.
codec::CodecList codecs_v2(const Json& zarray, const DType& type, size_t rank) {
  codec::CodecList codecs;
  const Json& order = member(zarray, "order");
  if (!order.is_null() && order != "C" && order != "F") bad("order", order);
  if (order == "F" && rank > 1) {
    std::vector<int64_t> reversed(rank);
    for (size_t axis = 0; axis < rank; ++axis) reversed[axis] = static_cast<int64_t>(rank - 1 - axis);
    codecs.push_back({"transpose", {{"order", reversed}}});
  }
  codec::CodecList bytes;
  bool packed = false;
  int64_t item = type.is_vlen() ? 1 : type.size;
  const Json& filters = member(zarray, "filters");
  if (!filters.is_null() && !filters.is_array()) bad("filters", filters);
  for (const Json& filter : filters.is_null() ? Json::array() : filters) {
    const codec::CodecSpec codec = codec::from_zarr2(filter, item);
    switch (codec::kind_of(codec)) {
      case codec::CodecKind::Array:
        codecs.push_back(codec);
        if (codec.configuration.contains("astype"))
          item = parse_dtype(codec.configuration["astype"].get<std::string>()).size;
        if (codec.configuration.contains("encode_dtype"))
          item = parse_dtype(codec.configuration["encode_dtype"].get<std::string>()).size;
        break;
      case codec::CodecKind::Pack:
        codecs.push_back(codec);
        packed = true;
        break;
      case codec::CodecKind::Bytes: bytes.push_back(codec);
    }
  }
  if (!packed) codecs.push_back({"bytes", Json::object()});
  codecs.insert(codecs.end(), bytes.begin(), bytes.end());
  const Json& compressor = member(zarray, "compressor");
  if (!compressor.is_null()) codecs.push_back(codec::from_zarr2(compressor, item));
  return codecs;
}

codec::CodecList codecs_v3(const Json& list, const DType& type) {
  if (!list.is_array() || list.empty()) bad("codecs", list);
  codec::CodecList codecs;
  for (const Json& one : list) codecs.push_back(codec::from_zarr3(one, type.is_vlen() ? 1 : type.size));
  return codecs;
}

void check_format(const Json& document, int version) {
  const Json& format = member(document, "zarr_format");
  if (format != version) bad("zarr_format", format);
}

void check_members(const Json& document, const std::set<std::string>& known) {
  check_format(document, 3);
  for (const auto& [key, value] : document.items()) {
    if (known.count(key) > 0) continue;
    if (value.is_object() && member(value, "must_understand") == false) continue;
    throw Error(ErrorKind::Unsupported, "\"" + key + "\" is an extension that Lamella does not know");
  }
  const Json& transformers = member(document, "storage_transformers");
  if (!transformers.is_null() && !transformers.empty()) {
    throw Error(ErrorKind::Unsupported, "\"storage_transformers\" " + transformers.dump() + " are not supported");
  }
}

KeyEncoding key_encoding(const Json& value) {
  const auto [name, configuration] = extension(value, "chunk_key_encoding");
  if (name == "default") return {true, separator_of(member(configuration, "separator"), "separator", '/')};
  if (name == "v2") return {false, separator_of(member(configuration, "separator"), "separator", '.')};
  throw Error(ErrorKind::Unsupported, "\"chunk_key_encoding\" " + name + " is not supported");
}

// A single sharding codec is layout: its inner chunks are what is read.
void unfold_sharding(ArrayMetadata& out) {
  ArraySpec& spec = out.spec;
  if (spec.codecs.size() != 1 || spec.codecs[0].name != "sharding_indexed") return;
  codec::Sharding sharding = codec::parse_sharding(spec.codecs[0].configuration);
  if (sharding.chunk_shape.size() != spec.chunks.size()) bad("chunk_shape", sharding.chunk_shape);
  for (size_t axis = 0; axis < spec.chunks.size(); ++axis) {
    const int64_t inner = sharding.chunk_shape[axis];
    if (inner <= 0 || spec.chunks[axis] % inner != 0) bad("chunk_shape", sharding.chunk_shape);
  }
  spec.shards = spec.chunks;
  spec.chunks = sharding.chunk_shape;
  spec.codecs = sharding.codecs;
  const Grid inner{spec.shards, spec.chunks};
  out.index.emplace(sharding.index_codecs, inner.counts());
  out.index_at_end = sharding.index_at_end;
}

void set_fill(const Json& fill, ArraySpec& spec) {
  auto texts = std::make_shared<Heap>();
  spec.fill = read_fill(fill, spec.type, *texts);
  if (spec.type.has_references_to_heap()) spec.fill_owner = std::move(texts);
}

// What follows from the members together.
void check_whole(const ArraySpec& spec) {
  checked_mul(count(spec.shape), spec.type.size);
  codec::Pipeline(spec.codecs, {spec.type, spec.chunks, spec.fill});
}

Attributes parse_attributes(const Json& attributes) {
  Attributes out;
  if (attributes.is_null()) return out;
  if (!attributes.is_object()) bad("attributes", attributes);
  for (const auto& [key, value] : attributes.items()) out.set(key, value);
  return out;
}

void read_dimension_names(const Json& names, ArraySpec& spec) {
  if (names.is_null()) return;
  if (!names.is_array() || names.size() != spec.shape.size()) bad("dimension_names", names);
  for (const Json& name : names) {
    spec.dimension_names.push_back(name.is_string() ? std::optional(name.get<std::string>()) : std::nullopt);
  }
}

}  // namespace

std::string KeyEncoding::key(const std::string& path, const Shape& chunk) const {
  std::string out = path;
  if (!out.empty()) out += '/';
  if (prefix) out += 'c';
  for (size_t axis = 0; axis < chunk.size(); ++axis) {
    if (prefix || axis > 0) out += separator;
    out += std::to_string(chunk[axis]);
  }
  if (chunk.empty() && !prefix) out += '0';
  return out;
}

Attributes parse_group_v2(const Json& zgroup, const Json& zattrs, const std::string& where) {
  return located(where, [&] {
    check_format(zgroup, 2);
    return parse_attributes(zattrs);
  });
}

Attributes parse_group_v3(const Json& document, const std::string& where) {
  return located(where, [&] {
    if (member(document, "node_type") != "group")
      throw Error(ErrorKind::Corrupt, "\"node_type\" must be \"array\" or \"group\"");
    check_members(document, {"zarr_format", "node_type", "attributes"});
    return parse_attributes(member(document, "attributes"));
  });
}

ArrayMetadata parse_array_v2(const Json& zarray, const Json& zattrs, const std::string& where) {
  return located(where, [&] {
    check_format(zarray, 2);
    ArrayMetadata out;
    ArraySpec& spec = out.spec;
    spec.shape = lengths(member(zarray, "shape"), "shape", 0);
    spec.chunks = chunks_v2(member(zarray, "chunks"), spec.shape);
    spec.type = read_type_v2(member(zarray, "dtype"), member(zarray, "filters"));
    set_fill(member(zarray, "fill_value"), spec);
    spec.codecs = codecs_v2(zarray, spec.type, spec.shape.size());
    check_packing(spec.codecs, spec.type);
    out.keys = {false, separator_of(member(zarray, "dimension_separator"), "dimension_separator", '.')};
    out.attributes = parse_attributes(zattrs);
    check_whole(spec);
    return out;
  });
}

ArrayMetadata parse_array_v3(const Json& document, const std::string& where) {
  return located(where, [&] {
    check_members(document, {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
                             "fill_value", "codecs", "attributes", "storage_transformers", "dimension_names"});
    ArrayMetadata out;
    ArraySpec& spec = out.spec;
    spec.shape = lengths(member(document, "shape"), "shape", 0);
    const auto [grid, grid_configuration] = extension(member(document, "chunk_grid"), "chunk_grid");
    if (grid != "regular")
      throw Error(ErrorKind::Unsupported,
                  "\"chunk_grid\" " + grid + " is not supported; rewrite it with a regular one");
    spec.chunks = lengths(member(grid_configuration, "chunk_shape"), "chunk_shape", 1);
    if (spec.chunks.size() != spec.shape.size()) bad("chunk_shape", grid_configuration);
    spec.type = read_type_v3(member(document, "data_type"));
    set_fill(member(document, "fill_value"), spec);
    spec.codecs = codecs_v3(member(document, "codecs"), spec.type);
    check_packing(spec.codecs, spec.type);
    out.keys = key_encoding(member(document, "chunk_key_encoding"));
    out.attributes = parse_attributes(member(document, "attributes"));
    read_dimension_names(member(document, "dimension_names"), spec);
    unfold_sharding(out);
    check_whole(spec);
    return out;
  });
}

}  // namespace lamella::array::zarr
