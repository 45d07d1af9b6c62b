// "transpose": axis i of what is stored is axis order[i] of the array.
#include <algorithm>
#include <numeric>

#include "base/strided.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

class TransposeCodec : public ArrayCodec {
 public:
  explicit TransposeCodec(std::vector<int64_t> order) : order_(std::move(order)) {}

  BlockType encoded_type(const BlockType& type) const override {
    BlockType out = type;
    for (size_t axis = 0; axis < order_.size(); ++axis) out.shape[axis] = type.shape[static_cast<size_t>(order_[axis])];
    return out;
  }

  void encode(const BlockType& type, ConstBytes in, Bytes out) const override {
    const BlockType stored = encoded_type(type);
    copy_elements(View::c_order(out.data(), stored.shape, type.type.size), permuted(type, in.data()), type.type.size);
  }

  void decode(const BlockType& type, ConstBytes in, Bytes out) const override {
    const BlockType stored = encoded_type(type);
    copy_elements(permuted(type, out.data()), ConstView::c_order(in.data(), stored.shape, type.type.size),
                  type.type.size);
  }

 private:
  // The array in memory, its axes in the order in which they are stored.
  template <class Byte>
  StridedView<Byte> permuted(const BlockType& type, Byte* data) const {
    const StridedView<Byte> plain = StridedView<Byte>::c_order(data, type.shape, type.type.size);
    StridedView<Byte> out = plain;
    for (size_t axis = 0; axis < order_.size(); ++axis) {
      out.shape[axis] = plain.shape[static_cast<size_t>(order_[axis])];
      out.strides[axis] = plain.strides[static_cast<size_t>(order_[axis])];
    }
    return out;
  }

  std::vector<int64_t> order_;
};

Json canonical(ConfigReader& config, int64_t) { return {{"order", config.integers("order")}}; }

std::unique_ptr<ArrayCodec> make(const Json& configuration, const BlockType& type) {
  const auto order = configuration["order"].get<std::vector<int64_t>>();
  std::vector<int64_t> sorted = order, axes(type.shape.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    throw Error(ErrorKind::Invalid,
                "codec \"transpose\": \"order\" must be a permutation of " + std::to_string(axes.size()) + " axes");
  }
  return std::make_unique<TransposeCodec>(order);
}

}  // namespace

extern const Definition kTranspose = {.canonical = canonical, .make_array = make};

}  // namespace lamella::codec
