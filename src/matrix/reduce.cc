#include "matrix/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/convert.h"
#include "base/error.h"
#include "base/vector.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kShares = 16;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double start_of(Reduction reduction) {
  if (reduction == Reduction::Max) return -std::numeric_limits<double>::infinity();
  if (reduction == Reduction::Min) return std::numeric_limits<double>::infinity();
  return 0;
}

double combine(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::Sum: return a + b;
    case Reduction::SumOfSquares: return a + b * b;
    case Reduction::Max: return a >= b || std::isnan(a) ? a : b;
    case Reduction::Min: return a <= b || std::isnan(a) ? a : b;
    case Reduction::CountNonzero: return a + (b != 0 ? 1 : 0);
  }
  return a;
}

// Two partial results to one.
double merge(Reduction reduction, double a, double b) {
  const bool extreme = reduction == Reduction::Max || reduction == Reduction::Min;
  return extreme ? combine(reduction, a, b) : a + b;
}

std::vector<double> reduce_dense(const lazy::Expr& dense, Reduction reduction, size_t axis, const Reading& reading) {
  const int64_t rows = dense.shape()[0], columns = dense.shape()[1], size = dense.type().size;
  std::vector<double> out(static_cast<size_t>(axis == 0 ? columns : rows), start_of(reduction));
  const Shape grain = dense.grain();
  int64_t step = std::clamp<int64_t>(reading.memory / std::max<int64_t>(2 * columns * (size + 8), 1), 1,
                                     std::max<int64_t>(rows, 1));
  if (!grain.empty() && step > grain[0]) step = step / grain[0] * grain[0];
  Buffer block(step * columns * size), wide(step * columns * 8);
  std::mutex mutex;
  for (int64_t begin = 0; begin < rows && columns > 0; begin += step) {
    const int64_t n = std::min(step, rows - begin);
    Heap heap;
    dense.read({{begin, 0}, {n, columns}}, View::c_order(block.data(), {n, columns}, size), heap, reading.threads);
    const int64_t pieces = std::min<int64_t>(n, reading.threads.size());
    reading.threads.parallel_for(pieces, [&](int64_t piece) {
      const int64_t first = n * piece / pieces, last = n * (piece + 1) / pieces;
      auto* values = reinterpret_cast<double*>(wide.data()) + first * columns;
      convert_elements(dense.type(), block.data() + first * columns * size, DType::float_(8),
                       reinterpret_cast<std::byte*>(values), (last - first) * columns);
      std::vector<double> part(axis == 0 ? out.size() : 0, start_of(reduction));
      for (int64_t row = first; row < last; ++row) {
        const double* line = values + (row - first) * columns;
        if (axis == 0) {
          for (int64_t c = 0; c < columns; ++c)
            part[static_cast<size_t>(c)] = combine(reduction, part[static_cast<size_t>(c)], line[c]);
        } else {
          double& sum = out[static_cast<size_t>(begin + row)];
          for (int64_t c = 0; c < columns; ++c) sum = combine(reduction, sum, line[c]);
        }
      }
      if (axis == 1) return;
      std::lock_guard lock(mutex);
      for (size_t c = 0; c < out.size(); ++c) out[c] = merge(reduction, out[c], part[c]);
    });
  }
  return out;
}

// Results of a share of the entries, and of how many entries each is made.
struct Partial {
  std::vector<double> values;
  std::vector<int64_t> seen;  // kept for extremes only
};

std::vector<double> reduce_sparse(const Sparse& sparse, Reduction reduction, size_t axis, const Reading& reading) {
  const bool to_major = (axis == 1) == (sparse.layout() == Layout::Csr);
  const int64_t length = to_major ? sparse.major() : sparse.minor();
  const int64_t other = to_major ? sparse.minor() : sparse.major();
  const bool extreme = reduction == Reduction::Max || reduction == Reduction::Min;
  const Partial empty{std::vector<double>(static_cast<size_t>(length), start_of(reduction)),
                      std::vector<int64_t>(extreme ? static_cast<size_t>(length) : 0)};
  // Of a fixed number, or sums of floats would differ with the number of threads. Shares of whole majors do not meet.
  const bool apart = to_major && !sparse.scattered();
  const int64_t shares = apart || length * 16 * kShares <= reading.memory ? kShares : 1;
  std::vector<Partial> partials(apart ? 1 : static_cast<size_t>(shares), empty);
  const Reading one{reading.threads, reading.memory / 2 / reading.threads.size()};
  reading.threads.parallel_for(shares, [&](int64_t share) {
    Partial& to = partials[apart ? 0 : static_cast<size_t>(share)];
    Vector<double> values;
    sparse.visit_share(share, shares, true, one, [&](const EntryBlock& block) {
      values.resize(static_cast<size_t>(block.n));
      convert_elements(sparse.type(), block.data, DType::float_(8), reinterpret_cast<std::byte*>(values.data()),
                       block.n);
      const int64_t* at = to_major ? block.major : block.minor;
      for (int64_t i = 0; i < block.n; ++i) {
        double& result = to.values[static_cast<size_t>(at[i])];
        result = combine(reduction, result, values[static_cast<size_t>(i)]);
      }
      if (extreme) {
        for (int64_t i = 0; i < block.n; ++i) ++to.seen[static_cast<size_t>(at[i])];
      }
    });
  });
  Partial out = std::move(partials.front());
  for (size_t share = 1; share < partials.size(); ++share) {
    for (size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = merge(reduction, out.values[i], partials[share].values[i]);
    for (size_t i = 0; i < out.seen.size(); ++i) out.seen[i] += partials[share].seen[i];
  }
  // What is not stored is zero.
  for (size_t i = 0; i < out.seen.size(); ++i) {
    if (out.seen[i] < other) out.values[i] = combine(reduction, out.values[i], 0);
  }
  return std::move(out.values);
}

}  // namespace

Reduction parse_reduction(const std::string& name) {
  if (name == "sum") return Reduction::Sum;
  if (name == "sum_of_squares") return Reduction::SumOfSquares;
  if (name == "max") return Reduction::Max;
  if (name == "min") return Reduction::Min;
  if (name == "count_nonzero") return Reduction::CountNonzero;
  throw Error(ErrorKind::Invalid, "no reduction '" + name + "'");
}

std::vector<double> reduce(const Matrix& matrix, Reduction reduction, size_t axis, const Reading& reading) {
  if (axis > 1) throw Error(ErrorKind::Invalid, "a matrix has the axes 0 and 1");
  if (!can_convert(matrix.type(), DType::float_(8)))
    throw Error(ErrorKind::Unsupported, "a reduction of elements of type " + to_string(matrix.type()));
  std::vector<double> out = matrix.dense ? reduce_dense(*matrix.dense, reduction, axis, reading)
                                         : reduce_sparse(*matrix.sparse, reduction, axis, reading);
  const bool extreme = reduction == Reduction::Max || reduction == Reduction::Min;
  if (extreme && matrix.shape()[axis] == 0) std::fill(out.begin(), out.end(), kNan);
  return out;
}

}  // namespace lamella::matrix
