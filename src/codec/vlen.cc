// "vlen-utf8", "vlen-bytes": u32 number of elements, then for each its u32 length and its bytes, all little-endian.
#include <cstring>

#include "base/byte_reader.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class VlenPack : public PackCodec {
 public:
  std::optional<int64_t> encoded_size(const BlockType&) const override { return std::nullopt; }

  Buffer encode(const BlockType& type, ConstBytes in) const override {
    const int64_t n = count(type.shape);
    const auto* refs = reinterpret_cast<const StringRef*>(in.data());
    int64_t bytes = 4;
    for (int64_t i = 0; i < n; ++i) {
      if (refs[i].size > UINT32_MAX) throw_too_large(refs[i].size, UINT32_MAX);
      bytes += 4 + refs[i].size;
    }
    Buffer out(bytes);
    std::byte* to = put(out.data(), static_cast<uint32_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      to = put(to, static_cast<uint32_t>(refs[i].size));
      if (refs[i].size > 0) std::memcpy(to, refs[i].data, static_cast<size_t>(refs[i].size));
      to += refs[i].size;
    }
    return out;
  }

  bool decode(const BlockType& type, ConstBytes in, Bytes out, Heap&) const override {
    const int64_t n = count(type.shape);
    ByteReader reader(in);
    const uint32_t stored = reader.u32();
    if (stored != n) throw_corrupt("holds " + std::to_string(stored) + " strings, " + std::to_string(n) + " expected");
    auto* refs = reinterpret_cast<StringRef*>(out.data());
    for (int64_t i = 0; i < n; ++i) {
      const ConstBytes text = reader.take(reader.u32());
      refs[i] = {reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size())};
    }
    return true;
  }

 private:
  static std::byte* put(std::byte* to, uint32_t value) {
    std::memcpy(to, &value, 4);
    return to + 4;
  }
};

std::unique_ptr<PackCodec> make(const Json&, const BlockType& type) {
  if (!type.type.is_vlen())
    throw Error(ErrorKind::Invalid, "codec for strings on elements of type " + to_string(type.type));
  return std::make_unique<VlenPack>();
}

}  // namespace

extern const Definition kVlenUtf8 = {.make_pack = make};
extern const Definition kVlenBytes = {.make_pack = make};

}  // namespace lamella::codec
