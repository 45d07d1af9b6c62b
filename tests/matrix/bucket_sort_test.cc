#include "matrix/bucket_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "base/error.h"

namespace lamella::matrix {
namespace {

struct Entry {
  int64_t major, minor;
  std::vector<std::byte> value;
  bool operator==(const Entry&) const = default;
};

template <class T>
lazy::ExprPtr vector_of(const std::vector<T>& values, DType type) {
  Buffer bytes(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
  return lazy::in_memory({static_cast<int64_t>(values.size())}, std::move(type), std::move(bytes));
}

DType type_of_size(int64_t size) {
  return size == 16   ? DType::make(TypeKind::Complex, 16)
         : size == 32 ? DType::make(TypeKind::Complex, 32)
                      : DType::uint(size);
}

// A compressed matrix of random slices: duplicates and indices in any order, many slices without entries.
struct Random {
  SparsePtr sparse;
  std::vector<Entry> entries;  // major and minor as in the layout that is wanted: the other one

  Random(std::mt19937& random, Layout layout, int64_t slices, int64_t minors, int64_t most, int64_t size, bool wide,
         bool one_minor = false) {
    std::vector<int32_t> indices, indptr{0};
    std::vector<std::byte> data;
    for (int64_t slice = 0; slice < slices; ++slice) {
      int64_t n =
          minors > 0 && random() % 3 != 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1)) : 0;
      for (; n > 0; --n) {
        const int64_t minor = one_minor && random() % 8 != 0
                                  ? minors / 2
                                  : static_cast<int64_t>(random() % static_cast<uint64_t>(minors));
        Entry entry{minor, slice, {}};
        for (int64_t i = 0; i < size; ++i) entry.value.push_back(static_cast<std::byte>(random()));
        data.insert(data.end(), entry.value.begin(), entry.value.end());
        indices.push_back(static_cast<int32_t>(minor));
        entries.push_back(std::move(entry));
      }
      indptr.push_back(static_cast<int32_t>(indices.size()));
    }
    const auto nnz = static_cast<int64_t>(indices.size());
    Buffer bytes = Buffer::copy_of(data);
    const Shape shape = layout == Layout::Csr ? Shape{slices, minors} : Shape{minors, slices};
    auto widen = [](const std::vector<int32_t>& v) {
      return vector_of(std::vector<int64_t>(v.begin(), v.end()), DType::int_(8));
    };
    sparse = make_sparse(layout, shape, lazy::in_memory({nnz}, type_of_size(size), std::move(bytes)),
                         wide ? widen(indices) : vector_of(indices, DType::int_(4)),
                         wide ? widen(indptr) : vector_of(indptr, DType::int_(4)), "test");
  }
};

int64_t spilled(const std::string& folder) {
  return std::filesystem::exists(folder + "/spill")
             ? static_cast<int64_t>(std::filesystem::file_size(folder + "/spill"))
             : 0;
}

void expect_sorted(OrderedEntries& sort, std::vector<Entry> wanted, int64_t majors, int64_t run) {
  std::stable_sort(wanted.begin(), wanted.end(), [](const Entry& a, const Entry& b) { return a.major < b.major; });
  ASSERT_EQ(sort.nnz(), static_cast<int64_t>(wanted.size()));
  std::vector<int64_t> indptr(static_cast<size_t>(majors) + 1, 0);
  for (const Entry& e : wanted) ++indptr[static_cast<size_t>(e.major) + 1];
  for (size_t i = 1; i < indptr.size(); ++i) indptr[i] += indptr[i - 1];
  ASSERT_EQ(sort.indptr(), indptr);
  const int64_t is = sort.index_type().size, vs = sort.value_type().size;
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int64_t begin = 0; begin < sort.nnz(); begin += run) {
      const int64_t n = std::min(run, sort.nnz() - begin);
      Buffer indices(n * is), data(n * vs);
      sort.read(begin, begin + n, indices.data(), data.data());
      for (int64_t i = 0; i < n; ++i) {
        const Entry& e = wanted[static_cast<size_t>(begin + i)];
        int64_t minor = 0;
        std::memcpy(&minor, indices.data() + i * is, static_cast<size_t>(is));
        ASSERT_EQ(minor, e.minor) << begin + i;
        ASSERT_EQ(std::memcmp(data.data() + i * vs, e.value.data(), static_cast<size_t>(vs)), 0) << begin + i;
      }
    }
  }
}

class BucketSortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "bucket_sort_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  SortResources resources(int64_t memory) {
    return {memory, threads_, folder_, [] {}};
  }
  std::string folder_;
  ThreadPool threads_{2};
};

TEST_F(BucketSortTest, TransposesAllShapesAndValueSizes) {
  std::mt19937 random(1);
  for (int64_t size : {1, 2, 4, 8, 16, 32}) {
    for (auto [slices, minors, most] :
         {std::tuple{0, 0, 0}, {0, 5, 0}, {5, 0, 0}, {1, 1, 3}, {40, 7, 9}, {7, 300, 50}}) {
      for (Layout layout : {Layout::Csr, Layout::Csc}) {
        Random m(random, layout, slices, minors, most, size, random() % 2);
        BucketSort sort(m.sparse, other(m.sparse->layout()));
        sort.prepare(resources(int64_t{1} << 30));
        EXPECT_EQ(spilled(folder_), 0);
        EXPECT_EQ(sort.index_type().size, 4);
        expect_sorted(sort, m.entries, minors, 11);
      }
    }
  }
}

