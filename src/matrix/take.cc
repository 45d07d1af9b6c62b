#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/vector.h"
#include "lazy/map.h"
#include "matrix/select.h"

namespace lamella::matrix {
namespace {

Positions list_of(const lazy::Picks& picks, int64_t offset, int64_t count) {
  Positions out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = picks[offset + i];
  return out;
}

class TakeMajor final : public Sparse {
 public:
  TakeMajor(SparsePtr inner, lazy::Picks picks)
      : Sparse(inner->layout(),
               inner->layout() == Layout::Csr ? Shape{picks.count(), inner->shape()[1]}
                                              : Shape{inner->shape()[0], picks.count()},
               inner->type(), inner->name()),
        inner_(std::move(inner)),
        picks_(std::move(picks)) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    if (begin == end) return;
    const int64_t most = std::max<int64_t>(reading.memory / (2 * (16 + type().size)), 1);
    if (picks_.part(begin, end - begin).is_run()) return visit_run(begin, end, with_data, reading, body);
    const std::vector<int64_t> sizes = counts(begin, end, reading);
    for (int64_t first = begin; first < end;) {
      int64_t last = first, entries = 0;
      do entries += sizes[static_cast<size_t>(last++ - begin)];
      while (last < end && entries + sizes[static_cast<size_t>(last - begin)] <= most);
      visit_list(first, last, entries, with_data, reading, body);
      first = last;
    }
  }

  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    if (begin == end) return {};
    if (picks_.part(begin, end - begin).is_run())
      return inner_->counts(picks_[begin], picks_[begin] + end - begin, reading);
    const Positions wanted = list_of(picks_, begin, end - begin);
    const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
    const int64_t base = *low;
    const std::vector<int64_t> all = inner_->counts(base, *high + 1, reading);
    std::vector<int64_t> out(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) out[i] = all[static_cast<size_t>(wanted[i] - base)];
    return out;
  }

  // Of a run: the same arrays, cut. Reads the two ends of it.
  std::optional<SparseParts> parts() const override {
    auto parts = picks_.is_run() ? inner_->parts() : std::nullopt;
    if (!parts) return std::nullopt;
    const int64_t begin = picks_[0], n = picks_.count();
    const lazy::ExprPtr indptr = lazy::slice(lazy::cast(parts->indptr, DType::int_(8)), {{begin}, {n + 1}});
    int64_t ends[2];
    for (int i : {0, 1}) {
      Heap heap;
      const Buffer one = lazy::slice(indptr, {{i * n}, {1}})->read_all(heap);
      std::memcpy(&ends[i], one.data(), 8);
    }
    const int64_t entries = parts->data->shape()[0];
    if (ends[0] < 0 || ends[1] < ends[0] || ends[1] > entries)
      throw Error(ErrorKind::Corrupt, name() + ": indptr goes from " + std::to_string(ends[0]) + " to " +
                                          std::to_string(ends[1]) + " where there are " + std::to_string(entries) +
                                          " entries");
    const Box run{{ends[0]}, {ends[1] - ends[0]}};
    return SparseParts{lazy::slice(parts->data, run), lazy::slice(parts->indices, run), lazy::shift(indptr, -ends[0])};
  }

  bool scattered() const override { return inner_->scattered(); }
  int64_t most_entries() const override {
    // Without reading: the share of the majors, or all when some are taken twice.
    const int64_t n = inner_->most_entries();
    return picks_.count() <= inner_->major() ? n : checked_mul(n, ceil_div(picks_.count(), inner_->major()));
  }
  int64_t stored_bytes() const override {
    const double share =
        inner_->major() > 0 ? static_cast<double>(picks_.count()) / static_cast<double>(inner_->major()) : 0;
    return static_cast<int64_t>(static_cast<double>(inner_->stored_bytes()) * std::min(share, 1.0));
  }
  int64_t working_bytes() const override { return inner_->working_bytes() + 8 * inner_->major(); }

