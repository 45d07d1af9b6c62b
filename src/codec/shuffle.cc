// "shuffle": the bytes of the elements sorted by their place in the element. Bytes behind the last whole element stay.
#include <cstring>

#include "codec/byte_planes.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class ShuffleCodec : public BytesCodec {
 public:
  explicit ShuffleCodec(int64_t element_size) : size_(element_size) {}

  bool fixed_size() const override { return true; }
  int64_t encoded_bound(int64_t n) const override { return n; }
  int64_t encode(ConstBytes in, Bytes out) const override { return apply(split_planes, in, out); }
  std::optional<int64_t> decoded_size(ConstBytes in) const override { return static_cast<int64_t>(in.size()); }
  int64_t decode(ConstBytes in, Bytes out) const override {
    if (in.size() > out.size()) throw_wrong_length(static_cast<int64_t>(in.size()), static_cast<int64_t>(out.size()));
    return apply(join_planes, in, out);
  }

 private:
  int64_t apply(decltype(split_planes) move, ConstBytes in, Bytes out) const {
    const auto n = static_cast<int64_t>(in.size());
    const int64_t whole = n / size_ * size_;
    if (whole > 0) move(in.data(), n / size_, size_, out.data());
    if (n > whole) std::memcpy(out.data() + whole, in.data() + whole, static_cast<size_t>(n - whole));
    return n;
  }

  int64_t size_;
};

Json canonical(ConfigReader& config, int64_t item_size) {
  const int64_t size = config.integer("elementsize", item_size, 0, INT32_MAX);
  return size > 0 ? Json{{"elementsize", size}} : Json::object();
}

Json from_hdf5(std::span<const uint32_t> values, int64_t item_size) {
  const int64_t size = values.empty() ? item_size : values[0];
  return size > 0 ? Json{{"elementsize", size}} : Json::object();
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t item_size, int64_t) {
  return {configuration.value("elementsize", static_cast<uint32_t>(item_size))};
}

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t item_size) {
  return std::make_unique<ShuffleCodec>(std::max<int64_t>(configuration.value("elementsize", item_size), 1));
}

}  // namespace

extern const Definition kShuffle = {
    .canonical = canonical, .from_hdf5 = from_hdf5, .to_hdf5 = to_hdf5, .make_bytes = make};

}  // namespace lamella::codec
