#include "array/zarr/open.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "codec/checksums.h"

namespace lamella::array {
namespace {

using Values = std::map<std::string, std::string>;

std::shared_ptr<store::Store> store_of(const Values& values) {
  auto store = store::memory_store("test");
  for (const auto& [key, value] : values) {
    store->write(key, {reinterpret_cast<const std::byte*>(value.data()), value.size()});
  }
  return store;
}

std::string document_v3(const Json& changes) {
  Json document = {{"zarr_format", 3},
                   {"node_type", "array"},
                   {"shape", {4, 2}},
                   {"data_type", "uint8"},
                   {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", {2, 2}}}}}},
                   {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
                   {"fill_value", 9},
                   {"codecs", {{{"name", "bytes"}}}}};
  if (!changes.is_null()) document.update(changes);
  return document.dump();
}

std::string document_v2(const Json& changes) {
  Json document = {{"zarr_format", 2}, {"shape", {4, 2}}, {"chunks", {2, 2}},   {"dtype", "|u1"},
                   {"fill_value", 9},  {"order", "C"},    {"filters", nullptr}, {"compressor", nullptr}};
  if (!changes.is_null()) document.update(changes);
  return document.dump();
}

std::string sharded_document(const std::string& location, Json inner, bool checksum = true) {
  Json index = {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}};
  if (checksum) index.push_back({{"name", "crc32c"}});
  const Json sharding = {
      {"name", "sharding_indexed"},
      {"configuration",
       {{"chunk_shape", {2, 2}}, {"codecs", std::move(inner)}, {"index_codecs", index}, {"index_location", location}}}};
  return document_v3(
      {{"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", {4, 2}}}}}}, {"codecs", {sharding}}});
}

std::string numbers(std::initializer_list<uint64_t> list) {
  std::string out;
  for (const uint64_t n : list) out.append(reinterpret_cast<const char*>(&n), 8);
  return out;
}

std::string with_checksum(std::string bytes) {
  const uint32_t sum = codec::crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  return bytes.append(reinterpret_cast<const char*>(&sum), 4);
}

std::string text_of(const Node& node) {
  EXPECT_TRUE(node.array);
  Heap heap;
  const Buffer data = node.array->read_all(heap);
  return {reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.size())};
}

std::string read_root(const Values& values) { return text_of(zarr::open_root(store_of(values))); }

template <class Body>
void expect_error(ErrorKind kind, const std::string& with, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "no error with " << with;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(with), std::string::npos) << error.what();
  }
}

const Json kBytes = {{{"name", "bytes"}}};

TEST(ZarrOpen, ShardIndexAtTheEnd) {
  // The second chunk first, a gap between them.
  const std::string shard =
      "5678"
      "gap"
      "1234" +
      with_checksum(numbers({7, 4, 0, 4}));
  EXPECT_EQ(read_root({{"zarr.json", sharded_document("end", kBytes)}, {"c/0/0", shard}}), "12345678");
}

TEST(ZarrOpen, ShardIndexAtTheStart) {
  // Offsets count from the start of the shard; both entries share a range.
  const std::string shard = with_checksum(numbers({36, 4, 36, 4})) + "1234";
  EXPECT_EQ(read_root({{"zarr.json", sharded_document("start", kBytes)}, {"c/0/0", shard}}), "12341234");
  const std::string plain = numbers({32, 4, ~uint64_t{0}, ~uint64_t{0}}) + "1234";
  EXPECT_EQ(read_root({{"zarr.json", sharded_document("start", kBytes, false)}, {"c/0/0", plain}}), "1234\t\t\t\t");
}

TEST(ZarrOpen, AbsentShardIsFill) {
  const Node root = zarr::open_root(store_of({{"zarr.json", sharded_document("end", kBytes)}}));
  EXPECT_EQ(text_of(root), "\t\t\t\t\t\t\t\t");
  EXPECT_EQ(root.array->stored_chunks(), 0);
  EXPECT_EQ(root.array->spec().shards, (Shape{4, 2}));
  EXPECT_EQ(root.array->spec().chunks, (Shape{2, 2}));
}

