#include "plan/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "store/scratch.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;
using store::kind_of;

class NoSink : public array::Sink {
 public:
  const std::string& name() const override { return name_; }
  void create_group(const std::string&, const array::Attributes&) override {}
  std::unique_ptr<array::ArrayWriter> create_array(const std::string&, const ArraySpec&,
                                                   const array::Attributes&) override {
    return nullptr;
  }
  void check_group(const std::string&, const array::Attributes&) const override {}
  void check_array(const std::string&, const ArraySpec&, const array::Attributes&) const override {}
  void commit() override {}

 private:
  std::string name_ = "nothing";
};

// Notes the chunks in the order in which they come; fails at one of them.
class Noting : public array::ArrayWriter {
 public:
  Noting(int64_t chunks, int64_t fails_at = -1) : ArrayWriter(spec_of(chunks)), fails_at_(fails_at) {}

  array::EncodedChunk encode(ConstBytes) const override { return {}; }
  array::Placement append(const Shape& chunk, array::EncodedChunk encoded) override {
    EXPECT_FALSE(busy_.exchange(true)) << "two appends at a time";
    if (chunk[0] == fails_at_) throw Error(ErrorKind::Io, "disk full");
    const int64_t position = appended.empty() ? 0 : appended.back() * 10;
    appended.push_back(chunk[0]);
    if (chunk[0] % 5 == 0) std::this_thread::yield();
    busy_ = false;
    return {position, encoded.bytes.size(), 0};
  }
  void restore(const Shape&, const array::Placement&) override {}
  void write_run(int64_t, ConstBytes) override {}
  void finish() override {}

  std::vector<int64_t> appended;

 private:
  static ArraySpec spec_of(int64_t chunks) {
    ArraySpec spec;
    spec.shape = {chunks};
    spec.chunks = {1};
    spec.type = DType::int_(1);
    spec.codecs = {{"bytes"}};
    return spec;
  }

  int64_t fails_at_;
  std::atomic<bool> busy_{false};
};

struct Harness {
  explicit Harness(int thread_count = 4, const CancelFlag* cancel = nullptr)
      : threads(thread_count), meter(nullptr, cancel, 100) {}

  store::Scratch scratch;
  NoSink sink;
  std::string path = scratch.path("journal");
  Journal journal{path, false};
  ThreadPool threads;
  Meter meter;
  Run run{sink, journal, threads, meter, 1 << 20, scratch.path("."), 0};
};

array::EncodedChunk chunk_of(int64_t bytes) {
  array::EncodedChunk out;
  out.bytes = Buffer(bytes);
  return out;
}

TEST(OrderedAppend, PutsInOrderWhoeverIsFirst) {
  constexpr int64_t kChunks = 2000;
  for (int64_t window : {1, 2, 16, 5000}) {
    Harness harness;
    Noting writer(kChunks);
    OrderedAppend append(harness.run, writer, 7, window);
    // The pool hands out numbers in ascending order; threads take uneven times between that and the put.
    harness.threads.parallel_for(kChunks, [&](int64_t i) {
      for (int64_t spin = i * 7919 % 13; spin > 0; --spin) std::this_thread::yield();
      append.put(i, {i}, chunk_of(i % 9));
    });
    std::vector<int64_t> wanted(kChunks);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(writer.appended, wanted);
    harness.journal.flush();
    Journal replayed(harness.path, true);
    for (int64_t i = 0; i < kChunks; ++i) {
      const auto placement = replayed.replay(7, i);
      ASSERT_TRUE(placement);
      ASSERT_EQ(placement->size, i % 9);
    }
    EXPECT_FALSE(replayed.replaying());
  }
}

TEST(OrderedAppend, TakesAnyOrderWithinTheWindow) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    Harness harness(1);
    Noting writer(64);
    OrderedAppend append(harness.run, writer, 0, 64);
    std::vector<int64_t> order(64);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    // The order of sequence numbers is that of the appends, whatever the chunks are.
    for (int64_t sequence : order) append.put(sequence, {63 - sequence}, chunk_of(1));
    ASSERT_EQ(writer.appended.size(), 64u);
    EXPECT_TRUE(std::is_sorted(writer.appended.rbegin(), writer.appended.rend()));
  }
}

TEST(OrderedAppend, StopsEverybodyWhenAnAppendFails) {
  Harness harness;
  Noting writer(1000, 300);
  OrderedAppend append(harness.run, writer, 0, 4);
  try {
    harness.threads.parallel_for(1000, [&](int64_t i) { append.put(i, {i}, chunk_of(1)); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::Io || error.kind() == ErrorKind::Cancelled);
  }
  EXPECT_EQ(writer.appended.size(), 300u);
  EXPECT_EQ(kind_of([&] { append.put(301, {301}, {}); }), ErrorKind::Cancelled);
  EXPECT_EQ(writer.appended.size(), 300u);
}

TEST(OrderedAppend, LetsWaitingThreadsGoWhenAborted) {
  Harness harness;
  Noting writer(100);
  OrderedAppend append(harness.run, writer, 0, 2);
  std::atomic<int> stopped{0};
  std::vector<std::jthread> waiting;
  for (int64_t i : {5, 6, 7}) {
    waiting.emplace_back([&, i] {
      try {
        append.put(i, {i}, chunk_of(1));
      } catch (const Error& error) {
        stopped += error.kind() == ErrorKind::Cancelled;
      }
    });
  }
  append.put(0, {0}, chunk_of(1));  // moves the window, not far enough
  append.abort();
  waiting.clear();
  EXPECT_EQ(stopped, 3);
  EXPECT_EQ(writer.appended, std::vector<int64_t>{0});
}

struct Last : Progress {
  void advance(int64_t done, int64_t total, const std::string& element) override {
    text = element + " " + std::to_string(done) + " of " + std::to_string(total);
  }
  std::string text;
};

TEST(Meter, AddsUpAndStopsWhenAsked) {
  Last last;
  CancelFlag cancel;
  Meter meter(&last, &cancel, 10);
  meter.start("");
  meter.add(3);
  EXPECT_EQ(last.text, "/ 3 of 10");
  meter.start("X/data");
  meter.add(4);
  EXPECT_EQ(last.text, "X/data 7 of 10");
  cancel.raise();
  EXPECT_EQ(kind_of([&] { meter.add(1); }), ErrorKind::Cancelled);
  EXPECT_EQ(kind_of([&] { meter.start("obs"); }), ErrorKind::Cancelled);
  EXPECT_EQ(meter.done(), 7);
}

}  // namespace
}  // namespace lamella::plan
