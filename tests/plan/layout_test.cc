#include "plan/layout.h"

#include <gtest/gtest.h>

#include <random>

#include "store/scratch.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;
using array::SinkFormat;

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
constexpr SinkFormat kFormats[] = {SinkFormat::Hdf5, SinkFormat::Zarr2, SinkFormat::Zarr3};

ArrayItem item_of(const Shape& shape, const DType& type = DType::float_(4)) {
  ArrayItem item;
  item.path = "X";
  item.source = lazy::fill(shape, type, {});
  return item;
}

// The same, from a source that is stored in chunks under codecs.
ArrayItem item_like(const Shape& shape, const Shape& chunks, const std::string& codecs,
                    const DType& type = DType::float_(4)) {
  ArrayItem item = item_of(shape, type);
  ArraySpec like;
  like.shape = shape;
  like.type = type;
  like.chunks = chunks;
  like.codecs = {{"bytes"}};
  for (codec::CodecSpec& codec : codec::parse_codecs(codecs)) {
    like.codecs.push_back(codec::canonical(codec, type.is_vlen() ? 1 : type.size));
  }
  item.like = like;
  return item;
}

WriteOptions options_of(SinkFormat format) {
  WriteOptions out;
  out.format = format;
  return out;
}

ArraySpec chosen(const ArrayItem& item, const WriteOptions& options) { return choose_layout(item, options, kGiB).spec; }
ArraySpec chosen(const ArrayItem& item, SinkFormat format) { return chosen(item, options_of(format)); }

std::string codecs_of(const ArrayItem& item, const WriteOptions& options) {
  return codec::to_string(chosen(item, options).codecs);
}
std::string codecs_of(const ArrayItem& item, SinkFormat format) { return codecs_of(item, options_of(format)); }

TEST(ChunkOfAbout, IsAsLargeAsItMayBe) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Shape shape;
    for (auto rank = random() % 5; rank > 0; --rank) shape.push_back(static_cast<int64_t>(random() % 3000));
    const int64_t item = int64_t{1} << random() % 5, bytes = static_cast<int64_t>(random() % 100000);
    const Shape chunk = chunk_of_about(shape, item, bytes);
    ASSERT_EQ(chunk.size(), shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      EXPECT_GE(chunk[axis], 1);
      EXPECT_LE(chunk[axis], std::max<int64_t>(shape[axis], 1));
    }
    const bool single = count(chunk) == 1;
    EXPECT_TRUE(count(chunk) * item <= bytes || single);
    const bool whole = count(chunk) >= count(shape);
    EXPECT_TRUE(whole || single || count(chunk) * item > bytes / 3) << to_string(shape) << to_string(chunk);
  }
}

TEST(Layout, WithoutASourceIsTheFormatsHabit) {
  const ArrayItem item = item_of({10000, 2000});
  EXPECT_TRUE(chosen(item, SinkFormat::Hdf5).contiguous());
  EXPECT_EQ(codecs_of(item, SinkFormat::Zarr2), "blosc");
  EXPECT_EQ(codecs_of(item, SinkFormat::Zarr3), "zstd");

  const ArraySpec v2 = chosen(item, SinkFormat::Zarr2), v3 = chosen(item, SinkFormat::Zarr3);
  EXPECT_TRUE(v2.shards.empty());
  EXPECT_EQ(v2.chunks, v3.chunks);
  EXPECT_LE(count(v3.chunks) * 4, kMiB);
  EXPECT_GT(count(v3.chunks) * 4, kMiB / 3);
}