TEST_F(BucketSortTest, SpillsWhenMemoryIsShort) {
  std::mt19937 random(2);
  for (int64_t size : {1, 2, 4, 8, 16}) {
    Random m(random, Layout::Csr, 9000, 900, 400, size, false);
    BucketSort sort(m.sparse, other(m.sparse->layout()));
    sort.prepare(resources(sort.needed_bytes()));
    EXPECT_GT(spilled(folder_), 0) << size;
    expect_sorted(sort, m.entries, 900, 10007);
  }
}

TEST_F(BucketSortTest, StreamsAMajorThatFillsMoreThanABucket) {
  std::mt19937 random(3);
  Random m(random, Layout::Csc, 9000, 50, 400, 8, false, true);
  BucketSort sort(m.sparse, other(m.sparse->layout()));
  sort.prepare(resources(sort.needed_bytes()));
  EXPECT_GT(spilled(folder_), 0);
  expect_sorted(sort, m.entries, 50, 65537);
}

TEST_F(BucketSortTest, RemovesItsSpill) {
  std::mt19937 random(4);
  {
    Random m(random, Layout::Csr, 6000, 900, 400, 8, false);
    BucketSort sort(m.sparse, other(m.sparse->layout()));
    sort.prepare(resources(sort.needed_bytes()));
    EXPECT_GT(spilled(folder_), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(BucketSortTest, RefusesTooLittle) {
  std::mt19937 random(5);
  Random m(random, Layout::Csr, 10, 10, 3, 8, false);
  BucketSort sort(m.sparse, other(m.sparse->layout()));
  try {
    sort.prepare(resources(sort.needed_bytes() - 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::OutOfBudget);
  }
}

template <class T>
void dense_case(BucketSortTest*, const SortResources& r, const std::vector<T>& values, int64_t rows, int64_t columns,
                DType type, const std::function<bool(const T&)>& kept) {
  for (Layout wanted : {Layout::Csr, Layout::Csc}) {
    std::vector<Entry> entries;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < columns; ++col) {
        const T& v = values[static_cast<size_t>(row * columns + col)];
        if (!kept(v)) continue;
        Entry e{wanted == Layout::Csr ? row : col, wanted == Layout::Csr ? col : row,
                std::vector<std::byte>(sizeof(T))};
        std::memcpy(e.value.data(), &v, sizeof(T));
        entries.push_back(e);
      }
    Buffer bytes(static_cast<int64_t>(values.size() * sizeof(T)));
    std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
    const int64_t majors = wanted == Layout::Csr ? rows : columns;
    const auto sort = ordered_entries({lazy::in_memory({rows, columns}, type, std::move(bytes)), nullptr}, wanted);
    sort->prepare({r.memory > 0 ? r.memory : sort->needed_bytes(), r.threads, r.scratch_folder, r.check});
    if (r.memory == 0 && wanted == Layout::Csc) {
      EXPECT_GT(spilled(r.scratch_folder), 0);
    }
    expect_sorted(*sort, entries, majors, 777);
  }
}

TEST_F(BucketSortTest, KeepsWhatIsNotZeroOfADenseMatrix) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> d{0, -0.0, nan, 1, 5e-324, -2, 0, 0, std::numeric_limits<double>::infinity(), 0, 0, -0.0};
  auto r = resources(int64_t{1} << 28);
  dense_case<double>(this, r, d, 3, 4, DType::float_(8), [](const double& v) { return v != 0; });
  std::vector<float> f(d.begin(), d.end());
  dense_case<float>(this, r, f, 4, 3, DType::float_(4), [](const float& v) { return v != 0; });
  // binary16: 0, -0, NaN, smallest; then the same bytes swapped.
  const std::vector<uint16_t> half{0, 0x8000, 0x7e00, 1, 0x3c00, 0};
  dense_case<uint16_t>(this, r, half, 2, 3, DType::float_(2), [](const uint16_t& v) { return (v & 0x7fff) != 0; });
  const std::vector<uint16_t> swapped{0, 0x0080, 0x007e, 0x0100, 0x003c, 0x8000};
  dense_case<uint16_t>(this, r, swapped, 2, 3, DType::make(TypeKind::Float, 2, true),
                       [](const uint16_t& v) { return v != 0 && v != 0x0080; });
  const std::vector<std::complex<double>> c{{0, 0}, {0, 1}, {1, 0}, {-0.0, -0.0}, {nan, 0}, {0, nan}};
  dense_case<std::complex<double>>(this, r, c, 3, 2, DType::make(TypeKind::Complex, 16),
                                   [](const std::complex<double>& v) { return v != 0.0; });
  const std::vector<uint8_t> b{0, 1, 0, 1, 1, 0};
  dense_case<uint8_t>(this, r, b, 2, 3, DType::boolean(), [](const uint8_t& v) { return v != 0; });
}

TEST_F(BucketSortTest, SpillsADenseMatrix) {
  std::mt19937 random(6);
  std::vector<float> values(1500 * 1000);
  for (float& v : values) v = random() % 2 ? static_cast<float>(random() % 100) : 0.0f;
  dense_case<float>(this, resources(0), values, 1500, 1000, DType::float_(4), [](const float& v) { return v != 0; });
}

}  // namespace
}  // namespace lamella::matrix
