// What holds for every store. A new store needs one row in kStores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "counting_store.h"
#include "scratch.h"
#include "store/store.h"

namespace lamella::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Kind {
  const char* name;
  std::shared_ptr<Store> (*create)(const std::string& path);
  // The store that reads what was written; the writer is finished and gone, unless the bytes are its own.
  std::shared_ptr<Store> (*reopen)(std::shared_ptr<Store> writer, const std::string& path);
  bool rewrites;  // values can be replaced and cut
};

const Kind kStores[] = {
    {"directory", create_directory,
     [](std::shared_ptr<Store>, const std::string& path) { return open_directory(path); }, true},
    {"zip", create_zip, [](std::shared_ptr<Store>, const std::string& path) { return open_zip(path); }, false},
    {"memory", [](const std::string& path) { return memory_store(path); },
     [](std::shared_ptr<Store> writer, const std::string&) { return writer; }, true},
};

class StoreSuite : public ::testing::TestWithParam<Kind> {
 protected:
  StoreSuite() : path_(scratch_.path("store")), writer_(GetParam().create(path_)) {}

  void write(const std::string& key, const std::string& value) { writer_->write(key, bytes_of(value)); }
  void append(const std::string& key, const std::string& value) { writer_->append(key, bytes_of(value)); }
  std::shared_ptr<Store> finished() {
    writer_->finish();
    return GetParam().reopen(std::move(writer_), path_);
  }
  static std::string value(const Store& store, const std::string& key) {
    const auto bytes = store.read(key);
    return bytes ? text_of(bytes->bytes()) : "(absent)";
  }

  Scratch scratch_;
  std::string path_;
  std::shared_ptr<Store> writer_;
};

TEST_P(StoreSuite, GivesBackWhatWasWritten) {
  const std::map<std::string, std::string> values = {{"a", "one"},
                                                     {"empty", ""},
                                                     {"deep/er/and/deeper", random_text(100000, 1)},
                                                     {"deep/.zattrs", "{}"},
                                                     {"c/0/1", std::string(70000, '\0')},
                                                     {"Ünï cödé", "text"}};
  for (const auto& [key, text] : values) write(key, text);
  const auto store = finished();
  for (const auto& [key, text] : values) {
    EXPECT_EQ(value(*store, key), text) << key;
    EXPECT_EQ(store->size_of(key), static_cast<int64_t>(text.size())) << key;
    const auto file = store->open(key);
    ASSERT_TRUE(file) << key;
    EXPECT_EQ(file->size(), static_cast<int64_t>(text.size()));
    const size_t middle = text.size() / 2, part = text.size() / 4;
    EXPECT_EQ(text_of(file->read(static_cast<int64_t>(middle), static_cast<int64_t>(part)).bytes()),
              text.substr(middle, part));
  }
}

TEST_P(StoreSuite, AbsenceIsNoError) {
  write("a/b", "x");
  const auto store = finished();
  for (const char* key : {"c", "a/c", "a", "a/b/c", "a/bb", "A"}) {
    EXPECT_EQ(store->open(key), nullptr) << key;
    EXPECT_FALSE(store->read(key)) << key;
    EXPECT_FALSE(store->size_of(key)) << key;
  }
  EXPECT_THAT(store->list("c"), IsEmpty());
  EXPECT_THAT(store->list("a/b"), IsEmpty());
}

TEST_P(StoreSuite, ListsSortedBytewiseWithFoldersMarked) {
  for (const char* key : {"b", "a/2", "a/10", "a/x/y/z", "a-b", "a.b", "Z", "abc/d"}) write(key, "x");
  const auto store = finished();
  EXPECT_THAT(store->list(""), ElementsAre("Z", "a-b", "a.b", "a/", "abc/", "b"));
  EXPECT_THAT(store->list("a"), ElementsAre("10", "2", "x/"));
  EXPECT_THAT(store->list("a/x"), ElementsAre("y/"));
}

TEST_P(StoreSuite, AnEmptyStoreListsNothing) { EXPECT_THAT(finished()->list(""), IsEmpty()); }

TEST_P(StoreSuite, ValuesGrow) {
  append("grown", "one");
  append("grown", "");
  append("grown", " two");
  append("nothing", "");
  const auto store = finished();
  EXPECT_EQ(value(*store, "grown"), "one two");
  EXPECT_EQ(value(*store, "nothing"), "");
}

TEST_P(StoreSuite, ManyValuesGrowSideBySide) {
  if (!writer_->interleaves()) GTEST_SKIP() << "one at a time";
  // More than a process may have files open, and in an order that defeats a cache of the latest.
  constexpr int kValues = 300, kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kValues; ++i) append("v/" + std::to_string(i), std::to_string(i * round) + ",");
  }
  const auto store = finished();
  for (int i = 0; i < kValues; ++i) {
    std::string expected;
    for (int round = 0; round < kRounds; ++round) expected += std::to_string(i * round) + ",";
    EXPECT_EQ(value(*store, "v/" + std::to_string(i)), expected);
  }
}

TEST_P(StoreSuite, ValuesAreCutAndReplaced) {
  if (!GetParam().rewrites) {
    append("grown", "0123456789");
    EXPECT_EQ(kind_of([&] { writer_->truncate("grown", 4); }), ErrorKind::Unsupported);
    EXPECT_EQ(kind_of([&] { write("grown", "again"); }), ErrorKind::Bug);
    return;
  }
  append("grown", "0123456789");
  writer_->truncate("grown", 4);
  append("grown", "ab");
  append("dropped/value", "x");
  writer_->truncate("dropped/value", 0);
  writer_->truncate("never/there", 0);
  append("both", "grown");
  write("both", "whole");
  append("both", "+");
  write("twice", "first");
  write("twice", "2");
  const auto store = finished();
  EXPECT_EQ(value(*store, "grown"), "0123ab");
  EXPECT_EQ(value(*store, "both"), "whole+");
  EXPECT_EQ(value(*store, "twice"), "2");
  EXPECT_THAT(store->list(""), ElementsAre("both", "grown", "twice"));
}