TEST(Layout, OfZarr3HasShardsOfWholeChunks) {
  const ArraySpec spec = chosen(item_of({100000, 20000}), SinkFormat::Zarr3);
  ASSERT_EQ(spec.shards.size(), 2u);
  for (size_t axis = 0; axis < 2; ++axis) EXPECT_EQ(spec.shards[axis] % spec.chunks[axis], 0);
  EXPECT_LE(count(spec.shards) * 4, 256 * kMiB);
  EXPECT_GT(count(spec.shards) * 4, 64 * kMiB);
  EXPECT_TRUE(chosen(item_of({100, 20}), SinkFormat::Zarr3).shards.empty()) << "one chunk needs no shard";

  WriteOptions options = options_of(SinkFormat::Zarr3);
  options.no_shards = true;
  EXPECT_TRUE(chosen(item_of({100000, 20000}), options).shards.empty());
  options = options_of(SinkFormat::Zarr3);
  options.chunks = Shape{100, 100};
  options.shards = Shape{250, 300};
  EXPECT_EQ(chosen(item_of({1000, 1000}), options).shards, (Shape{300, 300}));
  EXPECT_EQ(chosen(item_of({1000}), options).chunks, (Shape{1000})) << "they are for another rank";
}

TEST(Layout, TakesTheChunksOfTheSourceWhereTheyServe) {
  const Shape shape{10000, 2000};
  for (SinkFormat format : kFormats) {
    EXPECT_EQ(chosen(item_like(shape, {500, 200}, "gzip:4"), format).chunks, (Shape{500, 200}));
    WriteOptions options = options_of(format);
    options.chunks = Shape{64, 100000};
    EXPECT_EQ(chosen(item_like(shape, {500, 200}, "gzip:4"), options).chunks, (Shape{64, 2000}));
  }
  // Tiny chunks are a file each in Zarr; HDF5 keeps them in one.
  const ArrayItem tiny = item_like(shape, {10, 10}, "gzip:4");
  EXPECT_EQ(chosen(tiny, SinkFormat::Hdf5).chunks, (Shape{10, 10}));
  EXPECT_GE(count(chosen(tiny, SinkFormat::Zarr2).chunks) * 4, 64 * kKiB);
  // In shards they are small on purpose.
  ArrayItem sharded = tiny;
  sharded.like->shards = {1000, 1000};
  EXPECT_EQ(chosen(sharded, SinkFormat::Zarr3).chunks, (Shape{10, 10}));
  EXPECT_EQ(chosen(sharded, SinkFormat::Zarr3).shards, (Shape{1000, 1000}));
  EXPECT_GE(count(chosen(sharded, SinkFormat::Zarr2).chunks) * 4, 64 * kKiB);
  // A chunk that the memory has no room for.
  const ArrayItem big = item_like(shape, shape, "gzip:4");
  EXPECT_EQ(choose_layout(big, options_of(SinkFormat::Zarr3), kGiB).spec.chunks, shape);
  EXPECT_LE(count(choose_layout(big, options_of(SinkFormat::Zarr3), 64 * kMiB).spec.chunks) * 4, kMiB);
}

TEST(Layout, KeepsCodecsThatEveryReaderOfTheTargetKnows) {
  const Shape shape{1000, 1000}, chunks{500, 500};
  const struct {
    const char* source;
    const char* in_hdf5;
    const char* in_zarr2;
    const char* in_zarr3;
  } cases[] = {
      // HDF5 calls it zlib; words that are the default are left out.
      {"zstd:3", "zlib", "zstd:3", "zstd:3"},   {"zlib:6", "zlib:6", "zlib:6", "zstd"},
      {"lzf", "lzf", "blosc", "zstd"},          {"shuffle,zlib:2", "shuffle, zlib:2", "blosc", "zstd"},
      {"gzip:2", "zlib:2", "gzip:2", "gzip:2"}, {"blosc:zstd:3", "zlib", "blosc:zstd:3", "blosc:zstd:3"},
  };
  for (const auto& one : cases) {
    const ArrayItem item = item_like(shape, chunks, one.source);
    SCOPED_TRACE(one.source);
    EXPECT_EQ(codecs_of(item, SinkFormat::Zarr2), one.in_zarr2);
    EXPECT_EQ(codecs_of(item, SinkFormat::Zarr3), one.in_zarr3);
    EXPECT_EQ(codecs_of(item, SinkFormat::Hdf5), one.in_hdf5);
  }
}