TEST(ZarrOpen, NestedShards) {
  const Json inner = {{{"name", "sharding_indexed"},
                       {"configuration",
                        {{"chunk_shape", {1, 2}},
                         {"codecs", kBytes},
                         {"index_codecs", {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}}}}}}};
  const std::string one =
      "12"
      "34" +
      numbers({0, 2, 2, 2});
  const std::string two = "56" + numbers({0, 2, ~uint64_t{0}, ~uint64_t{0}});
  const std::string shard = one + two + with_checksum(numbers({0, one.size(), one.size(), two.size()}));
  EXPECT_EQ(read_root({{"zarr.json", sharded_document("end", inner)}, {"c/0/0", shard}}), "123456\t\t");
}

TEST(ZarrOpen, BrokenShards) {
  const std::string document = sharded_document("end", kBytes);
  const auto read = [&](const std::string& shard) {
    return [=] { read_root({{"zarr.json", document}, {"c/0/0", shard}}); };
  };
  std::string damaged = "12345678" + with_checksum(numbers({0, 4, 4, 4}));
  damaged[10] ^= 1;
  expect_error(ErrorKind::Corrupt, "c/0/0", read(damaged));
  expect_error(ErrorKind::Corrupt, "c/0/0", read("short"));
  expect_error(ErrorKind::Corrupt, "c/0/0", read(""));
  expect_error(ErrorKind::Corrupt, "beyond the end", read("1234" + with_checksum(numbers({0, 4, 40, 4}))));
  expect_error(ErrorKind::Corrupt, "beyond the end", read("1234" + with_checksum(numbers({0, 4, ~uint64_t{0}, 4}))));
  expect_error(ErrorKind::Corrupt, "chunk (1, 0)", read("1234" + with_checksum(numbers({0, 4, 0, 3}))));
}

