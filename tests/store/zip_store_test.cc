#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "scratch.h"
#include "store/store.h"

namespace lamella::store {
namespace {

std::string repeated(const std::string& name, size_t size) {
  std::string text;
  while (text.size() < size) text += name;
  return text.substr(0, size);
}

std::string small_zip(const Scratch& scratch) {
  const std::string path = scratch.path("small.zip");
  const auto zip = create_zip(path);
  zip->write("a", bytes_of(repeated("a", 40)));
  zip->append("b/c", bytes_of(repeated("b/c", 30)));
  zip->append("b/c", bytes_of(repeated("b/c", 30)));
  zip->write("empty", {});
  zip->finish();
  return read_path(path);
}

std::shared_ptr<Store> open_bytes(const std::string& text) {
  const ConstBytes bytes = bytes_of(text);
  return open_zip(memory_file({bytes.begin(), bytes.end()}, "test.zip"));
}

// Everything in it; throws what the store throws.
std::vector<std::pair<std::string, std::string>> contents(const Store& store, const std::string& prefix = "") {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& name : store.list(prefix)) {
    const std::string key = prefix.empty() ? name : prefix + "/" + name;
    if (key.back() == '/') {
      for (auto& item : contents(store, key.substr(0, key.size() - 1))) out.push_back(std::move(item));
    } else {
      out.emplace_back(key, text_of(store.read(key)->bytes()));
    }
  }
  return out;
}

TEST(ZipStore, TheSameBytesAtEveryRun) {
  const Scratch one, two;
  EXPECT_EQ(small_zip(one), small_zip(two));
}

TEST(ZipStore, CutAnywhereItIsCorrupt) {
  const Scratch scratch;
  const std::string whole = small_zip(scratch);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(kind_of([&] { open_bytes(whole.substr(0, size)); }), ErrorKind::Corrupt) << size;
  }
}

TEST(ZipStore, AFlippedByteIsAnErrorOrShowsNowhere) {
  const Scratch scratch;
  const std::string whole = small_zip(scratch);
  const auto good = contents(*open_bytes(whole));
  ASSERT_EQ(good.size(), 3u);
  int errors = 0, renamed = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ flip);
      try {
        // Names are under no checksum; values are.
        const auto found = contents(*open_bytes(broken));
        for (const auto& [key, value] : found) {
          const bool known =
              std::any_of(good.begin(), good.end(), [&](const auto& item) { return item.second == value; });
          EXPECT_TRUE(known) << at;
        }
        renamed += found != good;
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Unsupported) << error.what();
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 400);
  EXPECT_LT(renamed, 100);
}

TEST(ZipStore, ADamagedValueIsFoundWhenReadWhole) {
  const Scratch scratch;
  std::string broken = small_zip(scratch);
  const size_t at = broken.find(repeated("a", 40));
  ASSERT_NE(at, std::string::npos);
  broken[at + 3] = 'X';
  const auto store = open_bytes(broken);
  EXPECT_EQ(kind_of([&] { store->read("a"); }), ErrorKind::Corrupt);
  EXPECT_EQ(text_of(store->open("a")->read(3, 1).bytes()), "X");
  EXPECT_TRUE(store->read("b/c"));
}

TEST(ZipStore, AnEmptyAppendKeepsTheChecksum) {
  const Scratch scratch;
  const auto zip = create_zip(scratch.path("z.zip"));
  zip->append("a", bytes_of("one"));
  zip->append("a", {});
  zip->finish();
  EXPECT_EQ(text_of(open_zip(scratch.path("z.zip"))->read("a")->bytes()), "one");
}

TEST(ZipStore, IsNotThereBeforeItIsFinished) {
  const Scratch scratch;
  {
    const auto zip = create_zip(scratch.path("z.zip"));
    zip->write("a", bytes_of("one"));
  }
  EXPECT_EQ(kind_of([&] { open_zip(scratch.path("z.zip")); }), ErrorKind::Corrupt);
  const auto zip = create_zip(scratch.path("z.zip"));  // begins again
  zip->write("a", bytes_of("two"));
  zip->finish();
  EXPECT_EQ(text_of(open_zip(scratch.path("z.zip"))->read("a")->bytes()), "two");
  EXPECT_EQ(kind_of([&] { open_zip(scratch.path("z.zip"))->write("b", {}); }), ErrorKind::Unsupported);
}

