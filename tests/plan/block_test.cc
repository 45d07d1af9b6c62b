#include "plan/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lamella::plan {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

int64_t whole_bytes(const BlockProblem& problem) {
  int64_t bytes = problem.item_size;
  for (size_t axis = 0; axis < problem.shape.size(); ++axis) {
    bytes *= round_up(std::max<int64_t>(problem.shape[axis], 1), problem.unit[axis]);
  }
  return bytes;
}

struct Random {
  std::mt19937 engine;
  int64_t upto(int64_t most) { return 1 + static_cast<int64_t>(engine() % static_cast<uint64_t>(most)); }
  bool one_in(int64_t n) { return upto(n) == 1; }

  // Small enough that every block can be looked at.
  BlockProblem problem(bool runs_only) {
    BlockProblem out;
    const auto rank = static_cast<size_t>(upto(3));
    out.runs_only = runs_only;
    out.item_size = int64_t{1} << (upto(5) - 1);
    for (size_t axis = 0; axis < rank; ++axis) {
      out.shape.push_back(one_in(20) ? 0 : upto(rank == 1 ? 3000 : 60));
      // Contiguous storage: a part of a row.
      if (runs_only) out.unit.push_back(axis + 1 < rank ? 1 : upto(std::max<int64_t>(out.shape[axis], 1)));
      else out.unit.push_back(upto(20));
    }
    if (!one_in(4)) {
      for (size_t axis = 0; axis < rank; ++axis) out.grain.push_back(upto(one_in(3) ? 100 : 20));
    }
    if (!runs_only && one_in(3)) {
      for (size_t axis = 0; axis < rank; ++axis) out.limit.push_back(out.unit[axis] * upto(5));
    }
    out.memory = upto(one_in(2) ? 2000 : 200000);
    return out;
  }
};

// Source pieces that the blocks touch one by one, over the pieces that there are.
double counted_passes(const BlockProblem& problem, const Shape& block) {
  const Grid grid{problem.shape, block};
  const Grid pieces{problem.shape, problem.grain};
  int64_t touched = 0;
  for (int64_t i = 0; i < grid.size(); ++i) touched += count(pieces.cover(grid.box(grid.index(i))).shape);
  return static_cast<double>(touched) / static_cast<double>(pieces.size());
}

bool is_one_run(const Box& box, const Shape& shape) {
  size_t axis = 0;
  while (axis < box.rank() && box.shape[axis] == 1) ++axis;
  for (++axis; axis < box.rank(); ++axis) {
    if (box.shape[axis] != shape[axis]) return false;
  }
  return true;
}

class RandomProblems : public ::testing::TestWithParam<bool> {};

TEST_P(RandomProblems, GiveBlocksOfWholeUnitsThatFit) {
  Random random{std::mt19937(GetParam() ? 1 : 2)};
  for (int i = 0; i < 1000; ++i) {
    const BlockProblem problem = random.problem(GetParam());
    const BlockChoice choice = choose_block(problem);
    SCOPED_TRACE(i);
    ASSERT_EQ(choice.block.size(), problem.shape.size());
    for (size_t axis = 0; axis < problem.shape.size(); ++axis) {
      EXPECT_EQ(choice.block[axis] % problem.unit[axis], 0);
      EXPECT_LE(choice.block[axis], problem.limit.empty() ? INT64_MAX : problem.limit[axis]);
      EXPECT_LE(choice.block[axis], round_up(std::max<int64_t>(problem.shape[axis], 1), problem.unit[axis]));
    }
    EXPECT_EQ(choice.fits, choice.bytes <= problem.memory);
    EXPECT_TRUE(choice.fits || choice.block == problem.unit);
    EXPECT_GE(choice.passes, 1 - 1e-9);

    const Grid grid{problem.shape, choice.block};
    EXPECT_EQ(choice.blocks, grid.size());
    for (int64_t b = 0; b < std::min<int64_t>(grid.size(), 200); ++b) {
      const Box box = grid.box(grid.index(b));
      EXPECT_LE(count(box.shape) * problem.item_size, choice.bytes);
      EXPECT_TRUE(!problem.runs_only || is_one_run(box, problem.shape)) << to_string(box);
    }
  }
}

