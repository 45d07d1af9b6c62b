#include "matrix/entry_run.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kShareEntries = int64_t{1} << 17;  // smaller shares are not worth a thread

// What one thread does: the majors [first, last), of them the entries [begin, end).
struct Piece {
  const Sparse& sparse;
  const std::vector<int64_t>& indptr;
  int64_t begin, end;
  int64_t index_size;
  std::byte *indices, *data;

  void read(int64_t first, int64_t last, const Reading& reading) const {
    const int64_t size = sparse.type().size;
    int64_t at = indptr[static_cast<size_t>(first)];
    const int64_t stop = indptr[static_cast<size_t>(last)];
    sparse.visit(first, last, true, reading, [&](const EntryBlock& block) {
      if (at + block.n > stop) changed();
      const int64_t from = std::max(begin, at), till = std::min(end, at + block.n);
      if (from < till) {
        std::memcpy(data + (from - begin) * size, block.data + (from - at) * size,
                    static_cast<size_t>((till - from) * size));
        put_indices(block.minor + (from - at), till - from, indices + (from - begin) * index_size);
      }
      at += block.n;
    });
    if (at != stop) changed();
  }

  void put_indices(const int64_t* minors, int64_t n, std::byte* to) const {
    if (index_size == 8) {
      std::memcpy(to, minors, static_cast<size_t>(n * 8));
      return;
    }
    auto* narrow = reinterpret_cast<int32_t*>(to);
    for (int64_t i = 0; i < n; ++i) narrow[i] = static_cast<int32_t>(minors[i]);
  }

  [[noreturn]] void changed() const {
    throw Error(ErrorKind::Corrupt, sparse.name() + ": holds another number of entries than a moment ago");
  }
};

}  // namespace

int64_t share_count(const Sparse& sparse, const ThreadPool& threads) {
  return std::clamp<int64_t>(sparse.most_entries() / kShareEntries, 1, int64_t{4} * threads.size());
}

int64_t visitors(const Sparse& sparse, const ThreadPool& threads, int64_t memory) {
  return std::clamp<int64_t>(memory / std::max<int64_t>(sparse.working_bytes(), 1), 1, threads.size());
}

void read_run(const Sparse& sparse, const std::vector<int64_t>& indptr, int64_t begin, int64_t end, int64_t index_size,
              std::byte* indices, std::byte* data, const Reading& reading) {
  if (begin == end) return;
  const auto major_of = [&](int64_t entry) {
    return std::upper_bound(indptr.begin(), indptr.end(), entry) - indptr.begin() - 1;
  };
  const int64_t most = visitors(sparse, reading.threads, reading.memory / 2);
  const int64_t pieces = std::clamp<int64_t>((end - begin) / kShareEntries, 1, most);
  const Reading share{reading.threads, reading.memory / 2 / pieces};
  const Piece piece{sparse, indptr, begin, end, index_size, indices, data};
  // Majors in which the pieces begin; one that all of a long major falls to may leave others without any.
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < pieces; ++i) edges.push_back(major_of(begin + (end - begin) / pieces * i));
  edges.push_back(major_of(end - 1) + 1);
  reading.threads.parallel_for(pieces, [&](int64_t i) {
    const int64_t first = edges[static_cast<size_t>(i)], last = edges[static_cast<size_t>(i) + 1];
    if (first < last) piece.read(first, last, share);
  });
}

}  // namespace lamella::matrix
