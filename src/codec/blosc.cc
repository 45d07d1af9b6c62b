// "blosc": frames of c-blosc 1. Only the _ctx functions with one thread: they keep no global state.
#include <blosc.h>

#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

constexpr std::string_view kCompressors[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};  // by HDF5's number
constexpr std::string_view kShuffles[] = {"noshuffle", "shuffle", "bitshuffle"};                    // by blosc's number

class BloscCodec : public BytesCodec {
 public:
  explicit BloscCodec(const Json& configuration)
      : compressor_(configuration["cname"].get<std::string>()),
        level_(configuration["clevel"].get<int>()),
        type_size_(configuration["typesize"].get<size_t>()),
        block_size_(configuration["blocksize"].get<size_t>()) {
    while (kShuffles[shuffle_] != configuration["shuffle"].get_ref<const std::string&>()) ++shuffle_;
  }

  int64_t encoded_bound(int64_t n) const override { return n + BLOSC_MAX_OVERHEAD; }

  int64_t encode(ConstBytes in, Bytes out) const override {
    if (in.size() > BLOSC_MAX_BUFFERSIZE) throw_too_large(static_cast<int64_t>(in.size()), BLOSC_MAX_BUFFERSIZE);
    const int n = blosc_compress_ctx(level_, shuffle_, type_size_, in.size(), in.data(), out.data(), out.size(),
                                     compressor_.c_str(), block_size_, 1);
    if (n == -5)
      throw Error(ErrorKind::Unsupported,
                  "the blosc library at hand has no \"" + compressor_ + "\"; choose lz4 or zstd");
    if (n <= 0) throw Error(ErrorKind::Bug, "blosc gives " + std::to_string(n));
    return n;
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override {
    size_t decoded = 0, encoded = 0, block = 0;
    if (in.size() < BLOSC_MIN_HEADER_LENGTH) throw_corrupt("shorter than a blosc header");
    blosc_cbuffer_sizes(in.data(), &decoded, &encoded, &block);
    if (encoded < BLOSC_MIN_HEADER_LENGTH || encoded > in.size()) {
      throw_corrupt("its header tells of " + std::to_string(encoded) + " bytes, there are " +
                    std::to_string(in.size()));
    }
    // The field is signed, and the library passes a negative one on.
    if (decoded > BLOSC_MAX_BUFFERSIZE) throw_corrupt("its header tells of an impossible size");
    return static_cast<int64_t>(decoded);
  }

  int64_t decode(ConstBytes in, Bytes out) const override {
    const int64_t size = *decoded_size(in);
    if (size > static_cast<int64_t>(out.size())) throw_wrong_length(size, static_cast<int64_t>(out.size()));
    size_t decoded = 0, encoded = 0, block = 0;
    blosc_cbuffer_sizes(in.data(), &decoded, &encoded, &block);
    if (blosc_cbuffer_validate(in.data(), encoded, &decoded) != 0) throw_corrupt("broken blosc header");
    const int n = blosc_decompress_ctx(in.data(), out.data(), out.size(), 1);
    if (n < 0 || n != size) throw_corrupt("broken blosc frame");
    return n;
  }

  // Three blocks of its own choice: at most the input, usually some hundred kB.
  int64_t working_bytes(int64_t n) const override { return 3 * std::min<int64_t>(n, 8 << 20); }

 private:
  std::string compressor_;
  int level_;
  int shuffle_ = 0;
  size_t type_size_;
  size_t block_size_;
};

// A name (Zarr v3), a number (v2, HDF5), or -1: bits for one-byte elements, bytes for others.
std::string shuffle_name(ConfigReader& config, int64_t item_size) {
  if (!config.has("shuffle")) return "shuffle";
  if (config.value("shuffle").is_string()) return config.text("shuffle", {}, {"noshuffle", "shuffle", "bitshuffle"});
  const int64_t number = config.integer("shuffle", {}, -1, 2);
  if (number >= 0) return std::string(kShuffles[number]);
  return item_size == 1 ? "bitshuffle" : "shuffle";
}

Json canonical(ConfigReader& config, int64_t item_size) {
  Json out;
  out["cname"] = config.text("cname", "lz4", {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"});
  out["clevel"] = config.integer("clevel", 5, 0, 9);
  out["shuffle"] = shuffle_name(config, item_size);
  const int64_t type_size = config.integer("typesize", item_size, 0, INT32_MAX);
  if (type_size > 0) out["typesize"] = type_size;
  out["blocksize"] = config.integer("blocksize", 0, 0, BLOSC_MAX_BUFFERSIZE);
  return out;
}

Json to_zarr(const Json& configuration, int version) {
  if (version == 3) return configuration;
  Json out = configuration;
  out.erase("typesize");
  for (int number = 0; number < 3; ++number) {
    if (out["shuffle"] == kShuffles[number]) out["shuffle"] = number;
  }
  return out;
}

// Revision of the filter, version of the format, element size, chunk bytes, level, shuffle, compressor.
Json from_hdf5(std::span<const uint32_t> values, int64_t item_size) {
  Json out = {{"cname", "blosclz"}};
  if (values.size() > 2 && values[2] > 0) out["typesize"] = values[2];
  if (values.size() > 4) out["clevel"] = values[4];
  if (values.size() > 5) out["shuffle"] = values[5];
  if (values.size() > 6) out["cname"] = values[6] < 6 ? Json(kCompressors[values[6]]) : Json(std::to_string(values[6]));
  if (!out.contains("typesize") && item_size > 0) out["typesize"] = item_size;
  return out;
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t, int64_t chunk_bytes) {
  if (chunk_bytes > BLOSC_MAX_BUFFERSIZE) throw_too_large(chunk_bytes, BLOSC_MAX_BUFFERSIZE);
  uint32_t compressor = 0, shuffle = 0;
  while (kCompressors[compressor] != configuration["cname"].get_ref<const std::string&>()) ++compressor;
  while (kShuffles[shuffle] != configuration["shuffle"].get_ref<const std::string&>()) ++shuffle;
  return {2,
          2,
          configuration.value("typesize", 1u),
          static_cast<uint32_t>(chunk_bytes),
          configuration["clevel"].get<uint32_t>(),
          shuffle,
          compressor};
}

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t item_size) {
  Json full = configuration;
  if (!full.contains("typesize")) full["typesize"] = std::max<int64_t>(item_size, 1);
  return std::make_unique<BloscCodec>(full);
}

}  // namespace

extern const Definition kBlosc = {.canonical = canonical,
                                  .to_zarr = to_zarr,
                                  .from_hdf5 = from_hdf5,
                                  .to_hdf5 = to_hdf5,
                                  .words = {"cname", "clevel", "shuffle"},
                                  .make_bytes = make};

}  // namespace lamella::codec