TEST(ZarrOpen, KeyEncodings) {
  const auto encoding = [](const char* name, const char* separator) {
    return document_v3({{"chunk_key_encoding", {{"name", name}, {"configuration", {{"separator", separator}}}}}});
  };
  EXPECT_EQ(read_root({{"zarr.json", encoding("default", "/")}, {"c/1/0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{"zarr.json", encoding("default", ".")}, {"c.1.0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{"zarr.json", encoding("v2", ".")}, {"1.0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{"zarr.json", encoding("v2", "/")}, {"1/0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{"zarr.json", document_v3({{"chunk_key_encoding", "v2"}})}, {"1.0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{".zarray", document_v2({})}, {"1.0", "1234"}}), "\t\t\t\t1234");
  EXPECT_EQ(read_root({{".zarray", document_v2({{"dimension_separator", "/"}})}, {"1/0", "1234"}}), "\t\t\t\t1234");
  const Json scalar = {{"shape", Json::array()},
                       {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", Json::array()}}}}}};
  EXPECT_EQ(read_root({{"zarr.json", document_v3(scalar)}, {"c", "x"}}), "x");
  EXPECT_EQ(read_root({{".zarray", document_v2({{"shape", Json::array()}, {"chunks", Json::array()}})}, {"0", "x"}}),
            "x");
}

TEST(ZarrOpen, OldSpellings) {
  EXPECT_EQ(read_root({{"zarr.json", document_v3({{"codecs", {"bytes"}}, {"storage_transformers", Json::array()}})},
                       {"c/1/0", "1234"}}),
            "\t\t\t\t1234");
  EXPECT_EQ(read_root({{"zarr.json", document_v3({{"data_type", {{"name", "uint8"}}}, {"dimension_names", nullptr}})}}),
            std::string(8, '\t'));
  EXPECT_EQ(read_root({{"zarr.json", document_v3({{"extra", {{"must_understand", false}}}})}}), std::string(8, '\t'));
  EXPECT_EQ(read_root({{".zarray", document_v2({{"filters", Json::array()}, {"fill_value", nullptr}})}}),
            std::string(8, '\0'));
  EXPECT_EQ(read_root({{".zarray", document_v2({{"order", "F"}})}, {"0.0", "1324"}, {"1.0", "5768"}}), "12345678");
  EXPECT_EQ(read_root({{".zarray", document_v2({{"shape", {0, 2}}, {"chunks", {0, 2}}})}}), "");
}

TEST(ZarrOpen, EmptyFileIsNamed) {
  expect_error(ErrorKind::Corrupt, "c/0/0", [] { read_root({{"zarr.json", document_v3({})}, {"c/0/0", ""}}); });
  expect_error(ErrorKind::Corrupt, "chunk (1, 0)", [] {
    read_root({{"zarr.json", document_v3({})}, {"c/1/0", "123"}});
  });
}

TEST(ZarrOpen, BrokenMetadataOfV3) {
  const auto refuse = [](ErrorKind kind, const Json& changes, const std::string& with) {
    SCOPED_TRACE(changes.dump());
    expect_error(kind, with, [&] { read_root({{"zarr.json", document_v3(changes)}}); });
    expect_error(kind, "zarr.json", [&] { read_root({{"zarr.json", document_v3(changes)}}); });
  };
  const ErrorKind corrupt = ErrorKind::Corrupt, unsupported = ErrorKind::Unsupported;
  const auto grid = [](const char* name, Json lengths) {
    return Json{{"chunk_grid", {{"name", name}, {"configuration", {{"chunk_shape", std::move(lengths)}}}}}};
  };
  refuse(corrupt, {{"zarr_format", 4}}, "zarr_format");
  refuse(corrupt, {{"node_type", 5}}, "node_type");
  refuse(corrupt, {{"shape", {4, -1}}}, "shape");
  refuse(corrupt, {{"shape", "4"}}, "shape");
  refuse(corrupt, {{"shape", {1.5, 2}}}, "shape");
  refuse(corrupt, {{"shape", {INT64_MAX, INT64_MAX}}}, "");
  refuse(corrupt, {{"shape", {~uint64_t{0}, 1}}}, "shape");
  refuse(corrupt, {{"shape", nullptr}}, "\"shape\" is missing");
  refuse(corrupt, grid("regular", {0, 2}), "chunk_shape");
  refuse(corrupt, grid("regular", {2}), "chunk_shape");
  refuse(corrupt, grid("regular", {INT64_MAX, INT64_MAX}), "");
  refuse(unsupported, grid("rectilinear", {2, 2}), "rectilinear");
  refuse(unsupported, {{"data_type", "float8_e4m3"}}, "float8_e4m3");
  refuse(unsupported, {{"data_type", {{"name", "fixed_length_utf32"}, {"configuration", {{"length_bytes", -4}}}}}},
         "length_bytes");
  refuse(corrupt, {{"data_type", "uint16"}, {"codecs", {{{"name", "vlen-utf8"}}}}}, "vlen-utf8");
  refuse(corrupt, {{"data_type", "string"}, {"fill_value", ""}}, "bytes");
  refuse(corrupt, {{"fill_value", 256}}, "256");
  refuse(corrupt, {{"fill_value", -1}}, "-1");
  refuse(corrupt, {{"fill_value", "nine"}}, "nine");
  refuse(corrupt, {{"codecs", Json::array()}}, "codecs");
  refuse(unsupported, {{"codecs", {{{"name", "none_such"}}}}}, "none_such");
  refuse(corrupt, {{"codecs", {{{"name", "transpose"}, {"configuration", {{"order", {0, 0}}}}}, {{"name", "bytes"}}}}},
         "transpose");
  refuse(corrupt, {{"codecs", {{{"name", "gzip"}, {"configuration", {{"level", 1}}}}, {{"name", "bytes"}}}}}, "");
  refuse(unsupported, {{"storage_transformers", {{{"name", "x"}}}}}, "storage_transformers");
  refuse(unsupported, {{"extra", 1}}, "extra");
  refuse(unsupported, {{"extra", {{"must_understand", true}}}}, "extra");
  refuse(unsupported, {{"chunk_key_encoding", "base64"}}, "base64");
  refuse(corrupt, {{"chunk_key_encoding", {{"name", "v2"}, {"configuration", {{"separator", "-"}}}}}}, "separator");
  refuse(corrupt, {{"dimension_names", {"x"}}}, "dimension_names");
  refuse(corrupt, {{"attributes", 3}}, "attributes");
}

TEST(ZarrOpen, BrokenMetadataOfV2) {
  const auto refuse = [](ErrorKind kind, const Json& changes, const std::string& with) {
    SCOPED_TRACE(changes.dump());
    expect_error(kind, with, [&] { read_root({{".zarray", document_v2(changes)}}); });
    expect_error(kind, ".zarray", [&] { read_root({{".zarray", document_v2(changes)}}); });
  };
  const ErrorKind corrupt = ErrorKind::Corrupt, unsupported = ErrorKind::Unsupported;
  refuse(corrupt, {{"zarr_format", 3}}, "zarr_format");
  refuse(corrupt, {{"chunks", {2}}}, "chunks");
  refuse(corrupt, {{"chunks", {0, 2}}}, "chunks");
  refuse(corrupt, {{"order", "K"}}, "order");
  refuse(corrupt, {{"dtype", "|O"}}, "|O");
  refuse(unsupported, {{"dtype", "|O"}, {"filters", {{{"id", "pickle"}}}}}, "pickle");
  refuse(unsupported, {{"dtype", "reference"}}, "reference");
  refuse(unsupported, {{"dtype", "<q4"}}, "<q4");
  refuse(unsupported, {{"dtype", {{"a", "<i4", {-1}}}}}, "-1");
  refuse(corrupt, {{"filters", 3}}, "filters");
  refuse(unsupported, {{"compressor", {{"id", "none_such"}}}}, "none_such");
  refuse(corrupt, {{"dtype", "<f4"}, {"fill_value", "0xzzzzzzzz"}}, "0xzzzzzzzz");
  refuse(corrupt, {{"dtype", "<M8[s]"}, {"fill_value", "noon"}}, "noon");
  refuse(corrupt, {{"dtype", "|S2"}, {"fill_value", "YWJj"}}, "YWJj");
}

TEST(ZarrOpen, NotJson) {
  expect_error(ErrorKind::Corrupt, "test/zarr.json", [] { zarr::open_root(store_of({{"zarr.json", "{"}})); });
  expect_error(ErrorKind::Corrupt, "zarr.json", [] { zarr::open_root(store_of({{"zarr.json", "[1]"}})); });
  expect_error(ErrorKind::Corrupt, ".zgroup", [] { zarr::open_root(store_of({{".zgroup", "[]"}})); });
  expect_error(ErrorKind::Unsupported, "extra", [] {
    zarr::open_root(store_of({{"zarr.json", R"({"zarr_format":3,"node_type":"group","extra":1})"}}));
  });
  expect_error(ErrorKind::NotFound, "no Zarr", [] { zarr::open_root(store_of({{"a/b", "x"}})); });
}

TEST(ZarrOpen, ChildrenAreNodes) {
  const std::string group =
      R"({"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{"gone":{}}}})";
  const Node root = zarr::open_root(store_of({{"zarr.json", group},
                                              {"b/zarr.json", group},
                                              {"a/zarr.json", document_v3({})},
                                              {"other/file", "x"},
                                              {"note", "x"}}));
  EXPECT_EQ(root.group->children(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(root.group->child("a").array);
  for (const char* name : {"gone", "other", "note", "", ".", "..", "b/c"})
    EXPECT_FALSE(root.group->child(name)) << name;
}

TEST(ZarrOpen, PrefersV3) {
  const Node root = zarr::open_root(
      store_of({{".zgroup", R"({"zarr_format":2})"}, {"zarr.json", R"({"zarr_format":3,"node_type":"group"})"}}));
  EXPECT_EQ(zarr::version(root), 3);
}

TEST(ZarrOpen, SingleFolderAtTheTop) {
  const Node root = zarr::open_root(store_of({{"data.zarr/.zgroup", R"({"zarr_format":2})"},
                                              {"data.zarr/.zattrs", R"({"x":NaN})"},
                                              {"data.zarr/a/.zarray", document_v2({})}}));
  EXPECT_EQ(zarr::version(root), 2);
  EXPECT_TRUE(root.group->at("a").array);
  EXPECT_TRUE(std::isnan(root.attributes().find("x")->value.get<double>()));
}

// fill_value → the element, as hexadecimal digits.
struct FillCase {
  const char* type;
  Json fill;
  const char* hex;
};

TEST(ZarrFill, Spellings) {
  const FillCase cases[] = {
      {"int64", INT64_MIN, "0000000000000080"},
      {"uint64", ~uint64_t{0}, "ffffffffffffffff"},
      {"int64", 9007199254740993, "0100000000002000"},
      {"float32", "NaN", "0000c07f"},
      {"float32", "0x7fc00001", "0100c07f"},
      {"float64", "-Infinity", "000000000000f0ff"},
      {"float16", "Infinity", "007c"},
      {"float32", 1, "0000803f"},
      {"complex64", {1, "NaN"}, "0000803f0000c07f"},
      {"bool", true, "01"},
      {"int8", -128, "80"},
      {"r16", {1, 255}, "01ff"},
      {"float32", nullptr, "00000000"},
      {"int16", 3.0, "0300"},
  };
  for (const FillCase& c : cases) {
    SCOPED_TRACE(std::string(c.type) + " " + c.fill.dump());
    const Json bytes = {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}};
    const Node root = zarr::open_root(
        store_of({{"zarr.json", document_v3({{"data_type", c.type}, {"fill_value", c.fill}, {"codecs", bytes}})}}));
    std::string hex;
    for (const std::byte byte : root.array->spec().fill) {
      constexpr char kDigits[] = "0123456789abcdef";
      hex += {kDigits[static_cast<int>(byte) >> 4], kDigits[static_cast<int>(byte) & 15]};
    }
    EXPECT_EQ(hex, c.hex);
  }
}

// The text of a fill value lives as long as what was read, whether or not the array is still open.
TEST(ZarrFill, TextsOutliveTheArray) {
  const struct {
    Json type, fill, packing;
  } cases[] = {{"string", "a text that is stored nowhere else", "vlen-utf8"},
               {{{"name", "variable_length_bytes"}}, "YSB0ZXh0IHRoYXQgaXMgc3RvcmVkIG5vd2hlcmUgZWxzZQ==", "vlen-bytes"}};
  for (const auto& c : cases) {
    Heap heap;
    Buffer data;
    {
      const Json changes = {{"data_type", c.type}, {"fill_value", c.fill}, {"codecs", {{{"name", c.packing}}}}};
      data = zarr::open_root(store_of({{"zarr.json", document_v3(changes)}})).array->read_all(heap);
    }
    ASSERT_EQ(data.size(), 8 * 16);
    for (int64_t i = 0; i < 8; ++i) {
      StringRef ref;
      std::memcpy(&ref, data.data() + 16 * i, sizeof(ref));
      EXPECT_EQ(std::string_view(ref.data, static_cast<size_t>(ref.size)), "a text that is stored nowhere else");
    }
  }
}

TEST(ZarrFill, RecordsOfBothSpellings) {
  const Json bytes = {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}};
  const Json fields = {{{"name", "a"}, {"data_type", "int16"}}, {{"name", "b"}, {"data_type", "uint8"}}};
  const auto open = [&](const char* name, const Json& list, const Json& fill) {
    const Json type = {{"name", name}, {"configuration", {{"fields", list}}}};
    return read_root(
        {{"zarr.json",
          document_v3({{"shape", {1, 1}}, {"data_type", type}, {"fill_value", fill}, {"codecs", bytes}})}});
  };
  EXPECT_EQ(open("struct", fields, {{"a", 0x3231}, {"b", 0x33}}), "123");
  EXPECT_EQ(open("structured", Json::array({Json::array({"a", "int16"}), Json::array({"b", "uint8"})}), "MTIz"), "123");
}

}  // namespace
}  // namespace lamella::array
