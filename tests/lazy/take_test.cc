#include "lazy/take.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>

#include "base/error.h"

namespace lamella::lazy {
namespace {

// Element (i, j, …) is its row-major number; counts the reads and how often each grain was touched.
class Numbers final : public Expr {
 public:
  Numbers(Shape shape, Shape grain) : Expr(std::move(shape), DType::int_(8)), grain_(std::move(grain)) {
    touched_ =
        std::vector<std::atomic<int>>(grain_.empty() ? 0 : static_cast<size_t>(Grid{this->shape(), grain_}.size()));
  }
  void read(const Box& region, const View& to, Heap&, ThreadPool&) const override {
    ++reads_;
    if (!grain_.empty()) {
      const Grid grid{shape(), grain_};
      const Box cover = grid.cover(region);
      Shape at = cover.offset;
      do ++touched_[static_cast<size_t>(grid.linear(at))];
      while (next_index(at, cover));
    }
    const Shape strides = c_strides(shape());
    Shape at = region.offset;
    do {
      int64_t number = 0;
      std::byte* target = to.data;
      for (size_t axis = 0; axis < at.size(); ++axis) {
        number += at[axis] * strides[axis];
        target += (at[axis] - region.offset[axis]) * to.strides[axis];
      }
      std::memcpy(target, &number, sizeof number);
    } while (next_index(at, region));
  }
  Shape grain() const override { return grain_; }

  int reads() const { return reads_; }
  int most_touched() const {
    int most = 0;
    for (const auto& count : touched_) most = std::max(most, count.load());
    return most;
  }

 private:
  Shape grain_;
  mutable std::atomic<int> reads_{0};
  mutable std::vector<std::atomic<int>> touched_;
};

std::vector<int64_t> read(const Expr& expr, const std::vector<Picks>& picks) {
  Shape shape;
  for (const Picks& pick : picks) shape.push_back(pick.count());
  std::vector<int64_t> out(static_cast<size_t>(count(shape)), -1);
  Heap heap;
  ThreadPool threads(2);
  read_picks(expr, picks, View::c_order(reinterpret_cast<std::byte*>(out.data()), shape, 8), heap, threads);
  return out;
}

std::vector<int64_t> expected(const Shape& shape, const std::vector<Picks>& picks) {
  Box box;
  for (const Picks& pick : picks) {
    box.offset.push_back(0);
    box.shape.push_back(pick.count());
  }
  std::vector<int64_t> out;
  if (box.empty()) return out;
  const Shape strides = c_strides(shape);
  Shape at = box.offset;
  do {
    int64_t number = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) number += picks[axis][at[axis]] * strides[axis];
    out.push_back(number);
  } while (next_index(at, box));
  return out;
}

TEST(Take, RunsGoStraightThrough) {
  const Numbers numbers({20, 10}, {4, 3});
  const std::vector<Picks> picks{Stride{3, 1, 9}, Stride{2, 1, 7}};
  EXPECT_EQ(read(numbers, picks), expected(numbers.shape(), picks));
  EXPECT_EQ(numbers.reads(), 1);
}

TEST(Take, EachGrainIsReadOnce) {
  const Numbers numbers({20, 10}, {4, 3});
  const std::vector<Picks> picks{std::vector<int64_t>{19, 0, 7, 7, 1, 18, 0}, Stride{9, -2, 5}};
  EXPECT_EQ(read(numbers, picks), expected(numbers.shape(), picks));
  EXPECT_EQ(numbers.most_touched(), 1);
}

TEST(Take, RandomPicksEqualTheirDefinition) {
  std::mt19937 random(7);
  const auto up_to = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int round = 0; round < 300; ++round) {
    Shape shape, grain;
    std::vector<Picks> picks;
    const int64_t rank = up_to(4);
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t length = 1 + up_to(12);
      shape.push_back(length);
      grain.push_back(1 + up_to(5));
      if (up_to(2)) {
        std::vector<int64_t> list(static_cast<size_t>(up_to(9)));
        for (int64_t& position : list) position = up_to(length);
        picks.emplace_back(std::move(list));
      } else {
        const int64_t step = 1 + up_to(3);
        const int64_t n = 1 + up_to((length - 1) / step + 1);
        const bool backwards = up_to(2);
        picks.emplace_back(Stride{backwards ? (n - 1) * step : 0, backwards ? -step : step, n});
      }
    }
    const Numbers numbers(shape, round % 3 ? grain : Shape{});
    ASSERT_EQ(read(numbers, picks), expected(shape, picks)) << to_string(shape);
    ASSERT_LE(numbers.most_touched(), 1);
  }
}

TEST(Take, IsAnExpression) {
  const auto numbers = std::make_shared<Numbers>(Shape{6, 5}, Shape{2, 2});
  const ExprPtr taken = take(numbers, {std::vector<int64_t>{5, 1, 1}, Stride{4, -1, 5}});
  EXPECT_EQ(taken->shape(), (Shape{3, 5}));
  const std::vector<Picks> part{Stride{1, 1, 2}, Stride{0, 1, 3}};
  EXPECT_EQ(read(*taken, part), (std::vector<int64_t>{9, 8, 7, 9, 8, 7}));
}

TEST(Take, RefusesPositionsOutside) {
  const auto numbers = std::make_shared<Numbers>(Shape{6}, Shape{2});
  EXPECT_THROW(take(numbers, {std::vector<int64_t>{6}}), Error);
  EXPECT_THROW(take(numbers, {Stride{4, 2, 2}}), Error);
  EXPECT_THROW(take(numbers, {Stride{0, -1, 2}}), Error);
  EXPECT_THROW(take(numbers, {}), Error);
}

}  // namespace
}  // namespace lamella::lazy
