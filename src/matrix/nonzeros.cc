#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/vector.h"
#include "matrix/sparse.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kEntries = int64_t{1} << 16;     // of one block
constexpr int64_t kDenseBytes = int64_t{4} << 20;  // of dense rows that are looked through at a time

// Tests for "is not zero", by the type.
using Test = bool (*)(const std::byte*);

template <class T>
bool not_zero(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value != T{};
}

template <class T>
bool part_not_zero(const std::byte* at) {
  return not_zero<T>(at) || not_zero<T>(at + sizeof(T));
}

bool half_not_zero(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return (bits & 0x7fff) != 0;
}

Test test_for(const DType& type) {
  if (type.kind == TypeKind::Float) {
    return type.size == 2   ? half_not_zero
           : type.size == 4 ? not_zero<float>
           : type.size == 8 ? not_zero<double>
                            : not_zero<long double>;
  }
  if (type.kind == TypeKind::Complex) return type.size == 8 ? part_not_zero<float> : part_not_zero<double>;
  if (!type.is_numeric())
    throw Error(ErrorKind::Unsupported, "a sparse matrix of elements of type " + lamella::to_string(type));
  return type.size == 1   ? not_zero<uint8_t>
         : type.size == 2 ? not_zero<uint16_t>
         : type.size == 4 ? not_zero<uint32_t>
                          : not_zero<uint64_t>;
}

class Nonzeros final : public Sparse {
 public:
  explicit Nonzeros(lazy::ExprPtr dense)
      : Sparse(Layout::Csr, dense->shape(), dense->type(), "a dense matrix"),
        dense_(std::move(dense)),
        test_(test_for(type())) {}

  void visit(int64_t begin, int64_t end, bool, const Reading& reading, const Body& body) const override {
    const int64_t columns = minor(), item = type().size;
    if (begin == end || columns == 0) return;
    const int64_t step = rows_at_once();
    const int64_t most = block_entries();
    Buffer block(std::min(step, end - begin) * columns * item), data(most * item);
    Vector<int64_t> majors(static_cast<size_t>(most)), minors(static_cast<size_t>(most));
    std::byte swapped[32];
    int64_t n = 0;
    auto give = [&] {
      body({n, majors.data(), minors.data(), data.data()});
      n = 0;
    };
    for (int64_t first = begin; first < end;) {
      // Steps end where chunks do.
      const int64_t rows = std::min((first / step + 1) * step, end) - first;
      const Box part{{first, 0}, {rows, columns}};
      Heap heap;
      dense_->read(part, View::c_order(block.data(), part.shape, item), heap, reading.threads);
      const std::byte* at = block.data();
      for (int64_t row = first; row < first + rows; ++row) {
        for (int64_t column = 0; column < columns; ++column, at += item) {
          const std::byte* native = at;
          if (type().big_endian) {
            std::memcpy(swapped, at, static_cast<size_t>(item));
            swap_bytes(type(), swapped, 1);
            native = swapped;
          }
          if (!test_(native)) continue;
          majors[static_cast<size_t>(n)] = row;
          minors[static_cast<size_t>(n)] = column;
          std::memcpy(data.data() + n * item, at, static_cast<size_t>(item));
          if (++n == most) give();
        }
      }
      first += rows;
    }
    if (n > 0) give();
  }

  int64_t most_entries() const override { return count(shape()); }
  int64_t stored_bytes() const override { return dense_->stored_bytes(); }
  int64_t working_bytes() const override {
    return rows_at_once() * minor() * type().size + block_entries() * (16 + type().size) + 2 * dense_->working_bytes();
  }

 private:
  int64_t rows_at_once() const { return nonzeros_rows(*dense_); }
  int64_t block_entries() const { return std::clamp<int64_t>(count(shape()), 1, kEntries); }

  lazy::ExprPtr dense_;
  Test test_;
};

}  // namespace

// Whole chunks of the source, so that none is decoded twice, unless they are too tall.
int64_t nonzeros_rows(const lazy::Expr& dense) {
  const int64_t rows = dense.shape()[0], row_bytes = std::max<int64_t>(dense.shape()[1] * dense.type().size, 1);
  int64_t step = std::clamp<int64_t>(kDenseBytes / row_bytes, 1, std::max<int64_t>(rows, 1));
  const Shape grain = dense.grain();
  if (!grain.empty() && grain[0] * row_bytes <= 4 * kDenseBytes) step = round_up(step, grain[0]);
  return step;
}

SparsePtr nonzeros(lazy::ExprPtr dense) { return std::make_shared<Nonzeros>(std::move(dense)); }

}  // namespace lamella::matrix
