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

EntryReader::EntryReader(std::shared_ptr<const Sparse> sparse)
    : sparse_(std::move(sparse)),
      indices_(lazy::cast(sparse_->indices, DType::int_(8))),
      indptr_(lazy::cast(sparse_->indptr, DType::int_(8))) {}

std::vector<int64_t> EntryReader::indptr(int64_t begin, int64_t end, ThreadPool& threads) const {
  std::vector<int64_t> out(static_cast<size_t>(end - begin + 1));
  read_run(*indptr_, begin, end + 1, reinterpret_cast<std::byte*>(out.data()), threads);
  int64_t previous = begin == 0 ? 0 : out[0];
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] < previous || out[i] > sparse_->nnz() || (begin == 0 && i == 0 && out[0] != 0)) {
      throw Error(ErrorKind::Corrupt, sparse_->name + ": indptr is " + std::to_string(out[i]) + " at position " +
                                          std::to_string(begin + static_cast<int64_t>(i)) + " where " +
                                          std::to_string(previous) + " to " + std::to_string(sparse_->nnz()) +
                                          " is possible; was it written by a version that overflowed 32 bits?");
    }
    previous = out[i];
  }
  if (end == sparse_->major() && out.back() != sparse_->nnz()) {
    throw Error(ErrorKind::Corrupt, sparse_->name + ": indptr ends at " + std::to_string(out.back()) + ", there are " +
                                        std::to_string(sparse_->nnz()) + " entries");
  }
  return out;
}

void EntryReader::indices(int64_t begin, int64_t end, int64_t* out, ThreadPool& threads) const {
  if (end <= begin) return;
  read_run(*indices_, begin, end, reinterpret_cast<std::byte*>(out), threads);
  const auto minor = static_cast<uint64_t>(sparse_->minor());
  for (int64_t i = 0; i < end - begin; ++i) {
    if (static_cast<uint64_t>(out[i]) < minor) continue;
    throw Error(ErrorKind::Corrupt, sparse_->name + ": index " + std::to_string(out[i]) + " at position " +
                                        std::to_string(begin + i) + " lies outside of 0 to " +
                                        std::to_string(sparse_->minor() - 1));
  }
}

void EntryReader::data(int64_t begin, int64_t end, std::byte* out, ThreadPool& threads) const {
  if (end > begin) read_run(*sparse_->data, begin, end, out, threads);
}

}  // namespace lamella::matrix
