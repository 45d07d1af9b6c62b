#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace lamella {
namespace {

TEST(Json, TakesPythonsTokens) {
  const Json value =
      parse_json(R"({"a": NaN, "b": [Infinity, -Infinity, 1], "NaN": "NaN", "c": "-Infinity \" NaN"})", "t");
  EXPECT_TRUE(std::isnan(value["a"].get<double>()));
  EXPECT_EQ(value["b"][0].get<double>(), INFINITY);
  EXPECT_EQ(value["b"][1].get<double>(), -INFINITY);
  EXPECT_EQ(value["b"][2].get<int>(), 1);
  EXPECT_EQ(value["NaN"], "NaN");
  EXPECT_EQ(value["c"], "-Infinity \" NaN");
  EXPECT_TRUE(std::isnan(parse_json("NaN", "t").get<double>()));
}

TEST(Json, WritesThemAgain) {
  const std::string text = R"({"a": NaN, "b": [Infinity, -Infinity, 1.5, 2, "NaN"], "c": {}, "d": []})";
  EXPECT_EQ(dump_json(parse_json(text, "t"), -1), text);
  EXPECT_EQ(dump_json(parse_json(R"({"a":[1,{"b":null}]})", "t")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ]\n}");
}

TEST(Json, KeepsOrderAndSixtyFourBits) {
  const std::string text = R"({"z": 18446744073709551615, "a": -9223372036854775808, "m": 0.1, "é": "ü\u0001\n"})";
  EXPECT_EQ(dump_json(parse_json(text, "t"), -1), text);
}

TEST(Json, BrokenDocumentsAreCorruptAndNamed) {
  const std::string deep(300, '['), deep_enough = std::string(250, '[') + std::string(250, ']');
  EXPECT_NO_THROW(parse_json(deep_enough, "t"));
  for (const std::string& text :
       {std::string(""), std::string("{"), std::string("[1,]"), std::string("nan"), std::string("NaNs"),
        std::string("-NaN"), std::string("{\"a\": 1} x"), std::string("\"\xff\""), deep, std::string(1000000, '['),
        std::string("\"open"), std::string("\"\\")}) {
    try {
      parse_json(text, "some/zarr.json");
      ADD_FAILURE() << text.substr(0, 20);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
      EXPECT_EQ(std::string(error.what()).rfind("some/zarr.json", 0), 0u) << error.what();
    }
  }
}

TEST(Json, BytesThatAreNoUtf8AreReplaced) {
  Json value = Json::object();
  value["k\xff"] = "v\xff";
  EXPECT_NO_THROW(parse_json(dump_json(value), "t"));
}

}  // namespace
}  // namespace lamella