TEST(Layout, DoesWhatTheUserSays) {
  for (SinkFormat format : kFormats) {
    WriteOptions options = options_of(format);
    options.codecs = codec::parse_codecs("gzip:7");
    const std::string named = format == SinkFormat::Hdf5 ? "zlib:7" : "gzip:7";
    EXPECT_EQ(codecs_of(item_like({1000, 1000}, {500, 500}, "zstd:3"), options), named);
    EXPECT_EQ(codecs_of(item_of({1000, 1000}), options), named);
    options.codecs = codec::CodecList();
    EXPECT_EQ(codecs_of(item_like({1000, 1000}, {500, 500}, "zstd:3"), options), "none");
  }
}

TEST(Layout, OfScalarsIsPlain) {
  for (SinkFormat format : kFormats) {
    WriteOptions options = options_of(format);
    options.codecs = codec::parse_codecs("gzip:7");
    options.shards = options.chunks = Shape{};
    const ArraySpec spec = chosen(item_of({}), options);
    EXPECT_TRUE(spec.shape.empty());
    EXPECT_TRUE(spec.shards.empty());
    EXPECT_EQ(spec.contiguous(), format == SinkFormat::Hdf5);
    EXPECT_NE(codec::to_string(spec.codecs), "gzip:7");
    ArrayItem small = item_of({5000000});
    small.small = true;
    EXPECT_TRUE(chosen(small, format).shards.empty());
  }
  ArrayItem null;
  null.null_space = true;
  for (SinkFormat format : kFormats) EXPECT_TRUE(chosen(null, format).null_space);
}

TEST(Layout, OfStringsHasTheirPacking) {
  for (const auto& [type, packing] : {std::pair{DType::string(), "vlen-utf8"}, {DType::vlen_bytes(), "vlen-bytes"}}) {
    EXPECT_EQ(chosen(item_of({1000}, type), SinkFormat::Zarr2).codecs.at(0).name, packing);
    EXPECT_EQ(chosen(item_of({1000}, type), SinkFormat::Zarr3).codecs.at(0).name, packing);
    EXPECT_TRUE(chosen(item_of({1000}, type), SinkFormat::Hdf5).contiguous());
  }
}

TEST(Layout, KeepsResizableAxesInHdf5) {
  ArrayItem item = item_like({100, 3}, {10, 3}, "none");
  item.like->max_shape = {-1, 3};
  EXPECT_EQ(chosen(item, SinkFormat::Hdf5).max_shape, (Shape{-1, 3}));
  EXPECT_EQ(chosen(item, SinkFormat::Hdf5).chunks, (Shape{10, 3}));
  EXPECT_TRUE(chosen(item, SinkFormat::Zarr3).max_shape.empty());
}

TEST(Layout, KeepsFillAndNamesWhereTheTypeStays) {
  ArrayItem item = item_like({100, 100}, {50, 50}, "zstd:0");
  item.like->fill = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  item.like->dimension_names = {"obs", std::nullopt};
  for (SinkFormat format : kFormats) {
    EXPECT_EQ(chosen(item, format).fill, item.like->fill);
    EXPECT_EQ(chosen(item, format).dimension_names, item.like->dimension_names);
  }
  item.like->type = DType::int_(4);
  item.like->dimension_names.pop_back();
  EXPECT_TRUE(chosen(item, SinkFormat::Zarr3).fill.empty());
  EXPECT_TRUE(chosen(item, SinkFormat::Zarr3).dimension_names.empty());
}

TEST(Layout, KeepsArrayCodecsWhereNothingChanges) {
  ArrayItem item = item_like({1000, 1000}, {500, 500}, "zstd:0");
  item.like->codecs.insert(item.like->codecs.begin(), {"transpose", {{"order", {1, 0}}}});
  EXPECT_EQ(chosen(item, SinkFormat::Zarr3).codecs, item.like->codecs);
  EXPECT_EQ(chosen(item, SinkFormat::Zarr2).codecs, item.like->codecs);
  WriteOptions options = options_of(SinkFormat::Zarr3);
  options.chunks = Shape{200, 200};
  EXPECT_EQ(chosen(item, options).codecs.at(0).name, "bytes");
}

}  // namespace
}  // namespace lamella::plan
