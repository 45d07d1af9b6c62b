#include "codec/table.h"

#include "base/error.h"

namespace lamella::codec {

// Each is defined in the file of its name (gzip and zlib: deflate.cc; checksums: checksum.cc; …).
extern const Definition kAdler32, kAstype, kBitround, kBitshuffle, kBlosc, kBytes, kCrc32, kCrc32c, kDelta,
    kFixedScaleOffset, kFletcher32, kGzip, kHdf5Lz4, kLz4, kLzf, kPackbits, kQuantize, kScaleOffset, kSharding,
    kShuffle, kTranspose, kVlenBytes, kVlenUtf8, kZlib, kZstd;

namespace {

// The canonical configuration stands above each row; every member is always there, unless it says otherwise.
constexpr Row kTable[] = {
    // name, Zarr v2 id, Zarr v3 names, HDF5 filter, definition

    // bytes → bytes
    // level 0…9, or -1 for the library's own choice
    {"zlib", "zlib", {"numcodecs.zlib"}, 1, &kZlib},
    {"gzip", "gzip", {"gzip", "numcodecs.gzip"}, 1, &kGzip},
    // level (0: the library's default), checksum true|false
    {"zstd", "zstd", {"zstd", "numcodecs.zstd"}, 32015, &kZstd},
    // cname, clevel 0…9, shuffle "noshuffle"|"shuffle"|"bitshuffle", typesize (absent while unknown), blocksize (0:
    // automatic)
    {"blosc", "blosc", {"blosc", "numcodecs.blosc"}, 32001, &kBlosc},
    // block_size in bytes (0: automatic). HDF5's framing of LZ4 blocks
    {"hdf5-lz4", "", {}, 32004, &kHdf5Lz4},
    // acceleration. numcodecs' framing
    {"lz4", "lz4", {"numcodecs.lz4"}, 32004, &kLz4},
    // nothing
    {"lzf", "", {}, 32000, &kLzf},
    // elementsize (absent while unknown)
    {"shuffle", "shuffle", {"numcodecs.shuffle"}, 2, &kShuffle},
    // compressor "none"|"lz4"|"zstd", level (of zstd), typesize (absent while unknown), block_size in elements (0:
    // automatic)
    {"bitshuffle", "", {}, 32008, &kBitshuffle},
    // location "start"|"end" of the four bytes
    {"crc32c", "crc32c", {"crc32c", "numcodecs.crc32c"}, 0, &kCrc32c},
    {"crc32", "crc32", {"numcodecs.crc32"}, 0, &kCrc32},
    {"adler32", "adler32", {"numcodecs.adler32"}, 0, &kAdler32},
    // nothing
    {"fletcher32", "fletcher32", {"numcodecs.fletcher32"}, 3, &kFletcher32},

    // array → array
    // order: a permutation of the axes
    {"transpose", "", {"transpose"}, 0, &kTranspose},
    // dtype, astype: numpy's strings
    {"delta", "delta", {"numcodecs.delta"}, 0, &kDelta},
    // offset, scale, dtype, astype
    {"fixedscaleoffset", "fixedscaleoffset", {"numcodecs.fixedscaleoffset"}, 0, &kFixedScaleOffset},
    // encode_dtype (what is stored), decode_dtype
    {"astype", "astype", {"numcodecs.astype"}, 0, &kAstype},
    // digits, dtype, astype
    {"quantize", "quantize", {"numcodecs.quantize"}, 0, &kQuantize},
    // keepbits
    {"bitround", "bitround", {"bitround", "numcodecs.bitround"}, 0, &kBitround},
    // offset, scale
    {"scale_offset", "", {"scale_offset"}, 0, &kScaleOffset},

    // array → bytes
    // nothing: stored in the byte order that the type has in memory; or endian "big"|"little": stored in that order
    // whatever
    // the type in memory. Zarr v3's "little" reads as nothing, because its types are little-endian in memory
    {"bytes", "", {"bytes"}, 0, &kBytes},
    // nothing
    {"vlen-utf8", "vlen-utf8", {"vlen-utf8", "numcodecs.vlen-utf8"}, 0, &kVlenUtf8},
    {"vlen-bytes", "vlen-bytes", {"vlen-bytes", "numcodecs.vlen-bytes"}, 0, &kVlenBytes},
    // nothing. Not Zarr v3's own "packbits", whose bits run the other way
    {"numcodecs.packbits", "packbits", {"numcodecs.packbits"}, 0, &kPackbits},
    // chunk_shape, codecs and index_codecs (lists of canonical {name, configuration}), index_location "start"|"end"
    {"sharding_indexed", "", {"sharding_indexed"}, 0, &kSharding},
};

constexpr std::string_view kRecompress = "write the data again with zstd, gzip or blosc";
constexpr std::string_view kRestring = "write the strings again as vlen-utf8";

struct Refusal {
  std::string_view name;
  std::string_view advice;
};
constexpr Refusal kRefused[] = {
    {"bz2", kRecompress},
    {"lzma", kRecompress},
    {"pcodec", kRecompress},
    {"zfpy", kRecompress},
    {"zfp", kRecompress},
    {"jenkins_lookup3", "write the data again with crc32c"},
    {"json2", kRestring},
    {"msgpack2", kRestring},
    {"categorize", kRestring},
    {"vlen-array", "write the data again as one flat array and its offsets"},
    {"pickle", "it could run any program; write the data again from Python if you trust their origin"},
    {"cast_value", "write the data again without it"},
};

struct ForeignFilter {
  uint16_t number;
  std::string_view name;
};
constexpr ForeignFilter kForeignFilters[] = {
    {4, "szip"},   {5, "nbit"},          {6, "scaleoffset"}, {305, "lzo"},   {307, "bzip2"},    {32013, "zfp"},
    {32017, "sz"}, {32018, "fcidecomp"}, {32019, "jpeg"},    {32024, "sz3"}, {32026, "blosc2"}, {32028, "sperr"},
};

std::string known_names() {
  std::string text;
  for (const Row& row : kTable) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

[[noreturn]] void refuse(std::string_view name) {
  std::string_view bare = name;
  if (bare.starts_with("numcodecs.")) bare.remove_prefix(10);
  const std::string start = "codec \"" + std::string(name) + "\" is not supported; ";
  for (const Refusal& refusal : kRefused) {
    if (refusal.name == bare) throw Error(ErrorKind::Unsupported, start + std::string(refusal.advice));
  }
  throw Error(ErrorKind::Unsupported, start + "known are " + known_names());
}

}  // namespace

CodecKind Row::kind() const {
  if (definition->make_array != nullptr) return CodecKind::Array;
  return definition->make_pack != nullptr ? CodecKind::Pack : CodecKind::Bytes;
}

std::span<const Row> table() { return kTable; }

const Row& row_of(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.name == name) return row;
  }
  refuse(name);
}

