#include "matrix/entries.h"

#include "base/error.h"

namespace lamella::matrix {
namespace {

void read_run(const lazy::Expr& expr, int64_t begin, int64_t end, std::byte* out, ThreadPool& threads) {
  Heap heap;
  const Shape shape{end - begin};
  expr.read({{begin}, shape}, View::c_order(out, shape, expr.type().size), heap, threads);
}

}  // namespace

EntryReader::EntryReader(SparseParts parts, int64_t minors, std::string name)
    : data_(std::move(parts.data)),
      indices_(lazy::cast(std::move(parts.indices), DType::int_(8))),
      indptr_(lazy::cast(std::move(parts.indptr), DType::int_(8))),
      minors_(minors),
      name_(std::move(name)) {}

std::vector<int64_t> EntryReader::indptr(int64_t begin, int64_t end, ThreadPool& threads) const {
  const int64_t nnz = data_->shape()[0], majors = indptr_->shape()[0] - 1;
  std::vector<int64_t> out(static_cast<size_t>(end - begin + 1));
  read_run(*indptr_, begin, end + 1, reinterpret_cast<std::byte*>(out.data()), threads);
  int64_t previous = begin == 0 ? 0 : out[0];
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] < previous || out[i] > nnz || (begin == 0 && i == 0 && out[0] != 0)) {
      throw Error(ErrorKind::Corrupt, name_ + ": indptr is " + std::to_string(out[i]) + " at position " +
                                          std::to_string(begin + static_cast<int64_t>(i)) + " where " +
                                          std::to_string(previous) + " to " + std::to_string(nnz) +
                                          " is possible; was it written by a version that overflowed 32 bits?");
    }
    previous = out[i];
  }
  if (end == majors && out.back() != nnz) {
    throw Error(ErrorKind::Corrupt, name_ + ": indptr ends at " + std::to_string(out.back()) + ", there are " +
                                        std::to_string(nnz) + " entries");
  }
  return out;
}

void EntryReader::indices(int64_t begin, int64_t end, int64_t* out, ThreadPool& threads) const {
  if (end <= begin) return;
  read_run(*indices_, begin, end, reinterpret_cast<std::byte*>(out), threads);
  const auto minor = static_cast<uint64_t>(minors_);
  for (int64_t i = 0; i < end - begin; ++i) {
    if (static_cast<uint64_t>(out[i]) < minor) continue;
    throw Error(ErrorKind::Corrupt, name_ + ": index " + std::to_string(out[i]) + " at position " +
                                        std::to_string(begin + i) + " lies outside of 0 to " +
                                        std::to_string(minors_ - 1));
  }
}

void EntryReader::data(int64_t begin, int64_t end, std::byte* out, ThreadPool& threads) const {
  if (end > begin) read_run(*data_, begin, end, out, threads);
}

}  // namespace lamella::matrix
