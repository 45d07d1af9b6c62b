// "bitshuffle", HDF5 filter 32008: in blocks of some thousand elements, all first bits, all second bits, …; each block
// on its own through LZ4 or zstd, or as it is. With a compressor: u64 decoded size and u32 block bytes in front, u32
// length before each block, big-endian. Elements that do not fill eight stay as they are, at the end.
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "codec/big_endian.h"
#include "codec/byte_planes.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

constexpr int64_t kTargetBytes = 8192;  // of a block, when nobody says; at least 128 elements
constexpr std::string_view kCompressors[] = {"none", "", "lz4", "zstd"};  // by HDF5's number

// Eight bytes seen as eight rows of eight bits, turned by a quarter: bit k of byte i becomes bit i of byte k.
uint64_t transpose_bits(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

// n is a multiple of eight. `scratch` holds as many bytes as the elements.
void shuffle_bits(const std::byte* elements, int64_t n, int64_t size, std::byte* out, std::byte* scratch) {
  split_planes(elements, n, size, scratch);
  const int64_t row = n / 8;
  for (int64_t j = 0; j < size; ++j) {
    for (int64_t g = 0; g < row; ++g) {
      uint64_t bits;
      std::memcpy(&bits, scratch + j * n + g * 8, 8);
      bits = transpose_bits(bits);
      for (int64_t k = 0; k < 8; ++k) out[(j * 8 + k) * row + g] = static_cast<std::byte>(bits >> (8 * k));
    }
  }
}

void unshuffle_bits(const std::byte* in, int64_t n, int64_t size, std::byte* elements, std::byte* scratch) {
  const int64_t row = n / 8;
  for (int64_t j = 0; j < size; ++j) {
    for (int64_t g = 0; g < row; ++g) {
      uint64_t bits = 0;
      for (int64_t k = 0; k < 8; ++k) bits |= static_cast<uint64_t>(in[(j * 8 + k) * row + g]) << (8 * k);
      bits = transpose_bits(bits);
      std::memcpy(scratch + j * n + g * 8, &bits, 8);
    }
  }
  join_planes(scratch, n, size, elements);
}

class BitshuffleCodec : public BytesCodec {
 public:
  BitshuffleCodec(std::string_view compressor, int level, int64_t type_size, int64_t block)
      : compressor_(compressor), level_(level), size_(type_size), block_(block) {
    if (block_ == 0) block_ = std::max<int64_t>(kTargetBytes / size_ / 8 * 8, 128);
  }

  int64_t encoded_bound(int64_t n) const override {
    if (plain()) return n;
    const int64_t block = block_ * size_;
    return 12 + n + (ceil_div(n, block) + 1) * (4 + bound(block) - block);
  }
  bool fixed_size() const override { return plain(); }

  int64_t encode(ConstBytes in, Bytes out) const override {
    const auto n = static_cast<int64_t>(in.size()) / size_;
    std::byte* to = out.data();
    if (!plain()) {
      put_big_endian(to, static_cast<uint64_t>(in.size()));
      put_big_endian(to + 8, static_cast<uint32_t>(block_ * size_));
      to += 12;
    }
    const int64_t most = std::min(block_ * size_, static_cast<int64_t>(in.size()));
    Buffer shuffled(most), scratch(most);
    int64_t done = 0;
    for (int64_t part; (part = std::min(block_, (n - done) / 8 * 8)) > 0; done += part) {
      const std::byte* from = in.data() + done * size_;
      if (plain()) {
        shuffle_bits(from, part, size_, to, scratch.data());
        to += part * size_;
        continue;
      }
      shuffle_bits(from, part, size_, shuffled.data(), scratch.data());
      const int64_t stored = compress(shuffled.data(), part * size_, to + 4, out.data() + out.size() - to - 4);
      put_big_endian(to, static_cast<uint32_t>(stored));
      to += 4 + stored;
    }
    const ConstBytes rest = in.subspan(static_cast<size_t>(done * size_));
    if (!rest.empty()) std::memcpy(to, rest.data(), rest.size());
    return to - out.data() + static_cast<int64_t>(rest.size());
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override {
    if (plain()) return static_cast<int64_t>(in.size());
    ByteReader reader(in);
    const auto size = take_big_endian<uint64_t>(reader);
    if (size > INT64_MAX / 2) throw_corrupt("claims " + std::to_string(size) + " bytes");
    return static_cast<int64_t>(size);
  }

  int64_t decode(ConstBytes in, Bytes out) const override {
    const int64_t bytes = *decoded_size(in);
    if (bytes > static_cast<int64_t>(out.size())) throw_wrong_length(bytes, static_cast<int64_t>(out.size()));
    ByteReader reader(in);
    int64_t block = block_;
    if (!plain()) {
      reader.skip(8);
      block = take_big_endian<uint32_t>(reader) / size_;
      if (block <= 0 || block % 8 != 0) throw_corrupt("blocks of " + std::to_string(block) + " elements");
    }
    block = std::min(block, std::max<int64_t>(round_up(bytes / size_, 8), 8));  // the scratch memory is by this number
    const int64_t n = bytes / size_;
    Buffer shuffled(block * size_), scratch(block * size_);
    int64_t done = 0;
    for (int64_t part; (part = std::min(block, (n - done) / 8 * 8)) > 0; done += part) {
      const std::byte* from = nullptr;
      if (plain()) {
        from = reader.take(part * size_).data();
      } else {
        decompress(reader.take(take_big_endian<uint32_t>(reader)), shuffled.data(), part * size_);
        from = shuffled.data();
      }
      unshuffle_bits(from, part, size_, out.data() + done * size_, scratch.data());
    }
    const int64_t rest = bytes - done * size_;
    if (rest > 0) std::memcpy(out.data() + done * size_, reader.take(rest).data(), static_cast<size_t>(rest));
    return bytes;
  }

  int64_t working_bytes(int64_t) const override { return 2 * block_ * size_ + (1 << 20); }

 private:
  bool plain() const { return compressor_ == "none"; }

  int64_t bound(int64_t n) const {
    return compressor_ == "lz4" ? n + n / 255 + 16 : static_cast<int64_t>(ZSTD_compressBound(static_cast<size_t>(n)));
  }

  int64_t compress(const std::byte* in, int64_t n, std::byte* out, int64_t room) const {
    if (compressor_ == "lz4") {
      const int stored =
          LZ4_compress_default(reinterpret_cast<const char*>(in), reinterpret_cast<char*>(out), static_cast<int>(n),
                               static_cast<int>(std::min<int64_t>(room, INT32_MAX)));
      if (stored <= 0) throw Error(ErrorKind::Bug, "does not fit in its own bound");
      return stored;
    }
    const size_t stored = ZSTD_compress(out, static_cast<size_t>(room), in, static_cast<size_t>(n), level_);
    if (ZSTD_isError(stored)) throw Error(ErrorKind::Bug, ZSTD_getErrorName(stored));
    return static_cast<int64_t>(stored);
  }

  void decompress(ConstBytes in, std::byte* out, int64_t n) const {
    if (in.size() > INT32_MAX || n > INT32_MAX) throw_corrupt("a block larger than a block can be");
    if (compressor_ == "lz4") {
      const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out),
                                           static_cast<int>(in.size()), static_cast<int>(n));
      if (made != n) throw_corrupt("broken LZ4 block");
      return;
    }
    const size_t made = ZSTD_decompress(out, static_cast<size_t>(n), in.data(), in.size());
    if (ZSTD_isError(made) || made != static_cast<size_t>(n)) throw_corrupt("broken zstd block");
  }

  std::string_view compressor_;  // one of kCompressors
  int level_;
  int64_t size_;
  int64_t block_;
};

