#include "base/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/strided.h"

namespace lamella {
namespace {

using namespace std::chrono_literals;

Json stage_of(const char* name) {
  const Json profile = Profile::to_json();
  for (const Json& stage : profile["stages"]) {
    if (stage["stage"] == name) return stage;
  }
  return nullptr;
}

// One process, one profile: the tests look at what a stage has gained.
class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    Profile::enable();
    Profile::mark_shown();
  }
  static double seconds(const char* name) { return stage_of(name)["seconds"]; }
  static int64_t bytes(const char* name) { return stage_of(name)["bytes"]; }
  static int64_t calls(const char* name) { return stage_of(name)["calls"]; }
};

TEST_F(ProfileTest, AddsUpOverThreads) {
  const double before = seconds("write");
  const int64_t bytes_before = bytes("write"), calls_before = calls("write");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      Timed timed(Stage::Write, 100);
      std::this_thread::sleep_for(20ms);
      timed.add_bytes(11);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(seconds("write") - before, 0.08);
  EXPECT_EQ(bytes("write") - bytes_before, 444);
  EXPECT_EQ(calls("write") - calls_before, 4);
}

TEST_F(ProfileTest, CountsNestedStagesOnce) {
  const double decode = seconds("decode"), read = seconds("read");
  {
    const Timed outer(Stage::Decode);
    for (int i = 0; i < 2; ++i) {
      const Timed inner(Stage::Read);
      std::this_thread::sleep_for(50ms);
    }
  }
  EXPECT_GE(seconds("read") - read, 0.1);
  EXPECT_LT(seconds("decode") - decode, 0.05);
}

TEST_F(ProfileTest, LeavesCopiesWithinACodecToTheCodec) {
  std::vector<std::byte> from(800), to(800);
  const auto copy = [&] {
    copy_elements(View::c_order(to.data(), {100}, 8), ConstView::c_order(from.data(), {100}, 8), 8);
  };
  const int64_t before = bytes("transform");
  copy();
  EXPECT_EQ(bytes("transform") - before, 800);
  {
    const Timed timed(Stage::Decode, 800);
    copy();
  }
  EXPECT_EQ(bytes("transform") - before, 800);
}

TEST_F(ProfileTest, ShowsEveryStage) {
  { const Timed timed(Stage::Sync); }
  const std::string table = Profile::to_table();
  for (const char* name : {"read", "decode", "transform", "encode", "write", "sync", "wait"}) {
    EXPECT_NE(table.find(name), std::string::npos) << name;
  }
  EXPECT_GT(Profile::to_json()["seconds"].get<double>(), 0);
}

}  // namespace
}  // namespace lamella