const Row& row_of_zarr2(std::string_view id) {
  for (const Row& row : kTable) {
    if (!id.empty() && row.zarr2 == id) return row;
  }
  refuse(id);
}

const Row& row_of_zarr3(std::string_view name) {
  for (const Row& row : kTable) {
    if (!name.empty() && (row.zarr3[0] == name || row.zarr3[1] == name)) return row;
  }
  refuse(name);
}

const Row& row_of_hdf5(uint16_t number, std::string_view stored_name) {
  for (const Row& row : kTable) {
    if (number != 0 && row.hdf5 == number) return row;
  }
  std::string name(stored_name);
  for (const ForeignFilter& filter : kForeignFilters) {
    if (filter.number == number) name = filter.name;
  }
  throw Error(ErrorKind::Unsupported,
              "HDF5 filter " + std::to_string(number) + (name.empty() ? "" : " (" + name + ")") +
                  " is not supported; rewrite the dataset with gzip, lzf, zstd, blosc, lz4 or bitshuffle");
}

Json canonical_configuration(const Row& row, const Json& configuration, int64_t item_size) {
  ConfigReader reader(row.name, configuration);
  Json out = Json::object();
  if (row.definition->canonical != nullptr) out = row.definition->canonical(reader, item_size);
  reader.finish();
  return out;
}

}  // namespace lamella::codec
