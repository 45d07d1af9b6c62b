#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "matrix/select.h"

namespace lamella::matrix {
namespace {

// Where each minor of the source goes: the places of minor m are places[begins[m] … begins[m + 1]).
struct MinorMap {
  std::vector<int64_t> begins, places;
  bool injective = true;  // no minor goes to two places
  bool total = true;      // and each goes to at least one
  bool ascending = true;  // and they keep their order

  MinorMap(int64_t minors, const Positions& positions) : begins(static_cast<size_t>(minors) + 1, 0) {
    int64_t previous = -1;
    for (int64_t from : positions) {
      if (from < 0) continue;
      if (from >= minors)
        throw Error(ErrorKind::Invalid,
                    "position " + std::to_string(from) + " is outside of an axis of length " + std::to_string(minors));
      if (++begins[static_cast<size_t>(from) + 1] > 1) injective = false;
      ascending &= from > previous;
      previous = from;
    }
    for (size_t i = 1; i < begins.size(); ++i) {
      total &= begins[i] > 0;
      begins[i] += begins[i - 1];
    }
    places.resize(static_cast<size_t>(begins.back()));
    std::vector<int64_t> next(begins.begin(), begins.end() - 1);
    for (size_t to = 0; to < positions.size(); ++to) {
      if (positions[to] >= 0)
        places[static_cast<size_t>(next[static_cast<size_t>(positions[to])]++)] = static_cast<int64_t>(to);
    }
  }
};

// Sorts the entries of one major by their minors: marks the minors in a set of bits and walks that, unless there are
// few entries or two at one place.
class RowSorter {
 public:
  explicit RowSorter(int64_t minors)
      : bits_(static_cast<size_t>(ceil_div(minors, 64))), at_(static_cast<size_t>(minors)) {}

  // The order in which to take the entries.
  void sort(const int64_t* minors, int64_t n, std::vector<int64_t>& order) {
    order.clear();
    if (n * 64 > static_cast<int64_t>(bits_.size()) && mark(minors, n)) {
      for (size_t word = 0; word < bits_.size(); ++word) {
        for (uint64_t left = bits_[word]; left != 0; left &= left - 1)
          order.push_back(at_[word * 64 + static_cast<size_t>(std::countr_zero(left))]);
        bits_[word] = 0;
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return minors[a] < minors[b]; });
  }

 private:
  // False, and nothing marked, when two entries have the same minor.
  bool mark(const int64_t* minors, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      uint64_t& word = bits_[static_cast<size_t>(minors[i] / 64)];
      const uint64_t bit = uint64_t{1} << (minors[i] % 64);
      if ((word & bit) != 0) {
        std::fill(bits_.begin(), bits_.end(), 0);
        return false;
      }
      word |= bit;
      at_[static_cast<size_t>(minors[i])] = i;
    }
    return true;
  }

  std::vector<uint64_t> bits_;
  std::vector<int64_t> at_;
};

class TakeMinor final : public Sparse {
 public:
  TakeMinor(SparsePtr inner, const Positions& positions)
      : Sparse(inner->layout(),
               inner->layout() == Layout::Csr ? Shape{inner->shape()[0], static_cast<int64_t>(positions.size())}
                                              : Shape{static_cast<int64_t>(positions.size()), inner->shape()[1]},
               inner->type(), inner->name()),
        inner_(std::move(inner)),
        map_(inner_->minor(), positions) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    if (map_.ascending || !with_data) {  // who asks for no data counts, and the order does not matter
      Mapped mapped;
      return inner_->visit(begin, end, with_data, reading, [&](const EntryBlock& block) {
        map(block, mapped);
        if (!mapped.majors.empty()) body(mapped.block(with_data));
      });
    }
    const int64_t most = std::max<int64_t>(reading.memory / (3 * (24 + type().size)), 1);
    const Reading rest{reading.threads, reading.memory / 3};
    RowSorter sorter(minor());
    for_each_range(*inner_, begin, end, most, rest, [&](int64_t first, int64_t last, int64_t) {
      Mapped all, one;
      inner_->visit(first, last, true, rest, [&](const EntryBlock& block) {
        map(block, one);
        all.append(one);
      });
      if (all.majors.empty()) return;
      one.clear();
      std::vector<int64_t> order;
      const auto n = static_cast<int64_t>(all.majors.size());
      for (int64_t at = 0; at < n;) {
        int64_t stop = at + 1;
        while (stop < n && all.majors[static_cast<size_t>(stop)] == all.majors[static_cast<size_t>(at)]) ++stop;
        sorter.sort(all.minors.data() + at, stop - at, order);
        for (int64_t i : order) one.push(all, at + i, type().size);
        at = stop;
      }
      body(one.block(true));
    });
  }

