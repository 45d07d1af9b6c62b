#include "matrix/densify.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kMemory = int64_t{2} << 20;  // for what is computed on the way

using Add = void (*)(std::byte* to, const std::byte* value);

template <class T>
void add(std::byte* to, const std::byte* value) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, value, sizeof(T));
  if constexpr (std::is_same_v<T, bool>) a = a || b;
  else a = static_cast<T>(a + b);
  std::memcpy(to, &a, sizeof(T));
}

void add_half(std::byte* to, const std::byte* value) {
  uint16_t a, b;
  std::memcpy(&a, to, 2);
  std::memcpy(&b, value, 2);
  a = float_to_half(half_to_float(a) + half_to_float(b));
  std::memcpy(to, &a, 2);
}

// Addition wraps around alike for signed and unsigned integers.
Add adder(const DType& type) {
  switch (type.kind) {
    case TypeKind::Bool: return add<bool>;
    case TypeKind::Int:
    case TypeKind::UInt:
      return type.size == 1   ? add<uint8_t>
             : type.size == 2 ? add<uint16_t>
             : type.size == 4 ? add<uint32_t>
                              : add<uint64_t>;
    case TypeKind::Float:
      return type.size == 2 ? add_half : type.size == 4 ? add<float> : type.size == 8 ? add<double> : add<long double>;
    case TypeKind::Complex: return type.size == 8 ? add<std::complex<float>> : add<std::complex<double>>;
    default: throw Error(ErrorKind::Unsupported, "a sparse matrix of elements of type " + lamella::to_string(type));
  }
}

class DensifyExpr : public lazy::Expr {
 public:
  explicit DensifyExpr(SparsePtr sparse)
      : Expr(sparse->shape(), sparse->type()), sparse_(std::move(sparse)), add_(adder(type())) {}

  void read(const Box& region, const View& to, Heap&, ThreadPool& threads) const override {
    if (region.empty()) return;
    const std::vector<std::byte> zero(static_cast<size_t>(type().size));
    fill_elements(to, zero.data(), type().size);
    const size_t major = major_axis(), minor = 1 - major;
    const int64_t begin = region.offset[major], low = region.offset[minor], high = low + region.shape[minor];
    const int64_t item = type().size;
    std::vector<std::byte> swapped(static_cast<size_t>(item));
    sparse_->visit(begin, begin + region.shape[major], true, {threads, memory()}, [&](const EntryBlock& block) {
      for (int64_t i = 0; i < block.n; ++i) {
        const int64_t column = block.minor[i];
        if (column < low || column >= high) continue;
        std::byte* at = to.data + (block.major[i] - begin) * to.strides[major] + (column - low) * to.strides[minor];
        if (!type().big_endian) {
          add_(at, block.data + i * item);
          continue;
        }
        std::memcpy(swapped.data(), block.data + i * item, swapped.size());
        swap_bytes(type(), swapped.data(), 1);
        swap_bytes(type(), at, 1);
        add_(at, swapped.data());
        swap_bytes(type(), at, 1);
      }
    });
  }

  // Whole slices: a part of one costs as much as all of it.
  Shape grain() const override {
    Shape grain = shape();
    for (int64_t& length : grain) length = std::max<int64_t>(length, 1);
    grain[major_axis()] = 1;
    return grain;
  }
  int64_t working_bytes() const override { return memory() + sparse_->working_bytes(); }
  int64_t stored_bytes() const override { return sparse_->stored_bytes(); }

 private:
  int64_t memory() const { return std::min(kMemory, (count(shape()) + 64) * (64 + 4 * type().size)); }
  size_t major_axis() const { return sparse_->layout() == Layout::Csr ? 0 : 1; }

  SparsePtr sparse_;
  Add add_;
};

}  // namespace

lazy::ExprPtr densify(SparsePtr sparse) { return std::make_shared<DensifyExpr>(std::move(sparse)); }

}  // namespace lamella::matrix
