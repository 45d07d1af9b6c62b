#pragma once

#include <optional>
#include <string>

#include "array/array.h"
#include "codec/shard_index.h"

namespace lamella::array::zarr {

// Where the chunks of an array are kept: key of the array + encoded indices.
struct KeyEncoding {
  bool prefix = true;  // "c/…" (v3 default) or the bare indices (v2)
  char separator = '/';

  std::string key(const std::string& path, const Shape& chunk) const;
};

// An array's document, understood.
struct ArrayMetadata {
  ArraySpec spec;  // chunks are those of the innermost layout that can be read by position
  KeyEncoding keys;
  Attributes attributes;
  std::optional<codec::ShardIndex> index;  // when spec.shards is set
  bool index_at_end = true;
};

// Parse .zarray + .zattrs, .zgroup + .zattrs, and zarr.json. `where` names the document in errors.
ArrayMetadata parse_array_v2(const Json& zarray, const Json& zattrs, const std::string& where);
ArrayMetadata parse_array_v3(const Json& document, const std::string& where);
Attributes parse_group_v2(const Json& zgroup, const Json& zattrs, const std::string& where);
Attributes parse_group_v3(const Json& document, const std::string& where);

// The documents that the writer makes.
Json write_array_v2(const ArraySpec& given);
Json write_array_v3(const ArraySpec& spec, const Attributes& attributes);
Json write_group_v3(const Attributes& attributes);
Json write_attributes(const Attributes& attributes);

// The codec list of a whole shard, around the codecs of its chunks.
codec::CodecList sharded(const ArraySpec& spec);
codec::CodecList index_codecs();  // bytes, crc32c: what everybody writes

}  // namespace lamella::array::zarr
