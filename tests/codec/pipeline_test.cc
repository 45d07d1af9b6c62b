#include <gmock/gmock.h>

#include "base/error.h"
#include "codec/checksums.h"
#include "codec/samples.h"

namespace lamella::codec {
namespace {

using testing::HasSubstr;

CodecSpec random_bytes_codec(std::mt19937& random) {
  static const std::vector<CodecSpec> kChoice = {{"gzip"},
                                                 {"zlib"},
                                                 {"zstd"},
                                                 {"blosc"},
                                                 {"lz4"},
                                                 {"hdf5-lz4"},
                                                 {"lzf"},
                                                 {"shuffle"},
                                                 {"bitshuffle"},
                                                 {"crc32c"},
                                                 {"crc32"},
                                                 {"fletcher32"},
                                                 {"zstd", {{"checksum", true}}},
                                                 {"bitshuffle", {{"compressor", "none"}}}};
  return kChoice[random() % kChoice.size()];
}

Shape random_divisor(std::mt19937& random, const Shape& shape) {
  Shape out = shape;
  for (int64_t& length : out) {
    const int64_t part = static_cast<int64_t>(random() % 3) + 1;
    if (length % part == 0) length /= part;
  }
  return out;
}

CodecSpec shard_of(const Shape& chunk, const CodecList& inner, bool at_end) {
  Json codecs = Json::array();
  for (const CodecSpec& codec : inner) codecs.push_back({{"name", codec.name}, {"configuration", codec.configuration}});
  Json index = Json::array({{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}, {{"name", "crc32c"}}});
  return {"sharding_indexed",
          {{"chunk_shape", chunk},
           {"codecs", codecs},
           {"index_codecs", index},
           {"index_location", at_end ? "end" : "start"}}};
}

CodecList random_stack(std::mt19937& random, const DType& type, Shape shape, int depth = 0) {
  CodecList list;
  if (random() % 3 == 0) {
    std::vector<int64_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    list.push_back({"transpose", {{"order", order}}});
    Shape turned;
    for (int64_t axis : order) turned.push_back(shape[static_cast<size_t>(axis)]);
    shape = turned;
  }
  if (depth < 2 && random() % 3 == 0) {
    const Shape chunk = random_divisor(random, shape);
    list.push_back(shard_of(chunk, random_stack(random, type, chunk, depth + 1), random() % 2 == 0));
  } else if (type.is_vlen()) {
    list.push_back({"vlen-utf8"});
  } else {
    list.push_back({"bytes", random() % 3 == 0 ? Json{{"endian", "big"}} : Json::object()});
  }
  for (uint32_t n = random() % 4; n > 0; --n) list.push_back(random_bytes_codec(random));
  return list;
}

TEST(Pipeline, RandomStacksRoundTrip) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::vector<DType> types = {DType::uint(1),     DType::int_(2),      DType::float_(4),   DType::float_(8),
                                      parse_dtype(">i4"), parse_dtype("<c16"), parse_dtype("|S3"), parse_dtype("<U2")};
    const DType type = types[random() % types.size()];
    Shape shape(random() % 4);
    for (int64_t& length : shape) length = static_cast<int64_t>(random() % 12) + 1;
    const CodecList list = random_stack(random, type, shape);
    SCOPED_TRACE(to_string(list) + " " + to_string(type) + lamella::to_string(shape));
    const Pipeline pipeline(list, {type, shape, {}});
    const Buffer in = random_bytes(pipeline.type().bytes(), static_cast<uint32_t>(round), round % 3 == 0 ? 1 : 5);
    const Buffer encoded = pipeline.encode(in.bytes());
    EXPECT_LE(encoded.size(), pipeline.encoded_bound());
    EXPECT_EQ(pipeline.encoded_size().value_or(encoded.size()), encoded.size());
    EXPECT_GE(pipeline.scratch_bytes(), 0);
    Buffer out(in.size());
    Heap heap;
    pipeline.decode(encoded.bytes(), out.bytes(), heap);
    ASSERT_TRUE(equal(in.bytes(), out.bytes()));
    if (const auto pull = pipeline.decode_stream(in_pieces(encoded.bytes(), 50))) {
      Buffer streamed(in.size());
      int64_t filled = 0;
      for (int64_t n; (n = pull(streamed.bytes().subspan(static_cast<size_t>(filled)))) > 0;) filled += n;
      EXPECT_TRUE(equal(in.bytes(), streamed.bytes()));
    }
    for (int bend = 0; bend < 20 && encoded.size() > 0; ++bend) {
      Buffer bent = Buffer::copy_of(encoded.bytes());
      bent.data()[random() % static_cast<uint64_t>(bent.size())] ^= static_cast<std::byte>(1 + random() % 255);
      if (bend % 4 == 0) bent.shrink(static_cast<int64_t>(random() % static_cast<uint64_t>(bent.size())));
      try {
        pipeline.decode(bent.bytes(), out.bytes(), heap);
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Unsupported) << error.what();
      }
    }
  }
}

TEST(Pipeline, StringsThroughEverything) {
  std::mt19937 random(8);
  const std::vector<std::string> words = {"", "a", "Zelle", std::string(300, 'x'), "äöü"};
  for (int round = 0; round < 60; ++round) {
    const Shape shape = {static_cast<int64_t>(random() % 6) + 1, 6};
    const CodecList list = random_stack(random, DType::string(), shape);
    SCOPED_TRACE(to_string(list));
    std::vector<StringRef> in(static_cast<size_t>(count(shape)));
    for (StringRef& ref : in) {
      const std::string& word = words[random() % words.size()];
      ref = {word.data(), static_cast<int64_t>(word.size())};
    }
    const Pipeline pipeline(list, {DType::string(), shape, {}});
    std::vector<StringRef> out(in.size());
    Heap heap;
    {
      const Buffer encoded = pipeline.encode(std::as_bytes(std::span(in)));
      pipeline.decode(encoded.bytes(), std::as_writable_bytes(std::span(out)), heap);
    }  // the strings outlive the encoded bytes
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(std::string_view(in[i].data, static_cast<size_t>(in[i].size)),
                std::string_view(out[i].data, static_cast<size_t>(out[i].size)));
    }
  }
}

