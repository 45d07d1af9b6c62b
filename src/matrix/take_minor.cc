#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/vector.h"
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

// The entries of one major, given back in the order of their minors: marks the minors in a set of bits and walks that,
// unless there are few entries or two at one place.
class RowSorter {
 public:
  RowSorter(int64_t minors, int64_t value_size)
      : size_(value_size), bits_(static_cast<size_t>(ceil_div(minors, 64)), 0), at_(static_cast<size_t>(minors)) {}

  void add(int64_t minor, const std::byte* value) {
    ascending_ &= row_.empty() || row_.back().minor < minor;
    row_.push_back({minor, value});
  }

  // The values lie in memory that is about to go.
  void keep() {
    Vector<std::byte> fresh(row_.size() * static_cast<size_t>(size_));
    for (size_t i = 0; i < row_.size(); ++i) {
      std::byte* to = fresh.data() + static_cast<int64_t>(i) * size_;
      std::memcpy(to, row_[i].value, static_cast<size_t>(size_));
      row_[i].value = to;
    }
    kept_ = std::move(fresh);
  }

  // Calls body(minor, value) in order, and begins anew.
  template <class Body>
  void finish(const Body& body) {
    if (!ascending_ && row_.size() * 64 > bits_.size() && mark()) {
      for (size_t word = 0; word < bits_.size(); ++word) {
        for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
          const size_t minor = word * 64 + static_cast<size_t>(std::countr_zero(left));
          body(static_cast<int64_t>(minor), at_[minor]);
        }
        bits_[word] = 0;
      }
    } else {
      if (!ascending_)
        std::stable_sort(row_.begin(), row_.end(), [](const Entry& a, const Entry& b) { return a.minor < b.minor; });
      for (const Entry& entry : row_) body(entry.minor, entry.value);
    }
    row_.clear();
    ascending_ = true;
  }

 private:
  struct Entry {
    int64_t minor;
    const std::byte* value;
  };

  // False, and nothing marked, when two entries have the same minor.
  bool mark() {
    for (const Entry& entry : row_) {
      uint64_t& word = bits_[static_cast<size_t>(entry.minor / 64)];
      const uint64_t bit = uint64_t{1} << (entry.minor % 64);
      if ((word & bit) != 0) {
        std::fill(bits_.begin(), bits_.end(), 0);
        return false;
      }
      word |= bit;
      at_[static_cast<size_t>(entry.minor)] = entry.value;
    }
    return true;
  }

  int64_t size_;
  std::vector<uint64_t> bits_;
  Vector<const std::byte*> at_;
  Vector<Entry> row_;
  Vector<std::byte> kept_;
  bool ascending_ = true;
};

// Entries at new places, for a body.
class Mapped {
 public:
  explicit Mapped(int64_t value_size) : size_(value_size) {}

  void clear() { n_ = 0; }
  void push(int64_t major, int64_t minor, const std::byte* value) {
    if (n_ == majors_.size()) grow();
    majors_[n_] = major;
    minors_[n_] = minor;
    std::byte* to = data_.data() + static_cast<int64_t>(n_++) * size_;
    if (value == nullptr) return;
    if (size_ == 4) std::memcpy(to, value, 4);
    else std::memcpy(to, value, static_cast<size_t>(size_));
  }
  void give(bool with_data, const Sparse::Body& body) const {
    if (n_ > 0) body({static_cast<int64_t>(n_), majors_.data(), minors_.data(), with_data ? data_.data() : nullptr});
  }

 private:
  void grow() {
    const size_t most = std::max<size_t>(2 * n_, 1024);
    majors_.resize(most);
    minors_.resize(most);
    data_.resize(most * static_cast<size_t>(size_));
  }

  int64_t size_;
  size_t n_ = 0;
  Vector<int64_t> majors_, minors_;
  Vector<std::byte> data_;
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
    // Who asks for no data counts, and the order does not matter.
    if (map_.ascending || !with_data) return inner_->visit(begin, end, with_data, reading, moved(with_data, body));
    RowSorter sorter(minor(), type().size);
    Mapped out(type().size);
    int64_t row = -1;
    const auto finish_row = [&] {
      sorter.finish([&](int64_t minor, const std::byte* value) { out.push(row, minor, value); });
    };
    inner_->visit(begin, end, true, reading, [&](const EntryBlock& block) {
      out.clear();
      for (int64_t i = 0; i < block.n; ++i) {
        if (block.major[i] != row) finish_row();
        row = block.major[i];
        for_each_place(block.minor[i], [&](int64_t place) { sorter.add(place, block.data + i * type().size); });
      }
      sorter.keep();  // the last row may go on in the next block
      out.give(true, body);
    });
    out.clear();
    finish_row();
    out.give(true, body);
  }

  void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                   const Body& body) const override {
    inner_->visit_share(share, shares, with_data, reading, moved(with_data, body));
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
    return inner_->working_bytes() + 9 * minor() + 16 * inner_->minor() +
           std::min(int64_t{1} << 18, inner_->most_entries()) * (16 + type().size);
  }

 private:
  template <class Do>
  void for_each_place(int64_t minor, const Do& what) const {
    const auto from = static_cast<size_t>(minor);
    for (int64_t i = map_.begins[from]; i < map_.begins[from + 1]; ++i) what(map_.places[static_cast<size_t>(i)]);
  }

  // A body that moves entries to their places, in the order in which they come.
  Body moved(bool with_data, const Body& body) const {
    return [this, with_data, &body, out = Mapped(with_data ? type().size : 0)](const EntryBlock& block) mutable {
      out.clear();
      for (int64_t i = 0; i < block.n; ++i) {
        const std::byte* value = with_data ? block.data + i * type().size : nullptr;
        for_each_place(block.minor[i], [&](int64_t place) { out.push(block.major[i], place, value); });
      }
      out.give(with_data, body);
    };
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
