#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/vector.h"
#include "lazy/concat.h"
#include "lazy/map.h"
#include "matrix/select.h"

namespace lamella::matrix {
namespace {

Shape stacked_shape(const std::vector<SparsePtr>& parts, bool along_major) {
  if (parts.empty()) throw Error(ErrorKind::Bug, "no matrices to stack");
  const Sparse& first = *parts.front();
  int64_t length = 0;
  for (const SparsePtr& part : parts) {
    const bool fits = along_major ? part->minor() == first.minor() : part->major() == first.major();
    if (part->layout() != first.layout() || part->type() != first.type() || !fits)
      throw Error(ErrorKind::Bug, part->name() + ": does not fit " + first.name());
    length = checked_add(length, along_major ? part->major() : part->minor());
  }
  const int64_t major = along_major ? length : first.major(), minor = along_major ? first.minor() : length;
  return first.layout() == Layout::Csr ? Shape{major, minor} : Shape{minor, major};
}

class Stacked : public Sparse {
 public:
  Stacked(std::vector<SparsePtr> parts, bool along_major)
      : Sparse(parts.front()->layout(), stacked_shape(parts, along_major), parts.front()->type(),
               parts.front()->name()),
        parts_(std::move(parts)) {
    offsets_.push_back(0);
    for (const SparsePtr& part : parts_)
      offsets_.push_back(offsets_.back() + (along_major ? part->major() : part->minor()));
  }

  bool scattered() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const SparsePtr& part) { return part->scattered(); });
  }
  int64_t most_entries() const override {
    int64_t sum = 0;
    for (const SparsePtr& part : parts_) sum = checked_add(sum, part->most_entries());
    return sum;
  }
  int64_t stored_bytes() const override {
    int64_t sum = 0;
    for (const SparsePtr& part : parts_) sum += part->stored_bytes();
    return sum;
  }
  int64_t working_bytes() const override {
    int64_t most = 0;
    for (const SparsePtr& part : parts_) most = std::max(most, part->working_bytes());
    return most + std::min(int64_t{1} << 18, most_entries()) * 8;
  }

 protected:
  std::vector<SparsePtr> parts_;
  std::vector<int64_t> offsets_;  // of each part, and the end
};

class StackedMajor final : public Stacked {
 public:
  explicit StackedMajor(std::vector<SparsePtr> parts) : Stacked(std::move(parts), true) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    for_each_part(begin, end, [&](size_t p, int64_t first, int64_t last) {
      parts_[p]->visit(first, last, with_data, reading, shifted(p, body));
    });
  }
  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    // Each part is cut into as many shares, and these are handed out evenly.
    const auto n = static_cast<int64_t>(parts_.size());
    const int64_t of_each = ceil_div(shares, n), all = n * of_each;
    for (int64_t i = all * share / shares; i < all * (share + 1) / shares; ++i) {
      const auto p = static_cast<size_t>(i / of_each);
      parts_[p]->visit_share(i % of_each, of_each, with_data, reading, shifted(p, body));
    }
  }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    std::vector<int64_t> out;
    for_each_part(begin, end, [&](size_t p, int64_t first, int64_t last) {
      const std::vector<int64_t> some = parts_[p]->counts(first, last, reading);
      out.insert(out.end(), some.begin(), some.end());
    });
    return out;
  }
  std::optional<SparseParts> parts() const override;

 private:
  template <class Do>
  void for_each_part(int64_t begin, int64_t end, const Do& what) const {
    auto p = static_cast<size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), begin) - offsets_.begin() - 1);
    for (; p < parts_.size() && offsets_[p] < end; ++p) {
      const int64_t first = std::max(begin, offsets_[p]), last = std::min(end, offsets_[p + 1]);
      if (first < last) what(p, first - offsets_[p], last - offsets_[p]);
    }
  }
  Body shifted(size_t p, const Body& body) const {
    return [this, p, &body, majors = Vector<int64_t>()](const EntryBlock& block) mutable {
      majors.resize(static_cast<size_t>(block.n));
      std::transform(block.major, block.major + block.n, majors.begin(), [&](int64_t m) { return m + offsets_[p]; });
      body({block.n, majors.data(), block.minor, block.data});
    };
  }
};

// The arrays one behind the other, each indptr lifted by the entries before it.
std::optional<SparseParts> StackedMajor::parts() const {
  std::vector<lazy::ExprPtr> data, indices, indptr;
  const DType type = index_type(major(), minor(), most_entries());
  int64_t entries = 0;
  for (const SparsePtr& part : parts_) {
    auto own = part->parts();
    if (!own) return std::nullopt;
    const int64_t n = part->major();
    const lazy::ExprPtr lifted = lazy::shift(lazy::cast(own->indptr, DType::int_(8)), entries);
    indptr.push_back(indptr.empty() ? lifted : lazy::slice(lifted, {{1}, {n}}));
    entries = checked_add(entries, own->data->shape()[0]);
    indices.push_back(lazy::cast(own->indices, type));
    data.push_back(own->data);
  }
  return SparseParts{lazy::concat(std::move(data), 0), lazy::concat(std::move(indices), 0),
                     lazy::cast(lazy::concat(std::move(indptr), 0), type)};
}