TEST_P(StoreSuite, RefusesKeysThatLeadOut) {
  for (const char* key : {"", "/a", "a/", "../a", "a/../b", "a//b", "./a", "..", "."}) {
    EXPECT_FALSE(is_key(key)) << key;
    EXPECT_EQ(kind_of([&] { write(key, "x"); }), ErrorKind::Invalid) << key;
    EXPECT_EQ(kind_of([&] { append(key, "x"); }), ErrorKind::Invalid) << key;
  }
  EXPECT_EQ(kind_of([&] { write(std::string("a\0b", 3), "x"); }), ErrorKind::Invalid);
  for (const char* key : {"a", "...", "..a", "a b", "\\", ".zarray"}) EXPECT_TRUE(is_key(key)) << key;
}

TEST_P(StoreSuite, ReadsNeverPassTheEnd) {
  write("a", "0123456789");
  const auto store = finished();
  const auto file = store->open("a");
  constexpr int64_t kMost = INT64_MAX;
  for (const auto& [position, bytes] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 11}, {10, 1}, {11, 0}, {-1, 1}, {kMost, 1}, {kMost - 1, 2}, {INT64_MIN, 1}, {0, kMost}, {5, -1}}) {
    EXPECT_EQ(kind_of([&] { file->read(position, bytes); }), ErrorKind::Corrupt) << position << " " << bytes;
  }
  std::byte out[4];
  for (int64_t position : {int64_t{7}, int64_t{-1}, kMost - 1, INT64_MIN}) {
    EXPECT_EQ(kind_of([&] { file->read_at(position, out); }), ErrorKind::Corrupt) << position;
    EXPECT_EQ(kind_of([&] { file->read_many({{0, out}, {position, out}}); }), ErrorKind::Corrupt) << position;
  }
  EXPECT_EQ(file->read(10, 0).size(), 0);
}

TEST_P(StoreSuite, ReadsManyPieces) {
  const std::string text = random_text(200000, 2);
  write("a", text);
  const auto store = finished();
  const auto file = store->open("a");
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    // In and out of order, overlapping, empty ones among them, with gaps of all sizes.
    std::vector<std::string> outs;
    std::vector<int64_t> positions;
    int64_t at = 0;
    for (int i = 0; i < 400; ++i) {
      const auto bytes = static_cast<int64_t>(random() % (round % 2 == 0 ? 300 : 3));
      at =
          random() % 20 == 0 ? static_cast<int64_t>(random() % text.size()) : at + static_cast<int64_t>(random() % 400);
      at = std::min(at, static_cast<int64_t>(text.size()) - bytes);
      positions.push_back(at);
      outs.emplace_back(static_cast<size_t>(bytes), '?');
      at += bytes;
    }
    std::vector<ReadFile::Piece> pieces;
    for (size_t i = 0; i < outs.size(); ++i) {
      pieces.push_back({positions[i], {reinterpret_cast<std::byte*>(outs[i].data()), outs[i].size()}});
    }
    file->read_many(pieces);
    for (size_t i = 0; i < outs.size(); ++i) {
      ASSERT_EQ(outs[i], text.substr(static_cast<size_t>(positions[i]), outs[i].size())) << round << " " << i;
    }
  }
  file->read_many({});
  file->read_many({{0, {}}});
  file->read_many({{static_cast<int64_t>(text.size()), {}}, {5, {}}});
}

TEST_P(StoreSuite, ServesManyThreads) {
  if (writer_->interleaves()) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) write("w/" + std::to_string(i % 7) + "/" + std::to_string(t * 50 + i), "x");
        for (int i = 0; i < 50; ++i) append("g/" + std::to_string(t), std::to_string(i));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  write("a", random_text(5000, 4));
  const auto store = finished();
  const std::string expected = value(*store, "a");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(value(*store, "a"), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t written = 0;
  for (const std::string& folder : store->list("w")) written += store->list("w/" + folder.substr(0, 1)).size();
  EXPECT_EQ(written, store->list("g").empty() ? 0u : 200u);
}

TEST_P(StoreSuite, APartIsAStore) {
  write("x/y/a", "one");
  write("x/y/b/c", "two");
  write("x/yy", "other");
  const auto store = finished();
  const auto part = sub_store(store, "x/y");
  EXPECT_EQ(value(*part, "a"), "one");
  EXPECT_EQ(value(*part, "b/c"), "two");
  EXPECT_EQ(part->size_of("a"), 3);
  EXPECT_THAT(part->list(""), ElementsAre("a", "b/"));
  EXPECT_THAT(part->list("b"), ElementsAre("c"));
  EXPECT_EQ(part->open("x"), nullptr);
  EXPECT_EQ(kind_of([&] { part->write("a", {}); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { part->finish(); }), ErrorKind::Unsupported);
}

TEST_P(StoreSuite, CanBeCounted) {
  write("a", "0123456789");
  const CountingStore store(finished(), std::chrono::microseconds(1));
  std::byte out[3];
  const auto file = store.open("a");
  file->read_at(2, out);
  file->read_many({{0, out}, {5, out}});
  EXPECT_EQ(store.open("b"), nullptr);
  EXPECT_EQ(store.requests().opens, 2);
  EXPECT_EQ(store.requests().reads, 2);
  EXPECT_EQ(store.requests().bytes, 9);
}

INSTANTIATE_TEST_SUITE_P(All, StoreSuite, ::testing::ValuesIn(kStores),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lamella::store
