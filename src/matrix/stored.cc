#include <algorithm>

#include "base/error.h"
#include "base/vector.h"
#include "matrix/entries.h"
#include "matrix/sparse.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kWindow = int64_t{1} << 18;      // entries of one block
constexpr int64_t kMostWindow = int64_t{1} << 21;  // when chunks are that long
constexpr int64_t kFew = int64_t{1} << 14;         // entries
constexpr int64_t kSlices = int64_t{1} << 18;      // majors of which indptr is read at a time

class Stored final : public Sparse {
 public:
  Stored(Layout layout, Shape shape, SparseParts parts, std::string name)
      : Sparse(layout, std::move(shape), parts.data->type(), std::move(name)),
        parts_(std::move(parts)),
        reader_(parts_, minor(), this->name()) {}

  void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const override {
    Vector<int64_t> majors, minors;
    Buffer data;
    int64_t done = -1;  // entries that were given out
    for (int64_t first = begin; first < end; first += kSlices) {
      const std::vector<int64_t> indptr = reader_.indptr(first, std::min(first + kSlices, end), reading.threads);
      if (done >= 0 && indptr.front() != done)
        throw Error(ErrorKind::Corrupt, name() + ": indptr decreases at position " + std::to_string(first));
      done = indptr.front();
      size_t slice = 0;
      while (done < indptr.back()) {
        const int64_t n = std::min(window_end(done), indptr.back()) - done;
        if (static_cast<int64_t>(majors.size()) < n) {
          // Of one size, so that the blocks are recycled, unless little is read.
          const int64_t all = indptr.back() - indptr.front();
          const int64_t most = all < kFew ? all : std::max(window_length(), n);
          majors.resize(static_cast<size_t>(most));
          minors.resize(static_cast<size_t>(most));
          if (with_data) data = Buffer(most * type().size);
        }
        reader_.indices(done, done + n, minors.data(), reading.threads);
        if (with_data) reader_.data(done, done + n, data.data(), reading.threads);
        for (int64_t i = 0; i < n; ++i) {
          while (done + i >= indptr[slice + 1]) ++slice;
          majors[static_cast<size_t>(i)] = first + static_cast<int64_t>(slice);
        }
        body({n, majors.data(), minors.data(), with_data ? data.data() : nullptr});
        done += n;
      }
    }
  }

  std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const override {
    if (begin == end) return {};
    std::vector<int64_t> out = reader_.indptr(begin, end, reading.threads);
    for (size_t i = 0; i + 1 < out.size(); ++i) out[i] = out[i + 1] - out[i];
    out.pop_back();
    return out;
  }

  std::optional<SparseParts> parts() const override { return parts_; }
  int64_t most_entries() const override { return parts_.data->shape()[0]; }
  int64_t stored_bytes() const override { return parts_.data->stored_bytes() + parts_.indices->stored_bytes(); }
  int64_t working_bytes() const override {
    return window_length() * (16 + type().size) + std::min(kSlices, major()) * 8 +
           2 * std::max(parts_.indices->working_bytes(), parts_.data->working_bytes());
  }

 private:
  // Windows end where chunks do, so that no chunk is decoded twice.
  int64_t window_length() const {
    const Shape grain = parts_.data->grain();
    const int64_t chunk = grain.empty() ? 1 : grain[0];
    return std::min(most_entries(), chunk > kMostWindow ? kWindow : round_up(kWindow, chunk));
  }
  int64_t window_end(int64_t at) const {
    const int64_t length = std::max<int64_t>(window_length(), 1);
    return (at / length + 1) * length;
  }

  SparseParts parts_;
  EntryReader reader_;
};

class Empty final : public Sparse {
 public:
  Empty(Layout layout, Shape shape, DType type) : Sparse(layout, std::move(shape), std::move(type), "zeros") {}

  void visit(int64_t, int64_t, bool, const Reading&, const Body&) const override {}
  std::optional<SparseParts> parts() const override {
    const DType index = DType::int_(4);
    return SparseParts{lazy::fill({0}, type(), {}), lazy::fill({0}, index, {}), lazy::fill({major() + 1}, index, {})};
  }
  int64_t most_entries() const override { return 0; }
  int64_t stored_bytes() const override { return 0; }
  int64_t working_bytes() const override { return 0; }
};

}  // namespace

SparsePtr empty_sparse(Layout layout, Shape shape, DType type) {
  return std::make_shared<Empty>(layout, std::move(shape), std::move(type));
}

SparsePtr make_sparse(Layout layout, Shape shape, lazy::ExprPtr data, lazy::ExprPtr indices, lazy::ExprPtr indptr,
                      std::string name) {
  auto corrupt = [&](const std::string& what) { throw Error(ErrorKind::Corrupt, name + ": " + what); };
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0) corrupt("a sparse matrix of shape " + to_string(shape));
  const std::pair<const char*, const lazy::Expr*> parts[] = {
      {"data", data.get()}, {"indices", indices.get()}, {"indptr", indptr.get()}};
  for (const auto& [part, expr] : parts) {
    if (expr->shape().size() != 1)
      corrupt(std::string(part) + " has shape " + to_string(expr->shape()) + ", one axis is wanted");
    const bool integer = expr->type().kind == TypeKind::Int || expr->type().kind == TypeKind::UInt;
    if (part != std::string("data") && !integer)
      corrupt(std::string(part) + " holds no integers but " + lamella::to_string(expr->type()));
  }
  if (data->shape() != indices->shape()) {
    corrupt("data has " + std::to_string(data->shape()[0]) + " entries, indices " +
            std::to_string(indices->shape()[0]));
  }
  const int64_t major = shape[layout == Layout::Csr ? 0 : 1];
  if (indptr->shape()[0] != major + 1) {
    corrupt("indptr has " + std::to_string(indptr->shape()[0]) + " entries, " + std::to_string(major + 1) +
            " belong to shape " + to_string(shape));
  }
  return std::make_shared<Stored>(layout, std::move(shape),
                                  SparseParts{std::move(data), std::move(indices), std::move(indptr)}, std::move(name));
}

}  // namespace lamella::matrix