  void visit_all(bool with_data, const Reading& reading, const Body& body) const override {
    Mapped mapped;
    inner_->visit_all(with_data, reading, [&](const EntryBlock& block) {
      map(block, mapped);
      if (!mapped.majors.empty()) body(mapped.block(with_data));
    });
  }
  bool scattered() const override { return inner_->scattered(); }
  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    if (map_.injective && map_.total) return inner_->counts(begin, end, reading);
    return Sparse::counts(begin, end, reading);
  }

  int64_t most_entries() const override {
    if (map_.injective) return inner_->most_entries();
    int64_t most = 1;
    for (size_t m = 1; m < map_.begins.size(); ++m) most = std::max(most, map_.begins[m] - map_.begins[m - 1]);
    return checked_mul(inner_->most_entries(), most);
  }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }
  int64_t working_bytes() const override {
    return inner_->working_bytes() + 17 * minor() + 16 * inner_->minor() +
           std::min(int64_t{1} << 18, inner_->most_entries()) * (16 + type().size);
  }

 private:
  struct Mapped {
    std::vector<int64_t> majors, minors;
    std::vector<std::byte> data;

    void clear() {
      majors.clear();
      minors.clear();
      data.clear();
    }
    void append(const Mapped& other) {
      majors.insert(majors.end(), other.majors.begin(), other.majors.end());
      minors.insert(minors.end(), other.minors.begin(), other.minors.end());
      data.insert(data.end(), other.data.begin(), other.data.end());
    }
    void push(const Mapped& from, int64_t i, int64_t size) {
      majors.push_back(from.majors[static_cast<size_t>(i)]);
      minors.push_back(from.minors[static_cast<size_t>(i)]);
      data.insert(data.end(), from.data.begin() + i * size, from.data.begin() + (i + 1) * size);
    }
    EntryBlock block(bool with_data) const {
      return {static_cast<int64_t>(majors.size()), majors.data(), minors.data(), with_data ? data.data() : nullptr};
    }
  };

  void map(const EntryBlock& block, Mapped& out) const {
    const int64_t size = type().size;
    const size_t most = map_.injective ? static_cast<size_t>(block.n) : 0;
    out.clear();
    out.majors.reserve(most);
    out.minors.reserve(most);
    for (int64_t i = 0; i < block.n; ++i) {
      const auto from = static_cast<size_t>(block.minor[i]);
      for (int64_t place = map_.begins[from]; place < map_.begins[from + 1]; ++place) {
        out.majors.push_back(block.major[i]);
        out.minors.push_back(map_.places[static_cast<size_t>(place)]);
      }
    }
    if (block.data == nullptr) return;
    out.data.resize(out.majors.size() * static_cast<size_t>(size));
    std::byte* to = out.data.data();
    for (int64_t i = 0; i < block.n; ++i) {
      const auto from = static_cast<size_t>(block.minor[i]);
      for (int64_t place = map_.begins[from]; place < map_.begins[from + 1]; ++place, to += size)
        std::memcpy(to, block.data + i * size, static_cast<size_t>(size));
    }
  }

  SparsePtr inner_;
  MinorMap map_;
};

}  // namespace

SparsePtr take_minor(SparsePtr sparse, const Positions& positions) {
  bool same = static_cast<int64_t>(positions.size()) == sparse->minor();
  for (size_t i = 0; same && i < positions.size(); ++i) same = positions[i] == static_cast<int64_t>(i);
  if (same) return sparse;
  return std::make_shared<TakeMinor>(std::move(sparse), positions);
}

}  // namespace lamella::matrix