Json canonical(ConfigReader& config, int64_t item_size) {
  Json out;
  out["compressor"] = config.text("compressor", "lz4", {"none", "lz4", "zstd"});
  out["level"] = config.integer("level", 3, ZSTD_minCLevel(), ZSTD_maxCLevel());
  const int64_t type_size = config.integer("typesize", item_size, 0, 1 << 16);
  if (type_size > 0) out["typesize"] = type_size;
  out["block_size"] = config.integer("block_size", 0, 0, 1 << 26);
  if (out["block_size"].get<int64_t>() % 8 != 0) config.fail("block_size", "a multiple of 8");
  return out;
}

// Version of the plug-in (two numbers), element size, block size, compressor, level.
Json from_hdf5(std::span<const uint32_t> values, int64_t item_size) {
  Json out = {{"compressor", "none"}};
  if (values.size() > 2 && values[2] > 0) out["typesize"] = values[2];
  else if (item_size > 0) out["typesize"] = item_size;
  if (values.size() > 3) out["block_size"] = values[3];
  if (values.size() > 4)
    out["compressor"] = values[4] < 4 ? Json(kCompressors[values[4]]) : Json(std::to_string(values[4]));
  if (values.size() > 5) out["level"] = static_cast<int32_t>(values[5]);
  return out;
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t item_size, int64_t) {
  uint32_t compressor = 0;
  while (kCompressors[compressor] != configuration["compressor"].get_ref<const std::string&>()) ++compressor;
  std::vector<uint32_t> values = {0, 4, configuration.value("typesize", static_cast<uint32_t>(item_size)),
                                  configuration["block_size"].get<uint32_t>(), compressor};
  if (compressor == 3) values.push_back(static_cast<uint32_t>(configuration["level"].get<int32_t>()));
  return values;
}

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t item_size) {
  const std::string& wanted = configuration["compressor"].get_ref<const std::string&>();
  std::string_view compressor = "none";
  for (std::string_view known : kCompressors) {
    if (known == wanted) compressor = known;
  }
  const int64_t size = std::max<int64_t>(configuration.value("typesize", item_size), 1);
  const int64_t block = configuration["block_size"].get<int64_t>();
  if (block * size > LZ4_MAX_INPUT_SIZE)
    throw Error(ErrorKind::Unsupported, "blocks of " + std::to_string(block * size) + " bytes");
  return std::make_unique<BitshuffleCodec>(compressor, configuration["level"].get<int>(), size, block);
}

}  // namespace

extern const Definition kBitshuffle = {.canonical = canonical,
                                       .from_hdf5 = from_hdf5,
                                       .to_hdf5 = to_hdf5,
                                       .words = {"compressor", "level"},
                                       .make_bytes = make};

}  // namespace lamella::codec
