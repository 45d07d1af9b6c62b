#include "base/shape.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"

namespace lamella {
namespace {

constexpr int64_t kMost = INT64_MAX;

TEST(Shape, SizesThatOverflowAreCorrupt) {
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW(checked_mul(int64_t{1} << 32, int64_t{1} << 31), Error);
  EXPECT_THROW(checked_add(kMost, 1), Error);
  EXPECT_EQ(checked_add(kMost, 0), kMost);
  EXPECT_THROW(count({int64_t{1} << 32, int64_t{1} << 32}), Error);
  EXPECT_EQ(count({int64_t{1} << 32, int64_t{1} << 32, 0}), 0);
  EXPECT_EQ(count({}), 1);
  EXPECT_THROW(round_up(kMost, 10), Error);
}

TEST(Shape, Divisions) {
  EXPECT_EQ(ceil_div(0, 5), 0);
  EXPECT_EQ(ceil_div(1, 5), 1);
  EXPECT_EQ(ceil_div(5, 5), 1);
  EXPECT_EQ(ceil_div(6, 5), 2);
  EXPECT_EQ(ceil_div(kMost, kMost), 1);
  EXPECT_EQ(ceil_div(kMost, 1), kMost);
  EXPECT_EQ(round_up(11, 5), 15);
  EXPECT_EQ(round_up(0, 5), 0);
}

TEST(Shape, Texts) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{3}), "(3,)");
  EXPECT_EQ(to_string(Shape{3, 4}), "(3, 4)");
  EXPECT_EQ(to_string(Box{{0, 2}, {3, 2}}), "[0:3, 2:4]");
}

TEST(Box, OfTheLargestArrays) {
  const Grid grid{{kMost}, {int64_t{1} << 62}};
  EXPECT_EQ(grid.size(), 2);
  EXPECT_EQ(grid.box({1}), (Box{{int64_t{1} << 62}, {kMost - (int64_t{1} << 62)}}));
  EXPECT_TRUE(contains(Box::whole({kMost}), grid.box({1})));
}

TEST(Box, IntersectAndContainAgreeWithSetsOfPositions) {
  std::mt19937 random(1);
  const auto positions = [](const Box& box) {
    std::set<Shape> out;
    if (box.empty()) return out;
    Shape index = box.offset;
    do out.insert(index);
    while (next_index(index, box));
    return out;
  };
  for (int round = 0; round < 500; ++round) {
    const size_t rank = random() % 4;
    Box a{Shape(rank), Shape(rank)}, b = a;
    for (Box* box : {&a, &b}) {
      for (size_t axis = 0; axis < rank; ++axis) {
        box->offset[axis] = random() % 4;
        box->shape[axis] = random() % 4;
      }
    }
    const auto in_a = positions(a), in_b = positions(b);
    EXPECT_EQ(static_cast<int64_t>(in_a.size()), count(a.shape));
    std::set<Shape> both;
    std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), std::inserter(both, both.end()));
    EXPECT_EQ(positions(intersect(a, b)), both);
    if (b.empty()) continue;
    EXPECT_EQ(contains(a, b), both.size() == in_b.size()) << to_string(a) << to_string(b);
  }
}

TEST(Grid, ChunksCoverTheArrayOnce) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = random() % 4;
    Grid grid{Shape(rank), Shape(rank)};
    for (size_t axis = 0; axis < rank; ++axis) {
      grid.shape[axis] = random() % 7;
      grid.chunk[axis] = 1 + random() % 8;
    }
    int64_t elements = 0;
    for (int64_t n = 0; n < grid.size(); ++n) {
      const Shape index = grid.index(n);
      EXPECT_EQ(grid.linear(index), n);
      const Box box = grid.box(index);
      EXPECT_TRUE(contains(Box::whole(grid.shape), box));
      EXPECT_TRUE(contains(grid.full_box(index), box));
      EXPECT_EQ(grid.cover(box), (Box{index, Shape(rank, 1)}));
      elements += count(box.shape);
    }
    EXPECT_EQ(elements, count(grid.shape));
  }
}

TEST(Grid, CoverTouchesJustTheChunksThatMeetTheRegion) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Grid grid{{static_cast<int64_t>(1 + random() % 20), 9}, {static_cast<int64_t>(1 + random() % 6), 4}};
    Box region{Shape(2), Shape(2)};
    for (size_t axis = 0; axis < 2; ++axis) {
      region.offset[axis] = static_cast<int64_t>(random()) % grid.shape[axis];
      region.shape[axis] = static_cast<int64_t>(random()) % (grid.shape[axis] - region.offset[axis] + 1);
    }
    const Box cover = grid.cover(region);
    for (int64_t n = 0; n < grid.size(); ++n) {
      const Shape index = grid.index(n);
      const bool touched = !region.empty() && !intersect(grid.box(index), region).empty();
      const bool covered = !cover.empty() && contains(cover, {index, {1, 1}});
      EXPECT_EQ(touched, covered) << to_string(region);
    }
  }
}

TEST(NextIndex, RunsInRowMajorOrder) {
  const Box box{{1, 5}, {2, 2}};
  Shape index = box.offset;
  std::vector<Shape> seen{index};
  while (next_index(index, box)) seen.push_back(index);
  EXPECT_EQ(seen, (std::vector<Shape>{{1, 5}, {1, 6}, {2, 5}, {2, 6}}));
  Shape scalar;
  EXPECT_FALSE(next_index(scalar, Box{}));
}

}  // namespace
}  // namespace lamella
