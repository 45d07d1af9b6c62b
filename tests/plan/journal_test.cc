#include "plan/journal.h"

#include <gtest/gtest.h>

#include "store/scratch.h"

namespace lamella::plan {
namespace {

using store::kind_of;
using store::read_path;
using store::Scratch;
using store::write_path;

constexpr size_t kEntryBytes = 48;

Journal::Entry entry(int64_t i) { return {i / 4, i * 7 % 5, {i * 100, i + 1, static_cast<uint32_t>(i % 3)}}; }

void expect_entry(Journal& journal, int64_t i) {
  const Journal::Entry wanted = entry(i);
  const auto placement = journal.replay(wanted.array, wanted.unit);
  ASSERT_TRUE(placement) << i;
  EXPECT_EQ(placement->position, wanted.placement.position);
  EXPECT_EQ(placement->size, wanted.placement.size);
  EXPECT_EQ(placement->skip_codecs, wanted.placement.skip_codecs);
}

class Journals : public ::testing::Test {
 protected:
  void write(int64_t n, bool resume = false) {
    Journal journal(path, resume);
    for (int64_t i = 0; i < n; ++i) journal.record(entry(i));
  }
  int64_t replayed() {
    Journal journal(path, true);
    int64_t n = 0;
    for (; journal.replaying(); ++n) expect_entry(journal, n);
    return n;
  }

  Scratch scratch;
  std::string path = scratch.path("journal");
};

TEST_F(Journals, ReplayInOrderAndOnce) {
  write(10);
  Journal journal(path, true);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(journal.replaying());
    expect_entry(journal, i);
  }
  EXPECT_FALSE(journal.replaying());
  EXPECT_FALSE(journal.replay(0, 0));
}

TEST_F(Journals, StartEmptyWithoutResume) {
  write(3);
  {
    Journal journal(path, false);
    EXPECT_FALSE(journal.replaying());
    EXPECT_FALSE(journal.replay(0, 0));
  }
  EXPECT_EQ(replayed(), 0);
}

TEST_F(Journals, KeepWhatWasReplayedAndAddToIt) {
  write(3);
  {
    Journal journal(path, true);
    expect_entry(journal, 0);  // the run is killed again before it has come as far as the first one
  }
  EXPECT_EQ(replayed(), 3);
  {
    Journal journal(path, true);
    for (int64_t i = 0; i < 3; ++i) expect_entry(journal, i);
    for (int64_t i = 3; i < 7; ++i) journal.record(entry(i));
  }
  EXPECT_EQ(replayed(), 7);
}

TEST_F(Journals, DropATornLastEntry) {
  write(5);
  const std::string whole = read_path(path);
  ASSERT_EQ(whole.size(), 5 * kEntryBytes);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_path(path, whole.substr(0, size));
    ASSERT_EQ(replayed(), static_cast<int64_t>(size / kEntryBytes)) << size;
  }
}

TEST_F(Journals, EndAtADamagedEntry) {
  write(5);
  const std::string whole = read_path(path);
  for (size_t at = 2 * kEntryBytes; at < 3 * kEntryBytes; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_path(path, damaged);
    ASSERT_EQ(replayed(), 2) << at;
  }
}

TEST_F(Journals, RefuseToReplayAnotherRun) {
  write(2);
  Journal journal(path, true);
  EXPECT_EQ(kind_of([&] { journal.replay(1, 0); }), ErrorKind::Invalid);
  EXPECT_EQ(kind_of([&] { journal.replay(0, 1); }), ErrorKind::Invalid);
  expect_entry(journal, 0);
}

TEST_F(Journals, OfNoFileIsEmpty) {
  EXPECT_EQ(replayed(), 0);
  EXPECT_EQ(kind_of([&] { Journal(scratch.path("nowhere/journal"), false); }), ErrorKind::NotFound);
}

}  // namespace
}  // namespace lamella::plan