 private:
  void visit_run(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const {
    const int64_t shift = begin - picks_[begin];
    Vector<int64_t> majors;
    inner_->visit(picks_[begin], picks_[begin] + end - begin, with_data, reading, [&](const EntryBlock& block) {
      if (shift == 0) return body(block);
      majors.resize(static_cast<size_t>(block.n));
      std::transform(block.major, block.major + block.n, majors.begin(), [&](int64_t m) { return m + shift; });
      body({block.n, majors.data(), block.minor, block.data});
    });
  }

  // Reads each wanted major once, in the order of the source, and gives them out in the order of the picks.
  void visit_list(int64_t first, int64_t last, int64_t entries, bool with_data, const Reading& reading,
                  const Body& body) const {
    const Positions wanted = list_of(picks_, first, last - first);
    Positions unique = wanted;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    const int64_t size = with_data ? type().size : 0;
    std::vector<int64_t> begins(unique.size() + 1, 0);
    Vector<int64_t> minors;
    Vector<std::byte> data;
    minors.reserve(static_cast<size_t>(entries));
    data.reserve(static_cast<size_t>(entries * size));
    for (size_t u = 0; u < unique.size();) {
      size_t v = u + 1;
      while (v < unique.size() && unique[v] == unique[v - 1] + 1) ++v;
      inner_->visit(unique[u], unique[v - 1] + 1, with_data, reading, [&](const EntryBlock& block) {
        minors.insert(minors.end(), block.minor, block.minor + block.n);
        if (with_data) data.insert(data.end(), block.data, block.data + block.n * size);
        for (int64_t i = 0; i < block.n; ++i) ++begins[u + static_cast<size_t>(block.major[i] - unique[u]) + 1];
      });
      u = v;
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<int64_t> majors;
    for (int64_t i = first; i < last; ++i) {
      const auto at = std::lower_bound(unique.begin(), unique.end(), wanted[static_cast<size_t>(i - first)]);
      const auto u = static_cast<size_t>(at - unique.begin());
      const int64_t n = begins[u + 1] - begins[u];
      if (n == 0) continue;
      majors.assign(static_cast<size_t>(n), i);
      body({n, majors.data(), minors.data() + begins[u], with_data ? data.data() + begins[u] * size : nullptr});
    }
  }

  SparsePtr inner_;
  lazy::Picks picks_;
};

class Transposed final : public Sparse {
 public:
  explicit Transposed(SparsePtr inner)
      : Sparse(other(inner->layout()), {inner->shape()[1], inner->shape()[0]}, inner->type(), inner->name()),
        inner_(std::move(inner)) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    inner_->visit(begin, end, with_data, reading, body);
  }
  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    inner_->visit_share(share, shares, with_data, reading, body);
  }
  bool scattered() const override { return inner_->scattered(); }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    return inner_->counts(begin, end, reading);
  }
  std::optional<SparseParts> parts() const override { return inner_->parts(); }
  int64_t most_entries() const override { return inner_->most_entries(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }
  int64_t working_bytes() const override { return inner_->working_bytes(); }

 private:
  SparsePtr inner_;
};

}  // namespace

SparsePtr take_major(SparsePtr sparse, lazy::Picks picks) {
  picks.check(sparse->major(), sparse->layout() == Layout::Csr ? 0 : 1);
  if (picks.count() == 0) {
    const Shape shape = sparse->layout() == Layout::Csr ? Shape{0, sparse->minor()} : Shape{sparse->minor(), 0};
    return empty_sparse(sparse->layout(), shape, sparse->type());
  }
  if (picks.is_run() && picks.count() == sparse->major()) return sparse;
  return std::make_shared<TakeMajor>(std::move(sparse), std::move(picks));
}

SparsePtr transposed(SparsePtr sparse) { return std::make_shared<Transposed>(std::move(sparse)); }

Matrix take(const Matrix& matrix, const lazy::Picks& rows, const lazy::Picks& columns) {
  const bool all_rows = rows.is_run() && rows.count() == matrix.shape()[0];
  const bool all_columns = columns.is_run() && columns.count() == matrix.shape()[1];
  if (all_rows && all_columns) return matrix;
  if (matrix.dense) return {lazy::take(matrix.dense, {rows, columns}), nullptr};
  const bool csr = matrix.layout() == Layout::Csr;
  const lazy::Picks &major = csr ? rows : columns, &minor = csr ? columns : rows;
  minor.check(matrix.sparse->minor(), csr ? 1 : 0);
  SparsePtr out = take_major(matrix.sparse, major);
  if (csr ? !all_columns : !all_rows) out = take_minor(out, list_of(minor, 0, minor.count()));
  return {nullptr, out};
}

}  // namespace lamella::matrix
