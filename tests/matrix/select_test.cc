#include "matrix/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "matrix/densify.h"
#include "matrix/ordered_entries.h"
#include "matrix/reduce.h"
#include "matrix/values.h"

// Every way to make a matrix from others, beside the same done on dense arrays in memory.
namespace lamella::matrix {
namespace {

struct Dense {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Dense(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
};

template <class T>
lazy::ExprPtr vector_of(const std::vector<T>& values, DType type) {
  return lazy::in_memory({static_cast<int64_t>(values.size())}, std::move(type),
                         Buffer::copy_of(std::as_bytes(std::span(values))));
}

struct Pair {
  Dense dense;
  SparsePtr sparse;
};

Pair random_pair(std::mt19937& random, Layout layout, int64_t rows, int64_t columns) {
  Dense dense(rows, columns);
  std::vector<double> data;
  std::vector<int32_t> indices, indptr{0};
  const bool csr = layout == Layout::Csr;
  for (int64_t major = 0; major < (csr ? rows : columns); ++major) {
    for (int64_t minor = 0; minor < (csr ? columns : rows); ++minor) {
      if (random() % 3 != 0) continue;
      const double value = 1 + static_cast<double>(random() % 100);
      (csr ? dense.at(major, minor) : dense.at(minor, major)) = value;
      data.push_back(value);
      indices.push_back(static_cast<int32_t>(minor));
    }
    indptr.push_back(static_cast<int32_t>(indices.size()));
  }
  return {dense, make_sparse(layout, {rows, columns}, vector_of(data, DType::float_(8)),
                             vector_of(indices, DType::int_(4)), vector_of(indptr, DType::int_(4)), "test")};
}

ThreadPool& threads() {
  static ThreadPool pool(2);
  return pool;
}

void expect_entries_ascend(const Sparse& sparse, const Reading& reading) {
  int64_t major = -1, minor = -1;
  sparse.visit(0, sparse.major(), true, reading, [&](const EntryBlock& block) {
    for (int64_t i = 0; i < block.n; ++i) {
      ASSERT_GE(block.major[i], major);
      if (block.major[i] == major) {
        ASSERT_GT(block.minor[i], minor);
      }
      major = block.major[i];
      minor = block.minor[i];
    }
  });
}

// All entries, whatever the number of shares; in order of the majors where the matrix promises that.
void expect_shares(const Sparse& sparse, const Dense& dense) {
  const bool csr = sparse.layout() == Layout::Csr;
  for (int64_t shares : {1, 2, 3, 7, 50}) {
    Dense made(dense.rows, dense.columns);
    int64_t previous = -1;
    for (int64_t share = 0; share < shares; ++share) {
      sparse.visit_share(share, shares, true, {threads()}, [&](const EntryBlock& block) {
        for (int64_t i = 0; i < block.n; ++i) {
          double value;
          std::memcpy(&value, block.data + i * 8, 8);
          (csr ? made.at(block.major[i], block.minor[i]) : made.at(block.minor[i], block.major[i])) += value;
          if (!sparse.scattered()) {
            ASSERT_GE(block.major[i], previous);
          }
          previous = block.major[i];
        }
      });
    }
    ASSERT_EQ(made.values, dense.values) << shares;
  }
}

// The same matrix, by every way to read one.
void expect_equal(const Sparse& sparse, const SparsePtr& shared, const Dense& dense) {
  ASSERT_EQ(sparse.shape(), (Shape{dense.rows, dense.columns}));
  const bool csr = sparse.layout() == Layout::Csr;
  for (int64_t memory : {int64_t{1}, int64_t{2000}, int64_t{1} << 24}) {
    const Reading reading{threads(), memory};
    expect_entries_ascend(sparse, reading);
    const std::vector<int64_t> counts = sparse.counts(0, sparse.major(), reading);
    const Entries all = read_entries(sparse, 0, sparse.major(), reading);
    Dense made(dense.rows, dense.columns);
    for (int64_t major = 0; major < sparse.major(); ++major) {
      const auto m = static_cast<size_t>(major);
      ASSERT_EQ(counts[m], all.indptr[m + 1] - all.indptr[m]);
      for (int64_t i = all.indptr[m]; i < all.indptr[m + 1]; ++i) {
        double value;
        std::memcpy(&value, all.data.data() + i * 8, 8);
        const int64_t minor = all.minors[static_cast<size_t>(i)];
        (csr ? made.at(major, minor) : made.at(minor, major)) += value;
      }
    }
    ASSERT_EQ(made.values, dense.values);
  }
  expect_shares(sparse, dense);
  EXPECT_GE(sparse.most_entries(), static_cast<int64_t>(std::count_if(dense.values.begin(), dense.values.end(),
                                                                      [](double v) { return v != 0; })));
  Heap heap;
  const Buffer flat = densify(shared)->read_all(heap);
  ASSERT_EQ(std::memcmp(flat.data(), dense.values.data(), dense.values.size() * 8), 0);
  if (const auto parts = sparse.parts()) {
    const SparsePtr same =
        make_sparse(sparse.layout(), sparse.shape(), parts->data, parts->indices, parts->indptr, "parts");
    const Buffer again = densify(same)->read_all(heap);
    ASSERT_EQ(std::memcmp(again.data(), dense.values.data(), dense.values.size() * 8), 0);
  }
}

void expect_writable(const SparsePtr& sparse, const Dense& dense) {
  const std::string folder = ::testing::TempDir() + "select_test";
  std::filesystem::create_directories(folder);
  for (Layout wanted : {Layout::Csr, Layout::Csc}) {
    const auto entries = ordered_entries({nullptr, sparse}, wanted);
    entries->prepare({int64_t{1} << 28, threads(), folder, [] {}});
    const int64_t n = entries->nnz();
    Dense made(dense.rows, dense.columns);
    std::vector<int32_t> indices(static_cast<size_t>(n));
    std::vector<double> data(static_cast<size_t>(n));
    for (int64_t begin = 0; begin < n; begin += 7) {
      const int64_t end = std::min(begin + 7, n);
      entries->read(begin, end, reinterpret_cast<std::byte*>(indices.data() + begin),
                    reinterpret_cast<std::byte*>(data.data() + begin));
    }
    for (size_t major = 0; major + 1 < entries->indptr().size(); ++major) {
      for (int64_t i = entries->indptr()[major]; i < entries->indptr()[major + 1]; ++i) {
        const auto at = static_cast<size_t>(i);
        if (i > entries->indptr()[major]) {
          EXPECT_GT(indices[at], indices[at - 1]);
        }
        const auto m = static_cast<int64_t>(major);
        (wanted == Layout::Csr ? made.at(m, indices[at]) : made.at(indices[at], m)) = data[at];
      }
    }
    EXPECT_EQ(made.values, dense.values);
  }
  std::filesystem::remove_all(folder);
}

Positions random_positions(std::mt19937& random, int64_t length, int64_t n, bool gaps) {
  Positions out;
  for (int64_t i = 0; i < n; ++i) {
    if (gaps && random() % 4 == 0) out.push_back(-1);
    else if (length > 0) out.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(length)));
  }
  return out;
}

class SelectTest : public ::testing::TestWithParam<Layout> {};

TEST_P(SelectTest, TakesMajorsAndMinors) {
  std::mt19937 random(1);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{0, 0}, {0, 4}, {5, 0}, {1, 1}, {9, 13}, {40, 5}, {6, 200}}) {
    const Pair pair = random_pair(random, GetParam(), rows, columns);
    expect_equal(*pair.sparse, pair.sparse, pair.dense);
    const bool csr = GetParam() == Layout::Csr;
    for (int round = 0; round < 4; ++round) {
      const Positions majors =
          random_positions(random, pair.sparse->major(), static_cast<int64_t>(random() % 20), false);
      const Positions minors =
          random_positions(random, pair.sparse->minor(), static_cast<int64_t>(random() % 20), true);
      SparsePtr taken = take_minor(take_major(pair.sparse, majors), minors);
      const auto n_major = static_cast<int64_t>(majors.size()), n_minor = static_cast<int64_t>(minors.size());
      Dense wanted(csr ? n_major : n_minor, csr ? n_minor : n_major);
      for (int64_t i = 0; i < n_major; ++i)
        for (int64_t k = 0; k < n_minor; ++k) {
          const int64_t major = majors[static_cast<size_t>(i)], minor = minors[static_cast<size_t>(k)];
          const double value = minor < 0 ? 0 : csr ? pair.dense.at(major, minor) : pair.dense.at(minor, major);
          (csr ? wanted.at(i, k) : wanted.at(k, i)) = value;
        }
      expect_equal(*taken, taken, wanted);
      expect_writable(taken, wanted);
      // A run and a part of the selection, which is a selection again.
      if (n_major > 2) {
        const SparsePtr part = take_major(taken, lazy::Stride{1, 1, n_major - 2});
        Dense smaller(csr ? n_major - 2 : n_minor, csr ? n_minor : n_major - 2);
        for (int64_t r = 0; r < smaller.rows; ++r)
          for (int64_t c = 0; c < smaller.columns; ++c)
            smaller.at(r, c) = csr ? wanted.at(r + 1, c) : wanted.at(r, c + 1);
        expect_equal(*part, part, smaller);
      }
    }
  }
}

