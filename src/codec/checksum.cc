// "crc32c", "crc32", "adler32", "fletcher32": four bytes, little-endian, before or behind the data.
#include <libdeflate.h>

#include <cstring>

#include "codec/checksums.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

using Function = uint32_t (*)(ConstBytes);

uint32_t crc32(ConstBytes bytes) { return bytes.empty() ? 0 : libdeflate_crc32(0, bytes.data(), bytes.size()); }
uint32_t adler32(ConstBytes bytes) { return bytes.empty() ? 1 : libdeflate_adler32(1, bytes.data(), bytes.size()); }

class ChecksumCodec : public BytesCodec {
 public:
  ChecksumCodec(Function function, bool at_start) : function_(function), at_start_(at_start) {}

  bool fixed_size() const override { return true; }
  int64_t encoded_bound(int64_t n) const override { return checked_add(n, 4); }

  int64_t encode(ConstBytes in, Bytes out) const override {
    const uint32_t sum = function_(in);
    std::memcpy(at_start_ ? out.data() : out.data() + in.size(), &sum, 4);
    if (!in.empty()) std::memcpy(at_start_ ? out.data() + 4 : out.data(), in.data(), in.size());
    return static_cast<int64_t>(in.size()) + 4;
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override { return static_cast<int64_t>(payload(in).size()); }

  std::optional<ConstBytes> decoded_part(ConstBytes in) const override {
    const ConstBytes data = payload(in);
    uint32_t stored;
    std::memcpy(&stored, at_start_ ? in.data() : in.data() + data.size(), 4);
    if (stored != function_(data)) throw_corrupt("the checksum does not match: the data are damaged");
    return data;
  }

  int64_t decode(ConstBytes in, Bytes out) const override {
    const ConstBytes data = *decoded_part(in);
    if (data.size() > out.size())
      throw_wrong_length(static_cast<int64_t>(data.size()), static_cast<int64_t>(out.size()));
    if (!data.empty()) std::memcpy(out.data(), data.data(), data.size());
    return static_cast<int64_t>(data.size());
  }

 private:
  ConstBytes payload(ConstBytes in) const {
    if (in.size() < 4) throw_corrupt("shorter than its checksum");
    return in.subspan(at_start_ ? 4 : 0, in.size() - 4);
  }

  Function function_;
  bool at_start_;
};

template <bool start_is_default>
Json canonical(ConfigReader& config, int64_t) {
  return {{"location", config.text("location", start_is_default ? "start" : "end", {"start", "end"})}};
}

// Zarr v3's own crc32c has no members; numcodecs leaves its default out.
Json crc32c_to_zarr(const Json& configuration, int version) {
  if (configuration["location"] == "end") return Json::object();
  if (version == 3) throw Error(ErrorKind::Unsupported, "codec \"crc32c\" before the data cannot be stored in Zarr v3");
  return configuration;
}

template <Function function>
std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t) {
  return std::make_unique<ChecksumCodec>(function, configuration.value("location", "end") == "start");
}

}  // namespace

extern const Definition kCrc32c = {
    .canonical = canonical<false>, .to_zarr = crc32c_to_zarr, .make_bytes = make<crc32c>};
extern const Definition kCrc32 = {.canonical = canonical<true>, .make_bytes = make<crc32>};
extern const Definition kAdler32 = {.canonical = canonical<true>, .make_bytes = make<adler32>};
extern const Definition kFletcher32 = {.make_bytes = make<fletcher32>};

}  // namespace lamella::codec