// --- Python's zipfile and zarr-python's ZipStore, as writers and as readers.

class ZipPeers : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("LAMELLA_TEST_PYTHON");
    if (python == nullptr || *python == '\0') GTEST_SKIP() << "LAMELLA_TEST_PYTHON names no Python";
    python_ = python;
  }
  int run(const std::string& verb, const std::string& path) const {
    const std::string script = std::string(LAMELLA_TEST_DATA) + "/../store/peers.py";
    return std::system(("'" + python_ + "' '" + script + "' " + verb + " '" + path + "' > /dev/null").c_str());
  }

  Scratch scratch_;
  std::string python_;
};

TEST_F(ZipPeers, ReadWhatWeWrite) {
  small_zip(scratch_);
  EXPECT_EQ(run("check", scratch_.path("small.zip")), 0);
  for (int members : {0, 65534, 65535}) {
    const std::string path = scratch_.path("many.zip");
    const auto zip = create_zip(path);
    for (int i = 0; i < members; ++i) {
      const std::string key = "k/" + std::to_string(i);
      zip->write(key, bytes_of(repeated(key, static_cast<size_t>(i % 3) * 4)));
    }
    zip->finish();
    EXPECT_EQ(run("check", path), 0) << members;
    const auto store = open_zip(path);
    EXPECT_EQ(store->list("k").size(), static_cast<size_t>(members));
    if (members == 0) continue;
    EXPECT_EQ(text_of(store->read("k/65532")->bytes()), "");
    EXPECT_EQ(text_of(store->read("k/65531")->bytes()), "k/65531k");
  }
}

TEST_F(ZipPeers, WriteWhatWeRead) {
  ASSERT_EQ(run("make", scratch_.path("")), 0);
  const std::string two = repeated("two", 3000);
  for (const char* name : {"stored", "deflated", "comment", "streamed", "folders", "twice", "many"}) {
    const auto store = open_zip(scratch_.path(std::string(name) + ".zip"));
    EXPECT_EQ(text_of(store->read("a")->bytes()), "one") << name;
    EXPECT_EQ(text_of(store->read("b/c")->bytes()), two) << name;
    EXPECT_EQ(store->size_of("b/c"), 3000) << name;
    EXPECT_EQ(store->list("b"), std::vector<std::string>{"c"}) << name;
    EXPECT_EQ(text_of(store->open("b/c")->read(2999, 1).bytes()), "o") << name;
  }
  EXPECT_EQ(open_zip(scratch_.path("many.zip"))->list("n").size(), 66000u);
  EXPECT_THAT(open_zip(scratch_.path("odd.zip"))->list(""), ::testing::ElementsAre("back/", "good"));
  const auto unreadable = [&](const char* name) { return kind_of([&] { open_zip(scratch_.path(name))->open("a"); }); };
  EXPECT_EQ(unreadable("bzip2.zip"), ErrorKind::Unsupported);
  EXPECT_EQ(unreadable("encrypted.zip"), ErrorKind::Unsupported);
}

TEST_F(ZipPeers, BrokenDeflatedArchivesAreErrors) {
  ASSERT_EQ(run("make", scratch_.path("")), 0);
  for (const char* name : {"deflated.zip", "streamed.zip"}) {
    const std::string whole = read_path(scratch_.path(name));
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(kind_of([&] { open_bytes(whole.substr(0, size)); }), ErrorKind::Corrupt) << size;
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      for (int flip : {1, 0x10, 0xff}) {
        std::string broken = whole;
        broken[at] = static_cast<char>(broken[at] ^ flip);
        try {
          for (const auto& [key, value] : contents(*open_bytes(broken))) {
            EXPECT_TRUE(value == "one" || value == repeated("two", 3000)) << at;
          }
        } catch (const Error&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace lamella::store
