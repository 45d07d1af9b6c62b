#include "codec/spec.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace lamella::codec {
namespace {

using testing::HasSubstr;

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Spec, WhatUsersType) {
  EXPECT_EQ(to_string(parse_codecs("zstd:3")), "zstd:3");
  EXPECT_EQ(to_string(parse_codecs("zstd")), "zstd");
  EXPECT_EQ(to_string(parse_codecs("shuffle,gzip:4")), "shuffle, gzip:4");
  EXPECT_EQ(to_string(parse_codecs("blosc:zstd:7:bitshuffle")), "blosc:zstd:7:bitshuffle");
  EXPECT_EQ(to_string(parse_codecs("none")), "none");
  EXPECT_EQ(to_string({{"bytes"}}), "none");
  for (const char* text : {"gzip:9", "zlib:2", "blosc:zstd:1:noshuffle", "lzf", "bitshuffle:zstd:5", "hdf5-lz4:4096",
                           "crc32c", "zstd:19:true"}) {
    EXPECT_EQ(parse_codecs(to_string(parse_codecs(text))), parse_codecs(text)) << text;
  }
}

TEST(Spec, BadWordsNameTheKnown) {
  EXPECT_THAT(message_of([] { parse_codecs("zstandard"); }), HasSubstr("zstd"));
  EXPECT_THAT(message_of([] { parse_codecs("gzip:fast"); }), HasSubstr("level"));
  EXPECT_THAT(message_of([] { parse_codecs("gzip:10"); }), HasSubstr("10"));
  EXPECT_THAT(message_of([] { parse_codecs("gzip:1:2"); }), HasSubstr("2"));
  EXPECT_THAT(message_of([] { parse_codecs("blosc:lz5"); }), HasSubstr("lz4"));
  EXPECT_THAT(message_of([] { parse_codecs("transpose"); }), HasSubstr("transpose"));
}

TEST(Spec, SameCodecSameSpec) {
  EXPECT_EQ(from_zarr2({{"id", "blosc"}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}}, 4),
            from_zarr3({{"name", "blosc"},
                        {"configuration",
                         {{"typesize", 4}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", "shuffle"}, {"blocksize", 0}}}},
                       4));
  EXPECT_EQ(from_zarr2({{"id", "zstd"}, {"level", 0}}, 4),
            from_zarr3({{"name", "zstd"}, {"configuration", {{"level", 0}, {"checksum", false}}}}, 4));
  EXPECT_EQ(from_zarr2({{"id", "zlib"}, {"level", 4}}, 4), from_hdf5({1, "deflate", {4}}, 4));
  EXPECT_EQ(from_zarr2({{"id", "shuffle"}, {"elementsize", 8}}, 8), from_hdf5({2, "", {8}}, 8));
  EXPECT_EQ(from_zarr3("crc32c", 1), from_zarr2({{"id", "crc32c"}}, 1));
  EXPECT_EQ(from_zarr3({{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}, 4), CodecSpec{"bytes"});
  EXPECT_EQ(from_zarr3({{"name", "numcodecs.zlib"}, {"configuration", {{"level", 2}}}}, 4),
            (CodecSpec{"zlib", {{"level", 2}}}));
}

TEST(Spec, GzipInHdf5IsDeflate) {
  EXPECT_EQ(to_hdf5(parse_codecs("gzip:4")[0], 4, 1000).number, 1);
  EXPECT_EQ(hdf5_codecs(parse_codecs("shuffle,gzip:4"), 4, 1000),
            (CodecList{{"shuffle", {{"elementsize", 4}}}, {"zlib", {{"level", 4}}}}));
  EXPECT_EQ(to_hdf5(parse_codecs("blosc:zstd:7:bitshuffle")[0], 4, 1000).values,
            (std::vector<uint32_t>{2, 2, 4, 1000, 7, 2, 5}));
  EXPECT_EQ(to_hdf5(parse_codecs("lzf")[0], 4, 1000).values, (std::vector<uint32_t>{4, 0x105, 1000}));
}

TEST(Spec, RefusalsSayWhatToDo) {
  EXPECT_THAT(message_of([] { from_zarr2({{"id", "pickle"}}, 8); }), HasSubstr("pickle"));
  EXPECT_THAT(message_of([] { from_zarr2({{"id", "lzma"}}, 8); }), HasSubstr("again with zstd"));
  EXPECT_THAT(message_of([] { from_zarr3({{"name", "numcodecs.bz2"}}, 8); }), HasSubstr("again with zstd"));
  EXPECT_THAT(message_of([] { from_zarr3("packbits", 1); }), HasSubstr("packbits"));
  EXPECT_THAT(message_of([] { from_hdf5({4, "", {}}, 8); }), HasSubstr("4 (szip)"));
  EXPECT_THAT(message_of([] { from_hdf5({4711, "mine", {}}, 8); }), HasSubstr("4711 (mine)"));
  EXPECT_THAT(message_of([] {
                from_zarr3({{"name", "gzip"}, {"configuration", {{"level", "x"}}}}, 8);
              }),
              HasSubstr("level"));
  EXPECT_THAT(message_of([] {
                from_zarr3({{"name", "gzip"}, {"configuration", {{"speed", 1}}}}, 8);
              }),
              HasSubstr("speed"));
  EXPECT_THAT(message_of([] { to_zarr2({"lzf"}); }), HasSubstr("lzf"));
}

TEST(Spec, ShardsOfEveryInnerCodec) {
  const Json index =
      Json::array({{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}, {{"name", "crc32c"}}});
  const Json inner =
      Json::array({{{"name", "bytes"}}, {{"name", "numcodecs.zlib"}, {"configuration", {{"level", 3}}}}});
  const Json config = {{"name", "sharding_indexed"},
                       {"configuration", {{"chunk_shape", {2, 2}}, {"codecs", inner}, {"index_codecs", index}}}};
  const CodecSpec spec = from_zarr3(config, 4);
  EXPECT_EQ(canonical(spec, 4), spec);
  EXPECT_EQ(from_zarr3(to_zarr3(spec), 4), spec);
  EXPECT_EQ(to_zarr3(spec)["configuration"]["codecs"][1]["name"], "numcodecs.zlib");

  Json deep = config;
  for (int i = 0; i < 20; ++i) {
    Json outer = config;
    outer["configuration"]["codecs"] = Json::array({deep});
    deep = outer;
  }
  EXPECT_THAT(message_of([&] { from_zarr3(deep, 4); }), HasSubstr("nested"));
}

}  // namespace
}  // namespace lamella::codec
