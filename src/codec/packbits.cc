// "packbits" of numcodecs: eight bools a byte, the first in the highest bit, behind one byte that counts the padding
// bits.
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class PackbitsPack : public PackCodec {
 public:
  std::optional<int64_t> encoded_size(const BlockType& type) const override {
    return 1 + ceil_div(count(type.shape), 8);
  }

  Buffer encode(const BlockType& type, ConstBytes in) const override {
    const int64_t n = count(type.shape);
    Buffer out(1 + ceil_div(n, 8));
    out.data()[0] = static_cast<std::byte>(ceil_div(n, 8) * 8 - n);
    for (int64_t i = 0; i < n; i += 8) {
      unsigned bits = 0;
      for (int64_t k = i; k < std::min(i + 8, n); ++k)
        bits |= (in[static_cast<size_t>(k)] != std::byte{0} ? 128u : 0u) >> (k - i);
      out.data()[1 + i / 8] = static_cast<std::byte>(bits);
    }
    return out;
  }

  bool decode(const BlockType& type, ConstBytes in, Bytes out, Heap&) const override {
    const int64_t n = count(type.shape);
    if (static_cast<int64_t>(in.size()) != 1 + ceil_div(n, 8)) {
      throw_wrong_length((static_cast<int64_t>(in.size()) - 1) * 8, n);
    }
    for (int64_t i = 0; i < n; ++i) {
      out[static_cast<size_t>(i)] = (in[static_cast<size_t>(1 + i / 8)] >> (7 - i % 8)) & std::byte{1};
    }
    return false;
  }
};

std::unique_ptr<PackCodec> make(const Json&, const BlockType& type) {
  if (type.type.kind != TypeKind::Bool)
    throw Error(ErrorKind::Invalid, "codec \"packbits\" on elements of type " + to_string(type.type));
  return std::make_unique<PackbitsPack>();
}

}  // namespace

extern const Definition kPackbits = {.make_pack = make};

}  // namespace lamella::codec
