#include "matrix/compressed.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "matrix/entry_run.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kMemory = int64_t{1} << 30;  // the result has to fit anyway

template <class Index>
void check_range(const Sparse& sparse, const Index* indices, int64_t n, ThreadPool& threads) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  const auto minors = static_cast<std::make_unsigned_t<Index>>(sparse.minor());
  threads.parallel_for(ceil_div(n, kPiece), [&](int64_t piece) {
    const int64_t end = std::min(n, (piece + 1) * kPiece);
    bool inside = true;
    for (int64_t i = piece * kPiece; i < end; ++i)
      inside &= static_cast<std::make_unsigned_t<Index>>(indices[i]) < minors;
    if (!inside)
      throw Error(ErrorKind::Corrupt,
                  sparse.name() + ": indices lie outside of 0 to " + std::to_string(sparse.minor() - 1));
  });
}

Buffer read_whole(const lazy::Expr& expr, ThreadPool& threads) {
  Buffer out(checked_mul(count(expr.shape()), expr.type().size));
  Heap heap;
  expr.read(Box::whole(expr.shape()), View::c_order(out.data(), expr.shape(), expr.type().size), heap, threads);
  return out;
}

Compressed from_parts(const Sparse& sparse, const SparseParts& parts, ThreadPool& threads) {
  Compressed out;
  out.nnz = parts.data->shape()[0];
  out.index_type = index_type(sparse.major(), sparse.minor(), out.nnz);
  // Wide first: what was written with an overflow must not look right after the cast.
  const Buffer wide = read_whole(*lazy::cast(parts.indptr, DType::int_(8)), threads);
  const auto* begin = reinterpret_cast<const int64_t*>(wide.data());
  const int64_t n = sparse.major() + 1;
  if (begin[0] != 0 || begin[n - 1] != out.nnz || !std::is_sorted(begin, begin + n)) {
    throw Error(ErrorKind::Corrupt, sparse.name() + ": indptr does not ascend from 0 to " + std::to_string(out.nnz) +
                                        "; was it written by a version that overflowed 32 bits?");
  }
  out.indptr =
      read_whole(*lazy::cast(lazy::in_memory({n}, DType::int_(8), wide.data(), nullptr), out.index_type), threads);
  out.indices = read_whole(*lazy::cast(parts.indices, out.index_type), threads);
  out.data = read_whole(*parts.data, threads);
  if (out.index_type.size == 4)
    check_range(sparse, reinterpret_cast<const int32_t*>(out.indices.data()), out.nnz, threads);
  else check_range(sparse, reinterpret_cast<const int64_t*>(out.indices.data()), out.nnz, threads);
  return out;
}

}  // namespace

Compressed read_compressed(const Sparse& sparse, ThreadPool& threads) {
  if (const auto parts = sparse.parts()) return from_parts(sparse, *parts, threads);
  const Reading reading{threads, kMemory};
  std::vector<int64_t> indptr(1, 0);
  for (int64_t n : sparse.counts(0, sparse.major(), reading)) indptr.push_back(checked_add(indptr.back(), n));
  Compressed out;
  out.nnz = indptr.back();
  out.index_type = index_type(sparse.major(), sparse.minor(), out.nnz);
  const int64_t width = out.index_type.size;
  out.indptr = Buffer((sparse.major() + 1) * width);
  for (size_t i = 0; i < indptr.size(); ++i)
    std::memcpy(out.indptr.data() + static_cast<int64_t>(i) * width, &indptr[i], static_cast<size_t>(width));
  out.indices = Buffer(out.nnz * width);
  out.data = Buffer(checked_mul(out.nnz, sparse.type().size));
  read_run(sparse, indptr, 0, out.nnz, width, out.indices.data(), out.data.data(), reading);
  return out;
}

}  // namespace lamella::matrix
