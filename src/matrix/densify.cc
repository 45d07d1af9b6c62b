#include "matrix/densify.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"
#include "matrix/entries.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kEntries = int64_t{1} << 17;  // that are decoded at a time
constexpr int64_t kSlices = int64_t{1} << 16;   // of which indptr is read at a time

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
  explicit DensifyExpr(std::shared_ptr<const Sparse> sparse)
      : Expr(sparse->shape, sparse->data->type()), entries_(std::move(sparse)), add_(adder(type())) {}

  void read(const Box& region, const View& to, Heap&, ThreadPool& threads) const override {
    if (region.empty()) return;
    const std::vector<std::byte> zero(static_cast<size_t>(type().size));
    fill_elements(to, zero.data(), type().size);
    const size_t major = entries_.sparse().layout == Layout::Csr ? 0 : 1;
    for (int64_t begin = 0; begin < region.shape[major]; begin += kSlices) {
      const int64_t end = std::min(begin + kSlices, region.shape[major]);
      const std::vector<int64_t> indptr =
          entries_.indptr(region.offset[major] + begin, region.offset[major] + end, threads);
      scatter(region, to, major, begin, indptr, threads);
    }
  }

  // Whole slices: a part of one costs as much as all of it.
  Shape grain() const override {
    Shape grain = shape();
    for (int64_t& length : grain) length = std::max<int64_t>(length, 1);
    grain[entries_.sparse().layout == Layout::Csr ? 0 : 1] = 1;
    return grain;
  }
  int64_t working_bytes() const override {
    return kEntries * (8 + type().size) + kSlices * 8 + entries_.sparse().data->working_bytes() +
           entries_.sparse().indices->working_bytes();
  }
  int64_t stored_bytes() const override {
    return entries_.sparse().data->stored_bytes() + entries_.sparse().indices->stored_bytes();
  }

 private:
  void scatter(const Box& region, const View& to, size_t major, int64_t first, const std::vector<int64_t>& indptr,
               ThreadPool& threads) const {
    const int64_t item = type().size;
    const size_t minor = 1 - major;
    const int64_t low = region.offset[minor], high = low + region.shape[minor];
    std::vector<int64_t> indices(static_cast<size_t>(std::min(kEntries, indptr.back() - indptr.front())));
    Buffer data(static_cast<int64_t>(indices.size()) * item);
    size_t slice = 0;
    for (int64_t begin = indptr.front(); begin < indptr.back(); begin += kEntries) {
      const int64_t end = std::min(begin + kEntries, indptr.back());
      entries_.indices(begin, end, indices.data(), threads);
      entries_.data(begin, end, data.data(), threads);
      if (type().big_endian) swap_bytes(type(), data.data(), end - begin);
      for (int64_t i = begin; i < end; ++i) {
        while (i >= indptr[slice + 1]) ++slice;
        const int64_t column = indices[static_cast<size_t>(i - begin)];
        if (column < low || column >= high) continue;
        std::byte* at =
            to.data + (first + static_cast<int64_t>(slice)) * to.strides[major] + (column - low) * to.strides[minor];
        if (type().big_endian) swap_bytes(type(), at, 1);
        add_(at, data.data() + (i - begin) * item);
        if (type().big_endian) swap_bytes(type(), at, 1);
      }
    }
  }

  EntryReader entries_;
  Add add_;
};

}  // namespace

lazy::ExprPtr densify(std::shared_ptr<const Sparse> sparse) { return std::make_shared<DensifyExpr>(std::move(sparse)); }

}  // namespace lamella::matrix