class StackedMinor final : public Stacked {
 public:
  explicit StackedMinor(std::vector<SparsePtr> parts) : Stacked(std::move(parts), false) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    const int64_t share = reading.memory / 2;
    const int64_t most = std::max<int64_t>(share / (24 + type().size), 1);
    const Reading rest{reading.threads, share / static_cast<int64_t>(parts_.size())};
    const int64_t size = type().size;
    for_each_range(*this, begin, end, most, rest, [&](int64_t first, int64_t last, int64_t) {
      std::vector<Entries> all;
      for (const SparsePtr& part : parts_) all.push_back(read_entries(*part, first, last, rest));
      Vector<int64_t> majors, minors;
      for (int64_t major = first; major < last; ++major) {
        const auto row = static_cast<size_t>(major - first);
        for (size_t p = 0; p < all.size(); ++p) {
          const int64_t at = all[p].indptr[row], n = all[p].indptr[row + 1] - at;
          if (n == 0) continue;
          majors.assign(static_cast<size_t>(n), major);
          minors.resize(static_cast<size_t>(n));
          for (int64_t i = 0; i < n; ++i)
            minors[static_cast<size_t>(i)] = all[p].minors[static_cast<size_t>(at + i)] + offsets_[p];
          body({n, majors.data(), minors.data(), with_data ? all[p].data.data() + at * size : nullptr});
        }
      }
    });
  }
  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    if (!scattered()) return Sparse::visit_share(share, shares, with_data, reading, body);
    for (size_t p = 0; p < parts_.size(); ++p) {
      Vector<int64_t> minors;
      parts_[p]->visit_share(share, shares, with_data, reading, [&](const EntryBlock& block) {
        minors.resize(static_cast<size_t>(block.n));
        std::transform(block.minor, block.minor + block.n, minors.begin(), [&](int64_t m) { return m + offsets_[p]; });
        body({block.n, block.major, minors.data(), block.data});
      });
    }
  }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    std::vector<int64_t> out(static_cast<size_t>(end - begin), 0);
    for (const SparsePtr& part : parts_) {
      const std::vector<int64_t> some = part->counts(begin, end, reading);
      std::transform(out.begin(), out.end(), some.begin(), out.begin(), std::plus<>());
    }
    return out;
  }
};

// CSR entries of a CSC matrix and the other way round: goes through all of it and keeps what is wanted.
class Relaid final : public Sparse {
 public:
  explicit Relaid(SparsePtr inner)
      : Sparse(other(inner->layout()), inner->shape(), inner->type(), inner->name()), inner_(std::move(inner)) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    const int64_t most = std::max<int64_t>(reading.memory / (2 * (16 + type().size)), 1);
    const Reading rest{reading.threads, reading.memory / 4};
    for_each_range(*this, begin, end, most, rest, [&](int64_t first, int64_t last, int64_t entries) {
      if (entries > 0) gather(first, last, with_data, rest, body);
    });
  }
  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    inner_->visit_share(share, shares, with_data, reading, [&](const EntryBlock& block) {
      body({block.n, block.minor, block.major, block.data});
    });
  }
  bool scattered() const override { return true; }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    std::vector<int64_t> out(static_cast<size_t>(end - begin), 0);
    inner_->visit_share(0, 1, false, reading, [&](const EntryBlock& block) {
      for (int64_t i = 0; i < block.n; ++i) {
        if (block.minor[i] >= begin && block.minor[i] < end) ++out[static_cast<size_t>(block.minor[i] - begin)];
      }
    });
    return out;
  }
  int64_t most_entries() const override { return inner_->most_entries(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }
  int64_t working_bytes() const override { return inner_->working_bytes() + 16 * major(); }

 private:
  void gather(int64_t first, int64_t last, bool with_data, const Reading& reading, const Body& body) const {
    std::vector<int64_t> next = counts(first, last, reading);
    const int64_t total = std::accumulate(next.begin(), next.end(), int64_t{0});
    std::exclusive_scan(next.begin(), next.end(), next.begin(), int64_t{0});
    const int64_t size = type().size;
    Vector<int64_t> majors(static_cast<size_t>(total)), minors(static_cast<size_t>(total));
    Buffer data(with_data ? total * size : 0);
    inner_->visit(0, inner_->major(), with_data, reading, [&](const EntryBlock& block) {
      for (int64_t i = 0; i < block.n; ++i) {
        if (block.minor[i] < first || block.minor[i] >= last) continue;
        const int64_t at = next[static_cast<size_t>(block.minor[i] - first)]++;
        majors[static_cast<size_t>(at)] = block.minor[i];
        minors[static_cast<size_t>(at)] = block.major[i];
        if (with_data) std::copy_n(block.data + i * size, size, data.data() + at * size);
      }
    });
    body({total, majors.data(), minors.data(), with_data ? data.data() : nullptr});
  }

  SparsePtr inner_;
};

}  // namespace

SparsePtr relaid(SparsePtr sparse) { return std::make_shared<Relaid>(std::move(sparse)); }

SparsePtr stack_major(std::vector<SparsePtr> parts) {
  if (parts.size() == 1) return parts.front();
  return std::make_shared<StackedMajor>(std::move(parts));
}

SparsePtr stack_minor(std::vector<SparsePtr> parts) {
  if (parts.size() == 1) return parts.front();
  return std::make_shared<StackedMinor>(std::move(parts));
}

}  // namespace lamella::matrix
