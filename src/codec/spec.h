#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace lamella::codec {

// One codec by its canonical name (the Zarr v3 name where there is one: "gzip", "zlib", "zstd", "blosc", "lz4", "lzf",
// "shuffle", "bitshuffle", "crc32c", "fletcher32", "transpose", "bytes", "vlen-utf8", "vlen-bytes", "sharding_indexed",
// "delta", …) and its configuration in the canonical form that codec/table.cc documents for each.
struct CodecSpec {
  std::string name;
  Json configuration = Json::object();

  bool operator==(const CodecSpec&) const = default;
};

// From the array to the stored bytes, in the order of encoding: array→array codecs, one array→bytes codec, bytes→bytes
// codecs.
using CodecList = std::vector<CodecSpec>;

std::string to_string(const CodecList& codecs);  // "shuffle, gzip:4" — what `info` prints; "bytes" alone prints "none"

enum class CodecKind { Array, Pack, Bytes };  // array→array, array→bytes, bytes→bytes

// Throws Unsupported for a name that no row of the table has, saying what to do.
CodecKind kind_of(const CodecSpec& codec);

// The canonical form: checks the configuration, puts in every default and what depends on the size of an element (the
// element sizes of "blosc", "shuffle", "bitshuffle"). from_* do it already; what a user typed needs it before it is
// compared.
CodecSpec canonical(const CodecSpec& codec, int64_t item_size);

// What a user types: "zstd", "zstd:3", "gzip:4", "blosc:lz4:5:shuffle", "shuffle,gzip:4", "none". Only bytes→bytes
// codecs.
CodecList parse_codecs(const std::string& text);

// The three wire spellings. `item_size` is that of the array. from_* throw Unsupported by the codec's own name and
// number.
CodecSpec from_zarr2(const Json& config, int64_t item_size);  // {"id": "blosc", …}
Json to_zarr2(const CodecSpec& codec);
CodecSpec from_zarr3(const Json& config, int64_t item_size);  // {"name": "gzip", "configuration": {…}} or a bare string
Json to_zarr3(const CodecSpec& codec);
struct Hdf5Filter {
  uint16_t number = 0;
  std::string name;              // as stored, often empty
  std::vector<uint32_t> values;  // client data
  bool optional = false;
};
CodecSpec from_hdf5(const Hdf5Filter& filter, int64_t item_size);
Hdf5Filter to_hdf5(const CodecSpec& codec, int64_t item_size, int64_t chunk_bytes);
// The list as an HDF5 file holds it: "gzip" becomes "zlib", "lz4" becomes "hdf5-lz4", the sizes are put in. A writer of
// HDF5 encodes with this list, and compares this one. Throws Unsupported for a codec without a filter number.
CodecList hdf5_codecs(const CodecList& codecs, int64_t item_size, int64_t chunk_bytes);
bool has_hdf5(const CodecSpec& codec);
bool has_zarr2(const CodecSpec& codec);

}  // namespace lamella::codec
