// "hdf5-lz4", HDF5 filter 32004: u64 decoded size, u32 block size, then each block as u32 size and bytes, all
// big-endian. A block as long as what it decodes to is stored as it is.
#include <lz4.h>

#include "codec/big_endian.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

constexpr int64_t kDefaultBlock = 1 << 30;

const char* chars(ConstBytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }

class Hdf5Lz4Codec : public BytesCodec {
 public:
  explicit Hdf5Lz4Codec(int64_t block_size) : block_size_(block_size > 0 ? block_size : kDefaultBlock) {}

  // A block never grows: what would is stored raw.
  int64_t encoded_bound(int64_t n) const override { return 12 + n + 4 * ceil_div(n, block_of(n)); }

  int64_t encode(ConstBytes in, Bytes out) const override {
    const auto n = static_cast<int64_t>(in.size());
    const int64_t block = block_of(n);
    put_big_endian(out.data(), static_cast<uint64_t>(n));
    put_big_endian(out.data() + 8, static_cast<uint32_t>(block));
    std::byte* to = out.data() + 12;
    for (int64_t at = 0; at < n; at += block) {
      const ConstBytes raw = in.subspan(static_cast<size_t>(at), static_cast<size_t>(std::min(block, n - at)));
      const auto length = static_cast<int>(raw.size());
      int stored = LZ4_compress_default(chars(raw), reinterpret_cast<char*>(to + 4), length, length);
      if (stored <= 0 || stored >= length) {
        std::memcpy(to + 4, raw.data(), raw.size());
        stored = length;
      }
      put_big_endian(to, static_cast<uint32_t>(stored));
      to += 4 + stored;
    }
    return to - out.data();
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override {
    ByteReader reader(in);
    const auto size = take_big_endian<uint64_t>(reader);
    if (size > INT64_MAX / 2) throw_corrupt("claims " + std::to_string(size) + " bytes");
    return static_cast<int64_t>(size);
  }

  int64_t decode(ConstBytes in, Bytes out) const override {
    const int64_t size = *decoded_size(in);
    if (size > static_cast<int64_t>(out.size())) throw_wrong_length(size, static_cast<int64_t>(out.size()));
    ByteReader reader(in);
    reader.skip(8);
    const int64_t block = take_big_endian<uint32_t>(reader);
    if (size > 0 && (block == 0 || block > LZ4_MAX_INPUT_SIZE)) throw_corrupt("block size " + std::to_string(block));
    for (int64_t at = 0; at < size; at += block) {
      const int64_t length = std::min(block, size - at);
      const ConstBytes stored = reader.take(take_big_endian<uint32_t>(reader));
      std::byte* to = out.data() + at;
      if (static_cast<int64_t>(stored.size()) == length) {
        std::memcpy(to, stored.data(), stored.size());
      } else if (stored.size() > INT32_MAX ||
                 LZ4_decompress_safe(chars(stored), reinterpret_cast<char*>(to), static_cast<int>(stored.size()),
                                     static_cast<int>(length)) != length) {
        throw_corrupt("broken LZ4 block");
      }
    }
    return size;
  }

  int64_t working_bytes(int64_t) const override { return 16 << 10; }

 private:
  int64_t block_of(int64_t n) const { return std::max<int64_t>(std::min(block_size_, n), 1); }

  int64_t block_size_;
};

Json canonical(ConfigReader& config, int64_t) {
  return {{"block_size", config.integer("block_size", 0, 0, LZ4_MAX_INPUT_SIZE)}};
}

Json from_hdf5(std::span<const uint32_t> values, int64_t) {
  return values.empty() ? Json::object() : Json{{"block_size", values[0]}};
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t, int64_t) {
  return {configuration["block_size"].get<uint32_t>()};
}

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t) {
  return std::make_unique<Hdf5Lz4Codec>(configuration["block_size"].get<int64_t>());
}

}  // namespace

extern const Definition kHdf5Lz4 = {
    .canonical = canonical, .from_hdf5 = from_hdf5, .to_hdf5 = to_hdf5, .words = {"block_size"}, .make_bytes = make};

}  // namespace lamella::codec