TEST_P(SelectTest, StacksBothWays) {
  std::mt19937 random(2);
  const bool csr = GetParam() == Layout::Csr;
  for (int round = 0; round < 6; ++round) {
    const auto shared = static_cast<int64_t>(random() % 12);
    for (bool along_major : {true, false}) {
      std::vector<SparsePtr> parts;
      std::vector<Dense> blocks;
      int64_t total = 0;
      for (int part = 0; part < 3; ++part) {
        const auto own = static_cast<int64_t>(random() % 8);
        const bool rows_vary = along_major == csr;
        // Every second part is laid out the other way.
        const bool other_way = part == 1 && round % 2 == 1;
        Pair pair = random_pair(random, other_way ? other(GetParam()) : GetParam(), rows_vary ? own : shared,
                                rows_vary ? shared : own);
        parts.push_back(other_way ? relaid(pair.sparse) : part == 2 ? pair.sparse : pair.sparse);
        blocks.push_back(pair.dense);
        total += own;
      }
      const bool rows_vary = along_major == csr;
      Dense wanted(rows_vary ? total : shared, rows_vary ? shared : total);
      int64_t offset = 0;
      for (const Dense& block : blocks) {
        for (int64_t r = 0; r < block.rows; ++r)
          for (int64_t c = 0; c < block.columns; ++c)
            wanted.at(r + (rows_vary ? offset : 0), c + (rows_vary ? 0 : offset)) = block.at(r, c);
        offset += rows_vary ? block.rows : block.columns;
      }
      const SparsePtr stacked = along_major ? stack_major(parts) : stack_minor(parts);
      expect_equal(*stacked, stacked, wanted);
      expect_writable(stacked, wanted);
      EXPECT_EQ(stacked->parts().has_value(), along_major && round % 2 == 0);
    }
  }
}

