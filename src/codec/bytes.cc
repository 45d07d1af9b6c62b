// "bytes": elements one behind the other. What is stored has the byte order of the type in memory, unless "endian" says
// otherwise: Zarr v3 types have no byte order, so there "little" is the memory's own and "big" is swapped.
#include <cstring>

#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class BytesPack : public PackCodec {
 public:
  explicit BytesPack(bool swap) : swap_(swap) {}

  std::optional<int64_t> encoded_size(const BlockType& type) const override { return type.bytes(); }

  Buffer encode(const BlockType& type, ConstBytes in) const override {
    Buffer out = Buffer::copy_of(in);
    if (swap_) swap_bytes(type.type, out.data(), count(type.shape));
    return out;
  }

  bool decode(const BlockType& type, ConstBytes in, Bytes out, Heap&) const override {
    if (in.size() != out.size()) throw_wrong_length(static_cast<int64_t>(in.size()), static_cast<int64_t>(out.size()));
    if (!in.empty() && in.data() != out.data()) std::memcpy(out.data(), in.data(), in.size());
    if (swap_) swap_bytes(type.type, out.data(), count(type.shape));
    return false;
  }

  bool in_place() const override { return true; }
  bool is_plain() const override { return !swap_; }

 private:
  bool swap_;
};

Json canonical(ConfigReader& config, int64_t) {
  if (!config.has("endian")) return Json::object();
  const std::string endian = config.text("endian", std::nullopt, {"little", "big"});
  return endian == "big" ? Json{{"endian", "big"}} : Json::object();
}

// Zarr v3 wants the member wherever an element has more than one byte; one-byte types may have it as well, but
// zarr-python leaves it out, which the writer of the metadata does, as it knows the type.
Json to_zarr(const Json& configuration, int) { return {{"endian", configuration.value("endian", "little")}}; }

std::unique_ptr<PackCodec> make(const Json& configuration, const BlockType& type) {
  const bool big = configuration.value("endian", "little") == "big";
  return std::make_unique<BytesPack>(big && !any_big_endian(type.type));
}

}  // namespace

extern const Definition kBytes = {.canonical = canonical, .to_zarr = to_zarr, .make_pack = make};

}  // namespace lamella::codec