std::string decode_error(const Pipeline& pipeline, ConstBytes encoded) {
  Buffer out(pipeline.type().bytes());
  Heap heap;
  try {
    pipeline.decode(encoded, out.bytes(), heap);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    return error.what();
  }
  return "none";
}

TEST(Pipeline, WrongLengthsAreCorrupt) {
  const BlockType ten{DType::uint(1), {10}, {}};
  for (const char* name :
       {"gzip", "zlib", "zstd", "blosc", "lz4", "hdf5-lz4", "lzf", "crc32c", "bitshuffle", "shuffle"}) {
    const Pipeline pipeline({{"bytes"}, {name}}, ten);
    for (int64_t n : {5, 20}) {
      const Pipeline other({{"bytes"}, {name}}, {DType::uint(1), {n}, {}});
      EXPECT_THAT(decode_error(pipeline, other.encode(random_bytes(n, 1).bytes()).bytes()), HasSubstr("10"))
          << name << n;
    }
  }
  EXPECT_THAT(decode_error(Pipeline({{"bytes"}}, ten), random_bytes(9, 1).bytes()), HasSubstr("9 bytes, 10 expected"));
}

TEST(Pipeline, SkipLeavesOutCodecs) {
  const CodecList list = {{"bytes"}, {"shuffle"}, {"zlib"}, {"fletcher32"}};
  const BlockType type{DType::int_(4), {100}, {}};
  const Pipeline pipeline(list, type);
  const Buffer in = random_bytes(400, 1, 9);
  for (uint32_t skip = 0; skip < 8; ++skip) {
    CodecList rest = {{"bytes"}};
    for (uint32_t i = 0; i < 3; ++i) {
      if ((skip >> i & 1) == 0) rest.push_back(list[i + 1]);
    }
    const Buffer encoded = Pipeline(rest, type).encode(in.bytes());
    Buffer out(400);
    Heap heap;
    pipeline.decode(encoded.bytes(), out.bytes(), heap, skip);
    EXPECT_TRUE(equal(in.bytes(), out.bytes())) << skip;
  }
}

TEST(Pipeline, ManyFramesAndMembers) {
  for (const char* name : {"gzip", "zstd"}) {
    const auto codec = make_bytes_codec({name}, 1);
    const Buffer a = encode_whole(*codec, random_bytes(100, 1).bytes()),
                 b = encode_whole(*codec, random_bytes(50, 2).bytes());
    Buffer both(a.size() + b.size()), out(150);
    std::memcpy(both.data(), a.data(), static_cast<size_t>(a.size()));
    std::memcpy(both.data() + a.size(), b.data(), static_cast<size_t>(b.size()));
    EXPECT_EQ(codec->decode(both.bytes(), out.bytes()), 150) << name;
    EXPECT_TRUE(equal(out.bytes().first(100), random_bytes(100, 1).bytes()));
    EXPECT_TRUE(equal(out.bytes().subspan(100), random_bytes(50, 2).bytes()));
    const Pipeline pipeline({{"bytes"}, {name}}, {DType::uint(1), {150}, {}});
    const auto pull = pipeline.decode_stream(in_pieces(both.bytes(), 7));
    int64_t total = 0;
    for (int64_t n; (n = pull(out.bytes())) > 0;) total += n;
    EXPECT_EQ(total, 150);
  }
}

TEST(Pipeline, RefusesBadLists) {
  const BlockType type{DType::float_(4), {4}, {}};
  EXPECT_THROW(Pipeline({}, type), Error);
  EXPECT_THROW(Pipeline({{"gzip"}}, type), Error);
  EXPECT_THROW(Pipeline({{"gzip"}, {"bytes"}}, type), Error);
  EXPECT_THROW(Pipeline({{"bytes"}, {"bytes"}}, type), Error);
  EXPECT_THROW(Pipeline({{"transpose", {{"order", {1}}}}, {"bytes"}}, type), Error);
  EXPECT_THROW(Pipeline({{"vlen-utf8"}}, type), Error);
  EXPECT_THROW(Pipeline({shard_of({3}, {{"bytes"}}, true)}, type), Error);
}

TEST(Pipeline, Identity) {
  EXPECT_TRUE(Pipeline({{"bytes"}}, {parse_dtype(">f4"), {4}, {}}).is_identity());
  EXPECT_FALSE(Pipeline({{"bytes", {{"endian", "big"}}}}, {DType::float_(4), {4}, {}}).is_identity());
  EXPECT_FALSE(Pipeline({{"bytes"}, {"crc32c"}}, {DType::float_(4), {4}, {}}).is_identity());
}

TEST(Checksums, InstructionAndTablesAgree) {
  for (int64_t n : {0, 1, 7, 8, 9, 1000, 4099}) {
    const Buffer bytes = random_bytes(n, static_cast<uint32_t>(n));
    EXPECT_EQ(crc32c(bytes.bytes()), crc32c_by_tables(bytes.bytes()));
  }
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283u);
}

}  // namespace
}  // namespace lamella::codec