TEST_P(RandomProblems, TellHowOftenTheSourceIsRead) {
  Random random{std::mt19937(GetParam() ? 3 : 4)};
  for (int i = 0; i < 1000; ++i) {
    const BlockProblem problem = random.problem(GetParam());
    if (problem.grain.empty() || !problem.limit.empty() || count(problem.shape) == 0) continue;
    const BlockChoice choice = choose_block(problem);
    EXPECT_NEAR(choice.passes, counted_passes(problem, choice.block), 1e-9) << i;
    EXPECT_LE(choice.passes, counted_passes(problem, problem.unit) + 1e-9) << i;
  }
}

TEST_P(RandomProblems, ReadOnceWhatFitsAtOnce) {
  Random random{std::mt19937(GetParam() ? 5 : 6)};
  for (int i = 0; i < 1000; ++i) {
    BlockProblem problem = random.problem(GetParam());
    problem.limit.clear();
    problem.memory = 2 * whole_bytes(problem) + 2;
    const BlockChoice choice = choose_block(problem);
    EXPECT_DOUBLE_EQ(choice.passes, 1) << i;
    EXPECT_EQ(choice.blocks, count(problem.shape) == 0 ? 0 : 1) << i;
  }
}

TEST_P(RandomProblems, GiveTheSameEveryTime) {
  Random random{std::mt19937(GetParam() ? 7 : 8)};
  for (int i = 0; i < 300; ++i) {
    const BlockProblem problem = random.problem(GetParam());
    const BlockChoice once = choose_block(problem), again = choose_block(problem);
    EXPECT_EQ(once.block, again.block);
    EXPECT_EQ(once.passes, again.passes);
    EXPECT_EQ(once.bytes, again.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, RandomProblems, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "contiguous" : "chunked"; });

TEST(Block, GrowsToTheSourceChunks) {
  // Rows to columns: a block of whole source chunks reads each once.
  BlockProblem problem{{100000, 20000}, 4, {1000, 10}, {10, 20000}, {}, false, 512 * kMiB};
  const BlockChoice choice = choose_block(problem);
  EXPECT_DOUBLE_EQ(choice.passes, 1);
  EXPECT_EQ(choice.block[1], 20000);
  // With less memory than a unit's rows of source chunks take, more than once, but as wide as the memory allows.
  problem.memory = 8 * kMiB;
  const BlockChoice less = choose_block(problem);
  EXPECT_GT(less.passes, 1);
  EXPECT_GT(less.bytes, problem.memory / 4);
}

TEST(Block, StaysHandyWhenNothingIsSaved) {
  const BlockChoice choice = choose_block({{1 << 20, 1 << 10}, 8, {64, 64}, {}, {}, false, int64_t{8} << 30});
  EXPECT_LE(choice.bytes, 32 * kMiB);
  EXPECT_GE(choice.bytes, 8 * kMiB);
}

TEST(Block, OfAHugeArrayIsFoundAtOnce) {
  const int64_t huge = int64_t{1} << 42;
  const BlockChoice choice = choose_block({{huge, huge}, 8, {3, 5}, {7, 11}, {}, false, 64 * kMiB});
  EXPECT_TRUE(choice.fits);
  EXPECT_LE(choice.bytes, 64 * kMiB);
  EXPECT_GE(choice.passes, 1);
}

TEST(Block, OfAScalarIsTheScalar) {
  const BlockChoice choice = choose_block({{}, 8, {}, {}, {}, true, 4});
  EXPECT_EQ(choice.blocks, 1);
  EXPECT_EQ(choice.bytes, 8);
  EXPECT_FALSE(choice.fits);
}

}  // namespace
}  // namespace lamella::plan
