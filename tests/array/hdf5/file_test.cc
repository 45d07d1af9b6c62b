#include "array/hdf5/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "array/hdf5/walk.h"
#include "array/sink.h"
#include "base/json.h"

namespace lamella::array {
namespace {

const std::string kFolder = LAMELLA_TEST_DATA "/hdf5/";

std::vector<std::byte> load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string hex(const Buffer& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::byte byte : bytes.bytes()) {
    out += kDigits[static_cast<int>(byte) >> 4];
    out += kDigits[static_cast<int>(byte) & 15];
  }
  return out;
}

class Hdf5File : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Group> root() const { return hdf5::open_file(store::open_local(kFolder + GetParam() + ".h5")); }
};

// tests/array/hdf5/make_fixtures.py wrote the files and, through h5py, what they hold.
TEST_P(Hdf5File, HoldsWhatH5pyReads) {
  std::ifstream in(kFolder + GetParam() + ".json");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto group = root();
  const Json all = parse_json(text, "expected");
  EXPECT_GT(all.size(), 40u);
  for (const auto& [path, expected] : all.items()) {
    SCOPED_TRACE(path);
    const Node node = group->at(path);
    ASSERT_TRUE(node.array);
    EXPECT_EQ(Json(node.array->spec().shape), expected["shape"]);
    Heap heap;
    const Buffer data = node.array->read_all(heap);
    if (expected.contains("strings")) {
      const auto* refs = reinterpret_cast<const StringRef*>(data.data());
      Json strings = Json::array();
      for (int64_t i = 0; i < data.size() / 16; ++i)
        strings.push_back(std::string(refs[i].data ? refs[i].data : "", refs[i].size));
      EXPECT_EQ(strings, expected["strings"]);
    } else if (expected.contains("hex")) {
      EXPECT_EQ(hex(data), expected["hex"]);
    } else {
      int64_t sum = 0;
      for (std::byte byte : data.bytes()) sum += static_cast<int>(byte);
      EXPECT_EQ(data.size(), expected["bytes"].get<int64_t>());
      EXPECT_EQ(sum, expected["sum"].get<int64_t>());
    }
  }
}

TEST_P(Hdf5File, HasAttributes) {
  const Node node = root()->at("attributes");
  const Attributes& attributes = node.attributes();
  EXPECT_EQ(attributes.find("text")->value, "grün");
  EXPECT_EQ(attributes.find("list")->value, Json({"a", "bb", ""}));
  EXPECT_EQ(attributes.find("big")->value, ~uint64_t{0});
  EXPECT_EQ(attributes.find("half")->value, 1.5);
  EXPECT_EQ(attributes.find("swapped")->value, Json({1, 2}));
  EXPECT_TRUE(attributes.find("swapped")->type->big_endian);
  EXPECT_EQ(attributes.find("yes")->value, true);
  EXPECT_EQ(attributes.find("matrix")->value, Json({{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(attributes.find("complex")->value, Json({1.0, 2.0}));
  EXPECT_TRUE(attributes.find("nothing")->null_space);
  EXPECT_EQ(attributes.find("reference")->value, "/attributes/target");
  EXPECT_EQ(attributes.find("reference")->type->kind, TypeKind::Reference);
  EXPECT_EQ(attributes.find("absent"), nullptr);
}

TEST_P(Hdf5File, FollowsLinks) {
  const auto group = root();
  EXPECT_TRUE(group->at("tree/soft/c/leaf").array);
  EXPECT_TRUE(group->at("tree/soft_absolute").array);
  EXPECT_TRUE(group->at("tree/hard").array);
  const auto tree = group->child("tree").group;
  EXPECT_FALSE(tree->child("dangling"));
  const std::vector<std::string> names = tree->children();
  EXPECT_EQ(std::count(names.begin(), names.end(), "dangling"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "outside"), 1);
  try {
    tree->child("outside");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  }
  EXPECT_EQ(group->at("tree/many").group->children().size(), 40u);
  EXPECT_EQ(group->at("tree/ordered").group->children(), (std::vector<std::string>{"z", "m", "a", "q", "b"}));
  EXPECT_EQ(group->at("tree/ordered").attributes().begin()->first, "z");
  EXPECT_EQ(group->at("tree/dense").group->children()[1], "g7");
  EXPECT_EQ(group->at("tree/dense").attributes().find("large")->value.size(), 600u);
}

TEST_P(Hdf5File, NamesACommittedDatatype) {
  try {
    root()->child("committed");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("/committed: is a committed datatype"), std::string::npos) << error.what();
  }
}

// An attribute that cannot be read is in nobody's way until it is asked for, or would be lost.
TEST(Hdf5Attribute, OfAnUnreadTypeFailsWhenItIsAskedFor) {
  std::vector<std::byte> bytes = load(kFolder + "earliest.h5");
  const std::string name = "swapped";  // then a zero and the type, class 0 in version 1
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  const auto found = std::string_view(begin, bytes.size()).find(name + '\0' + '\x10');
  ASSERT_NE(found, std::string_view::npos);
  bytes[found + name.size() + 1] = std::byte{0x12};  // a time
  const auto root = hdf5::open_file(store::memory_file(std::move(bytes), "odd.h5"));

  const Node node = root->at("attributes");
  EXPECT_EQ(node.attributes().find("text")->value, "grün");
  const std::string said = "odd.h5: /attributes: attribute 'swapped': time elements are not read";
  const auto expect_refused = [&](const auto& body) {
    try {
      body();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  };
  expect_refused([&] { node.attributes().find(name); });
  const std::string target = testing::TempDir() + "lamella-odd-" + std::to_string(getpid());
  for (SinkFormat format : {SinkFormat::Hdf5, SinkFormat::Zarr2, SinkFormat::Zarr3}) {
    const auto sink = create_sink(target, {format});
    expect_refused([&] { sink->check_group("g", node.attributes()); });
    std::filesystem::remove_all(target);
  }
}

TEST_P(Hdf5File, ResolvesStringsInRecords) {
  const auto array = root()->at("types/record_strings").array;
  Heap heap;
  const Buffer data = array->read_all(heap);
  StringRef ref;
  std::memcpy(&ref, data.data() + array->spec().type.size, sizeof(ref));
  EXPECT_EQ(std::string(ref.data, ref.size), "two");
}

TEST_P(Hdf5File, TruncatedThrows) {
  const std::vector<std::byte> whole = load(kFolder + GetParam() + ".h5");
  for (size_t size = 0; size < whole.size(); size += 997) {
    EXPECT_THROW(hdf5::open_file(store::memory_file({whole.begin(), whole.begin() + size}, "cut.h5")), Error);
  }
}

TEST_P(Hdf5File, BrokenBytesReadOrThrow) {
  const std::vector<std::byte> whole = load(kFolder + GetParam() + ".h5");
  for (size_t at = 0; at < whole.size(); at += 499) {
    for (unsigned char flip : {0x01, 0xff}) {
      std::vector<std::byte> broken = whole;
      broken[at] ^= std::byte{flip};
      try {
        const auto group = hdf5::open_file(store::memory_file(std::move(broken), "broken.h5"));
        int left = 1000;
        read_everything(*group, int64_t{1} << 24, left, [](const Error&) {});
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::Bug) << error.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, Hdf5File, testing::Values("earliest", "v108", "v110", "latest"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lamella::array