TEST_P(SelectTest, EmptyPartsAndOtherValues) {
  std::mt19937 random(3);
  const Pair pair = random_pair(random, GetParam(), 7, 9);
  const Shape shape = GetParam() == Layout::Csr ? Shape{4, 9} : Shape{7, 4};
  const SparsePtr stacked = stack_major({pair.sparse, empty_sparse(GetParam(), shape, DType::float_(8))});
  EXPECT_TRUE(stacked->parts().has_value());
  const SparsePtr back = take_major(stacked, lazy::Stride{0, 1, pair.sparse->major()});
  expect_equal(*back, back, pair.dense);
  const Matrix matrix{nullptr, pair.sparse};
  const Matrix scaled = scale(scale(matrix, 0, std::make_shared<std::vector<double>>(7, 2.0)), 1,
                              std::make_shared<std::vector<double>>(9, 3.0));
  Dense six = pair.dense;
  for (double& value : six.values) value *= 6;
  expect_equal(*scaled.sparse, scaled.sparse, six);
  const Matrix turned = transposed(scaled);
  Dense columns(9, 7);
  for (int64_t r = 0; r < 7; ++r)
    for (int64_t c = 0; c < 9; ++c) columns.at(c, r) = six.at(r, c);
  expect_equal(*turned.sparse, turned.sparse, columns);
  const Matrix doubled = map(cast(cast(matrix, DType::int_(4)), DType::float_(8)), lazy::Operation::Multiply, 6);
  expect_equal(*doubled.sparse, doubled.sparse, six);
}

