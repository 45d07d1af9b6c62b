#include <gmock/gmock.h>

#include "base/json.h"
#include "codec/fixtures.h"
#include "codec/samples.h"

namespace lamella::codec {
namespace {

Buffer from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Buffer out(static_cast<int64_t>(hex.size() / 2));
  for (int64_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<size_t>(2 * i);
    out.data()[i] = static_cast<std::byte>(digit(hex[at]) * 16 + digit(hex[at + 1]));
  }
  return out;
}

void expect_decodes(const BytesCodec& codec, const Buffer& encoded, const Buffer& decoded) {
  Buffer out(decoded.size());
  ASSERT_EQ(codec.decode(encoded.bytes(), out.bytes()), decoded.size());
  EXPECT_TRUE(equal(out.bytes(), decoded.bytes()));
}

TEST(Fixtures, NumcodecsBytes) {
  for (const Zarr2Fixture& fixture : kZarr2Fixtures) {
    SCOPED_TRACE(fixture.config);
    const CodecSpec spec = from_zarr2(parse_json(fixture.config, "fixture"), 4);
    expect_decodes(*make_bytes_codec(spec, 4), from_hex(fixture.encoded), from_hex(fixture.decoded));
  }
}

// Where nothing is left to the compressor, we write what the others write.
TEST(Fixtures, SameBytesWhereTheFormatLeavesNoChoice) {
  for (const Zarr2Fixture& fixture : kZarr2Fixtures) {
    const CodecSpec spec = from_zarr2(parse_json(fixture.config, "fixture"), 4);
    const auto codec = make_bytes_codec(spec, 4);
    if (!codec->fixed_size()) continue;
    EXPECT_TRUE(
        equal(encode_whole(*codec, from_hex(fixture.decoded).bytes()).bytes(), from_hex(fixture.encoded).bytes()))
        << fixture.config;
  }
}

TEST(Fixtures, Hdf5Filters) {
  for (const Hdf5Fixture& fixture : kHdf5Fixtures) {
    SCOPED_TRACE(fixture.name);
    const CodecSpec spec = from_hdf5({fixture.number, "", fixture.values}, fixture.item_size);
    const Buffer decoded = from_hex(fixture.decoded);
    const auto codec = make_bytes_codec(spec, fixture.item_size);
    expect_decodes(*codec, from_hex(fixture.encoded), decoded);
    // Our client data are theirs.
    EXPECT_EQ(to_hdf5(spec, fixture.item_size, decoded.size()).values, fixture.values);
  }
}

TEST(Fixtures, NumcodecsTyped) {
  for (const TypedFixture& fixture : kTypedFixtures) {
    SCOPED_TRACE(fixture.config);
    const DType type = parse_dtype(fixture.dtype);
    const CodecSpec spec = from_zarr2(parse_json(fixture.config, "fixture"), type.size);
    CodecList list = {spec};
    if (kind_of(spec) == CodecKind::Array) list.push_back({"bytes"});
    const Pipeline pipeline(list, {type, {fixture.count}, {}});
    const Buffer encoded = from_hex(fixture.encoded), decoded = from_hex(fixture.decoded);
    Buffer out(decoded.size());
    Heap heap;
    pipeline.decode(encoded.bytes(), out.bytes(), heap);
    EXPECT_TRUE(equal(out.bytes(), decoded.bytes()));
    EXPECT_TRUE(equal(pipeline.encode(decoded.bytes()).bytes(), encoded.bytes()));
  }
}

TEST(Fixtures, Strings) {
  const Pipeline pipeline({{"vlen-utf8"}}, {DType::string(), {4}, {}});
  const Buffer encoded = from_hex(kVlenStrings);
  std::vector<StringRef> refs(4);
  Heap heap;
  pipeline.decode(encoded.bytes(), std::as_writable_bytes(std::span(refs)), heap);
  std::vector<std::string> texts;
  for (const StringRef& ref : refs) texts.emplace_back(ref.data, static_cast<size_t>(ref.size));
  EXPECT_THAT(texts, testing::ElementsAre("", "a", "häß", "xyz"));
  EXPECT_TRUE(equal(pipeline.encode(std::as_bytes(std::span(refs))).bytes(), encoded.bytes()));
}

}  // namespace
}  // namespace lamella::codec
