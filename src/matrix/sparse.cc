#include "matrix/sparse.h"

#include <algorithm>
#include <cstring>

namespace lamella::matrix {
namespace {

constexpr int64_t kMajors = int64_t{1} << 20;  // of which the counts are held at a time

}  // namespace

DType index_type(int64_t majors, int64_t minors, int64_t entries) {
  const bool wide = majors > INT32_MAX || minors > INT32_MAX || entries > INT32_MAX;
  return DType::int_(wide ? 8 : 4);
}

std::vector<int64_t> Sparse::counts(int64_t begin, int64_t end, const Reading& reading) const {
  std::vector<int64_t> out(static_cast<size_t>(end - begin));
  visit(begin, end, false, reading, [&](const EntryBlock& block) {
    for (int64_t i = 0; i < block.n; ++i) ++out[static_cast<size_t>(block.major[i] - begin)];
  });
  return out;
}

Entries read_entries(const Sparse& sparse, int64_t begin, int64_t end, const Reading& reading) {
  Entries out;
  const std::vector<int64_t> counts = sparse.counts(begin, end, reading);
  out.indptr.reserve(counts.size() + 1);
  out.indptr.push_back(0);
  for (int64_t n : counts) out.indptr.push_back(checked_add(out.indptr.back(), n));
  const int64_t size = sparse.type().size;
  out.minors.resize(static_cast<size_t>(out.indptr.back()));
  out.data = Buffer(checked_mul(out.indptr.back(), size));
  int64_t at = 0;
  sparse.visit(begin, end, true, reading, [&](const EntryBlock& block) {
    std::copy_n(block.minor, block.n, out.minors.data() + at);
    std::memcpy(out.data.data() + at * size, block.data, static_cast<size_t>(block.n * size));
    at += block.n;
  });
  return out;
}

void for_each_range(const Sparse& sparse, int64_t begin, int64_t end, int64_t most, const Reading& reading,
                    const std::function<void(int64_t, int64_t, int64_t)>& body) {
  for (int64_t base = begin; base < end; base += kMajors) {
    const int64_t stop = std::min(end, base + kMajors);
    const std::vector<int64_t> counts = sparse.counts(base, stop, reading);
    const auto entries_of = [&](int64_t major) { return counts[static_cast<size_t>(major - base)]; };
    for (int64_t first = base; first < stop;) {
      int64_t last = first + 1, entries = entries_of(first);
      for (; last < stop && entries + entries_of(last) <= most; ++last) entries += entries_of(last);
      body(first, last, entries);
      first = last;
    }
  }
}

}  // namespace lamella::matrix
