#include <gtest/gtest.h>

#include <fstream>

#include "array/zarr/open.h"
#include "base/json.h"

namespace lamella::array {
namespace {

const std::string kFolder = LAMELLA_TEST_DATA "/zarr/";

std::string hex(const Buffer& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::byte byte : bytes.bytes()) {
    out += kDigits[static_cast<int>(byte) >> 4];
    out += kDigits[static_cast<int>(byte) & 15];
  }
  return out;
}

class ZarrFixture : public testing::TestWithParam<std::string> {
 protected:
  Node root() const { return zarr::open_root(store::open_zip(kFolder + GetParam() + ".zip")); }
};

// tests/array/zarr/make_fixtures.py wrote the stores and what zarr-python reads from them.
TEST_P(ZarrFixture, HoldsWhatZarrPythonReads) {
  std::ifstream in(kFolder + GetParam() + ".json");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Node root = this->root();
  ASSERT_TRUE(root.group);
  EXPECT_EQ("v" + std::to_string(zarr::version(root)), GetParam());
  const Json all = parse_json(text, "expected");
  EXPECT_GT(all.size(), 50u);
  for (const auto& [path, expected] : all.items()) {
    SCOPED_TRACE(path);
    try {
      const Node node = root.group->at(path);
      ASSERT_TRUE(node.array);
      EXPECT_EQ(Json(node.array->spec().shape), expected["shape"]);
      Heap heap;
      const Buffer data = node.array->read_all(heap);
      if (!expected.contains("strings")) {
        EXPECT_EQ(hex(data), expected["hex"]);
        continue;
      }
      const auto* refs = reinterpret_cast<const StringRef*>(data.data());
      Json strings = Json::array();
      for (int64_t i = 0; i < data.size() / 16; ++i) {
        strings.push_back(std::string(refs[i].data ? refs[i].data : "", static_cast<size_t>(refs[i].size)));
      }
      EXPECT_EQ(strings, expected["strings"]);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_P(ZarrFixture, KeepsAttributesAndGroups) {
  const Node root = this->root();
  const Attributes& attributes = root.attributes();
  EXPECT_EQ(attributes.find("n")->value, INT64_MAX);
  EXPECT_EQ(attributes.string("text"), "gr\xc3\xbcn");
  EXPECT_TRUE(std::isnan(attributes.find("nan")->value.get<double>()));
  EXPECT_EQ(attributes.find("none")->value, nullptr);
  EXPECT_EQ(attributes.find("map")->value.dump(), R"({"b":1,"a":{}})");
  EXPECT_EQ(root.group->at("group with words/inner").attributes().find("deep")->value, true);
  EXPECT_FALSE(root.group->child("nothing"));
}

INSTANTIATE_TEST_SUITE_P(Versions, ZarrFixture, testing::Values("v2", "v3"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lamella::array
