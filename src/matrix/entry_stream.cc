#include "matrix/entry_stream.h"

#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"
#include "matrix/entries.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kEntries = int64_t{1} << 18;     // of one block
constexpr int64_t kDenseBytes = int64_t{4} << 20;  // of dense rows that are looked through at a time

class TransposedEntries : public EntryStream {
 public:
  explicit TransposedEntries(std::shared_ptr<const Sparse> source) : reader_(std::move(source)) {}

  void for_each(bool with_data, ThreadPool& threads, const Body& body) const override {
    const Sparse& source = reader_.sparse();
    std::vector<int64_t> majors(kEntries), minors(kEntries);
    Buffer data(with_data ? kEntries * source.data->type().size : 0);
    const int64_t slices = source.major();
    int64_t done = 0;  // entries that were given out
    for (int64_t begin = 0; begin < slices; begin += kEntries) {
      const int64_t end = std::min(begin + kEntries, slices);
      const std::vector<int64_t> indptr = reader_.indptr(begin, end, threads);
      if (indptr.front() != done)
        throw Error(ErrorKind::Corrupt, source.name + ": indptr decreases at position " + std::to_string(begin));
      size_t slice = 0;
      while (done < indptr.back()) {
        const int64_t n = std::min(kEntries, indptr.back() - done);
        reader_.indices(done, done + n, majors.data(), threads);
        if (with_data) reader_.data(done, done + n, data.data(), threads);
        for (int64_t i = 0; i < n; ++i) {
          while (done + i >= indptr[slice + 1]) ++slice;
          minors[static_cast<size_t>(i)] = begin + static_cast<int64_t>(slice);
        }
        body({n, majors.data(), minors.data(), with_data ? data.data() : nullptr});
        done += n;
      }
    }
  }

  int64_t working_bytes() const override {
    const Sparse& source = reader_.sparse();
    return kEntries * (24 + source.data->type().size) + source.indices->working_bytes() + source.data->working_bytes();
  }

 private:
  EntryReader reader_;
};

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

class NonzeroEntries : public EntryStream {
 public:
  NonzeroEntries(lazy::ExprPtr dense, Layout wanted)
      : dense_(std::move(dense)), rows_are_major_(wanted == Layout::Csr), test_(test_for(dense_->type())) {}

  void for_each(bool, ThreadPool& threads, const Body& body) const override {
    const int64_t rows = dense_->shape()[0], columns = dense_->shape()[1], item = dense_->type().size;
    if (rows == 0 || columns == 0) return;
    const int64_t step = rows_at_once();
    Buffer block(step * columns * item), data(kEntries * item);
    std::vector<int64_t> majors(kEntries), minors(kEntries);
    std::byte swapped[32];
    int64_t n = 0;
    auto give = [&] {
      body({n, majors.data(), minors.data(), data.data()});
      n = 0;
    };
    for (int64_t begin = 0; begin < rows; begin += step) {
      const Box part{{begin, 0}, {std::min(step, rows - begin), columns}};
      Heap heap;
      dense_->read(part, View::c_order(block.data(), part.shape, item), heap, threads);
      const std::byte* at = block.data();
      for (int64_t row = begin; row < begin + part.shape[0]; ++row) {
        for (int64_t column = 0; column < columns; ++column, at += item) {
          const std::byte* native = at;
          if (dense_->type().big_endian) {
            std::memcpy(swapped, at, static_cast<size_t>(item));
            swap_bytes(dense_->type(), swapped, 1);
            native = swapped;
          }
          if (!test_(native)) continue;
          majors[static_cast<size_t>(n)] = rows_are_major_ ? row : column;
          minors[static_cast<size_t>(n)] = rows_are_major_ ? column : row;
          std::memcpy(data.data() + n * item, at, static_cast<size_t>(item));
          if (++n == kEntries) give();
        }
      }
    }
    if (n > 0) give();
  }

  int64_t working_bytes() const override {
    const int64_t item = dense_->type().size;
    return rows_at_once() * dense_->shape()[1] * item + kEntries * (16 + item) + dense_->working_bytes();
  }

 private:
  // Whole chunks of the source, so that none is decoded twice, unless they are too tall.
  int64_t rows_at_once() const {
    const int64_t row_bytes = std::max<int64_t>(dense_->shape()[1] * dense_->type().size, 1);
    int64_t step = std::clamp<int64_t>(kDenseBytes / row_bytes, 1, std::max<int64_t>(dense_->shape()[0], 1));
    const Shape grain = dense_->grain();
    if (!grain.empty() && grain[0] * row_bytes <= 4 * kDenseBytes) step = round_up(step, grain[0]);
    return step;
  }

  lazy::ExprPtr dense_;
  bool rows_are_major_;
  Test test_;
};

}  // namespace

std::unique_ptr<EntryStream> transposed_entries(std::shared_ptr<const Sparse> source) {
  return std::make_unique<TransposedEntries>(std::move(source));
}

std::unique_ptr<EntryStream> nonzero_entries(lazy::ExprPtr dense, Layout wanted) {
  return std::make_unique<NonzeroEntries>(std::move(dense), wanted);
}

}  // namespace lamella::matrix
