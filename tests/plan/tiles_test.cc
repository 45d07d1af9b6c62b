#include "plan/tiles.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "store/scratch.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;

ArraySpec spec_of(Shape shape, Shape chunks) {
  ArraySpec spec;
  spec.shape = std::move(shape);
  spec.chunks = std::move(chunks);
  spec.type = DType::int_(4);
  spec.codecs = {{"bytes", Json::object()}};
  return spec;
}

// An HDF5 file of one array, and what a copy into another such file takes.
struct Copying {
  store::Scratch scratch;
  ThreadPool threads{2};
  Meter meter{nullptr, nullptr, 0};

  lazy::ExprPtr write(const std::string& name, const CopyPlan& plan, int64_t memory) {
    const std::string path = scratch.path(name);
    const auto sink = array::create_sink(path, {array::SinkFormat::Hdf5});
    sink->create_group("", {});
    Journal journal(path + ".journal", false);
    Run run{*sink, journal, threads, meter, memory, scratch.path(".")};
    const auto writer = sink->create_array("x", plan.spec, {});
    run_copy(run, plan, *writer, 0);
    sink->commit();
    return lazy::source(array::open(path).root.group->child("x").array);
  }
};

std::vector<int32_t> values_of(const lazy::Expr& expr) {
  Heap heap;
  const Buffer bytes = expr.read_all(heap);
  std::vector<int32_t> out(static_cast<size_t>(bytes.size()) / 4);
  std::memcpy(out.data(), bytes.data(), out.size() * 4);
  return out;
}

lazy::ExprPtr numbered(const Shape& shape) {
  Buffer data(count(shape) * 4);
  std::vector<int32_t> values(static_cast<size_t>(count(shape)));
  std::iota(values.begin(), values.end(), 0);
  std::memcpy(data.data(), values.data(), values.size() * 4);
  return lazy::in_memory(shape, DType::int_(4), std::move(data));
}

TEST(Tiles, RowChunksBecomeColumnChunksInTwoPasses) {
  Copying copying;
  const Shape shape = {1200, 1000};
  constexpr int64_t kMemory = 1 << 20;
  const lazy::ExprPtr values = numbered(shape);
  const auto rows = copying.write("rows.h5", plan_copy(values, spec_of(shape, {10, 1000}), false, 8 << 20), 8 << 20);

  const CopyPlan plan = plan_copy(rows, spec_of(shape, {1200, 10}), false, kMemory);
  ASSERT_TRUE(plan.tiles);
  EXPECT_GT(plan.choice.passes, 5);
  EXPECT_LT(plan.tiles->choice.passes, 1.5);
  EXPECT_LE(plan.peak_bytes, kMemory);
  EXPECT_EQ(plan.work_bytes(), 2 * plan.decoded_bytes());
  EXPECT_EQ(plan.describe("x")["scratch_bytes"], plan.decoded_bytes());

  const auto columns = copying.write("columns.h5", plan, kMemory);
  EXPECT_EQ(values_of(*columns), values_of(*values));
  EXPECT_EQ(copying.meter.done(), 3 * plan.decoded_bytes());
  for (const auto& entry : std::filesystem::directory_iterator(copying.scratch.path(".")))
    EXPECT_EQ(entry.path().filename().string().rfind("tiles", 0), std::string::npos) << entry.path();
}

TEST(Tiles, AnyChunksToAnyOthers) {
  std::mt19937 random(5);
  const auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  int tiled = 0;
  for (int round = 0; round < 200; ++round) {
    Copying copying;
    const auto rank = static_cast<size_t>(upto(3));
    Shape shape, from, to;
    for (size_t axis = 0; axis < rank; ++axis) {
      shape.push_back(upto(rank == 1 ? 20000 : rank == 2 ? 150 : 30));
      // Long and thin, most of them: that is where reading again and again comes from.
      from.push_back(upto(3) == 1 ? upto(shape[axis]) : upto(2) == 1 ? shape[axis] : upto(3));
      to.push_back(upto(3) == 1 ? upto(shape[axis]) : upto(2) == 1 ? shape[axis] : upto(3));
    }
    ArraySpec wanted = spec_of(shape, to);
    if (upto(4) == 1) wanted = spec_of(shape, {}), wanted.codecs = {};
    const lazy::ExprPtr values = numbered(shape);
    const int64_t plenty = 64 << 20;
    const auto source = copying.write("a.h5", plan_copy(values, spec_of(shape, from), false, plenty), plenty);
    const int64_t memory = std::max<int64_t>(plan_copy(source, wanted, false, 1).needed_bytes, 1 << upto(16)) * 2;
    const CopyPlan plan = plan_copy(source, wanted, false, memory);
    tiled += plan.tiles ? 1 : 0;
    ASSERT_EQ(values_of(*copying.write("b.h5", plan, memory)), values_of(*values)) << round;
  }
  EXPECT_GT(tiled, 10);
}

// A tile is at most what one side reads at a time, so that neither side reads it for a part.
TEST(Tiles, LieWithinTheBlocksOfBothSides) {
  const BlockProblem problem{{46000, 46000}, 4, {46000, 100}, {100, 46000}, {}, false, int64_t{100} << 20};
  const BlockChoice choice = choose_block(problem);
  EXPECT_GT(choice.passes, 50);
  const Shape tile = choose_tile(problem, choice);
  EXPECT_EQ(choice.block[1] % tile[1], 0);
  EXPECT_LE(tile[0] * 46000 * 4, problem.memory);
  EXPECT_GT(tile[0] * tile[1] * 4, 64 << 10);
}

}  // namespace
}  // namespace lamella::plan
