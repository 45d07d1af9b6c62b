// "lz4" as numcodecs frames it: the decoded size (u32 little-endian), then one LZ4 block.
#include <lz4.h>

#include <cstring>

#include "base/byte_reader.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class Lz4Codec : public BytesCodec {
 public:
  explicit Lz4Codec(int acceleration) : acceleration_(acceleration) {}

  int64_t encoded_bound(int64_t n) const override { return 4 + n + n / 255 + 16; }

  int64_t encode(ConstBytes in, Bytes out) const override {
    if (in.size() > LZ4_MAX_INPUT_SIZE) throw_too_large(static_cast<int64_t>(in.size()), LZ4_MAX_INPUT_SIZE);
    const auto size = static_cast<uint32_t>(in.size());
    std::memcpy(out.data(), &size, 4);
    const int n = LZ4_compress_fast(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data() + 4),
                                    static_cast<int>(size),
                                    static_cast<int>(std::min<size_t>(out.size() - 4, INT32_MAX)), acceleration_);
    if (n <= 0) throw Error(ErrorKind::Bug, "does not fit in its own bound");
    return 4 + n;
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override { return ByteReader(in).u32(); }

  int64_t decode(ConstBytes in, Bytes out) const override {
    const int64_t size = *decoded_size(in);
    if (size > static_cast<int64_t>(out.size())) throw_wrong_length(size, static_cast<int64_t>(out.size()));
    if (size > LZ4_MAX_INPUT_SIZE || in.size() > INT32_MAX) throw_corrupt("larger than an LZ4 block can be");
    char nothing = 0;
    const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data() + 4),
                                      size == 0 ? &nothing : reinterpret_cast<char*>(out.data()),
                                      static_cast<int>(in.size() - 4), static_cast<int>(size));
    if (n != size) throw_corrupt("broken LZ4 block");
    return n;
  }

  int64_t working_bytes(int64_t) const override { return 16 << 10; }

 private:
  int acceleration_;
};

Json canonical(ConfigReader& config, int64_t) {
  return {{"acceleration", config.integer("acceleration", 1, 0, INT32_MAX)}};
}

// As "hdf5-lz4": the same blocks in other frames (codec::hdf5_codecs).
std::vector<uint32_t> to_hdf5(const Json&, int64_t, int64_t) { return {0}; }

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t) {
  return std::make_unique<Lz4Codec>(configuration["acceleration"].get<int>());
}

}  // namespace

extern const Definition kLz4 = {
    .canonical = canonical, .to_hdf5 = to_hdf5, .words = {"acceleration"}, .make_bytes = make};

}  // namespace lamella::codec