// Enough entries for several threads, in rows that lie across the blocks in which they are read.
TEST_P(SelectTest, RunsAreReadByManyThreads) {
  std::mt19937 random(11);
  const Layout layout = GetParam();
  std::vector<double> data;
  std::vector<int32_t> indices, indptr{0};
  constexpr int64_t kMajors = 3000, kMinors = 700;
  for (int64_t major = 0; major < kMajors; ++major) {
    for (int64_t minor = 0; minor < kMinors; ++minor) {
      if (random() % 3 != 0) continue;
      data.push_back(static_cast<double>(indices.size()));
      indices.push_back(static_cast<int32_t>(minor));
    }
    indptr.push_back(static_cast<int32_t>(indices.size()));
  }
  const bool csr = layout == Layout::Csr;
  const SparsePtr stored =
      make_sparse(layout, csr ? Shape{kMajors, kMinors} : Shape{kMinors, kMajors}, vector_of(data, DType::float_(8)),
                  vector_of(indices, DType::int_(4)), vector_of(indptr, DType::int_(4)), "test");
  Positions shuffled(kMinors);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const SparsePtr twice = stack_major({take_minor(stored, shuffled), take_minor(stored, shuffled)});
  const Entries wanted = read_entries(*twice, 0, twice->major(), {threads(), int64_t{1} << 24});

  const auto entries = ordered_entries({nullptr, twice}, layout);
  entries->prepare({int64_t{1} << 28, threads(), ::testing::TempDir(), [] {}});
  ASSERT_EQ(entries->indptr(), wanted.indptr);
  for (int round = 0; round < 20; ++round) {
    const auto begin = static_cast<int64_t>(random() % static_cast<uint64_t>(entries->nnz()));
    const int64_t n =
        round == 0 ? entries->nnz() - begin : std::min<int64_t>(entries->nnz() - begin, random() % 600000);
    std::vector<int32_t> minors(static_cast<size_t>(n));
    Buffer values(n * 8);
    entries->read(begin, begin + n, reinterpret_cast<std::byte*>(minors.data()), values.data());
    EXPECT_TRUE(std::equal(minors.begin(), minors.end(), wanted.minors.begin() + begin));
    EXPECT_EQ(std::memcmp(values.data(), wanted.data.data() + begin * 8, static_cast<size_t>(n * 8)), 0);
  }
  for (Reduction reduction : {Reduction::Sum, Reduction::Max}) {
    for (size_t axis : {0, 1}) {
      ThreadPool one(1);
      EXPECT_EQ(reduce({nullptr, twice}, reduction, axis, {threads()}),
                reduce({nullptr, twice}, reduction, axis, {one}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SelectTest, ::testing::Values(Layout::Csr, Layout::Csc));

}  // namespace
}  // namespace lamella::matrix
