#pragma once

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "codec/samples.h"

namespace lamella::codec {

// What a codec brings to the suite: its configuration and the size of an element.
struct SuiteCase {
  CodecSpec spec;
  int64_t item_size = 4;
};

inline std::ostream& operator<<(std::ostream& out, const SuiteCase& c) {
  return out << c.spec.name << c.spec.configuration.dump();
}

// Every bytes → bytes codec runs these: add a line to codec_suite_test.cc.
class BytesCodecSuite : public testing::TestWithParam<SuiteCase> {
 protected:
  std::unique_ptr<BytesCodec> codec_ =
      make_bytes_codec(canonical(GetParam().spec, GetParam().item_size), GetParam().item_size);

  template <class Body>
  void for_each_input(const Body& body) {
    for (int64_t n : {0, 1, 3, 7, 8, 15, 64, 333, 4096, 70001}) {
      for (int values : {256, 3, 1}) body(random_bytes(n, static_cast<uint32_t>(n), values));
    }
  }
};

TEST_P(BytesCodecSuite, RoundTrip) {
  for_each_input([&](const Buffer& in) {
    const Buffer encoded = encode_whole(*codec_, in.bytes());
    Buffer out(in.size());
    ASSERT_EQ(codec_->decode(encoded.bytes(), out.bytes()), in.size());
    EXPECT_TRUE(equal(in.bytes(), out.bytes())) << in.size();
  });
}

TEST_P(BytesCodecSuite, EncodesTheSameTwice) {
  const Buffer in = random_bytes(5000, 1, 5);
  EXPECT_TRUE(equal(encode_whole(*codec_, in.bytes()).bytes(), encode_whole(*codec_, in.bytes()).bytes()));
}

TEST_P(BytesCodecSuite, KeepsItsBoundAndTellsTheTruth) {
  for_each_input([&](const Buffer& in) {
    const Buffer encoded = encode_whole(*codec_, in.bytes());
    EXPECT_LE(encoded.size(), codec_->encoded_bound(in.size()));
    EXPECT_TRUE(!codec_->fixed_size() || encoded.size() == codec_->encoded_bound(in.size()));
    EXPECT_EQ(codec_->decoded_size(encoded.bytes()).value_or(in.size()), in.size());
    EXPECT_TRUE(equal(codec_->decoded_part(encoded.bytes()).value_or(in.bytes()), in.bytes()));
  });
}

TEST_P(BytesCodecSuite, RefusesTooLittleRoom) {
  const Buffer in = random_bytes(4096, 2, 7);
  const Buffer encoded = encode_whole(*codec_, in.bytes());
  for (int64_t room : {0, 1, 100, 4095}) {
    Buffer out(room);
    EXPECT_THROW(codec_->decode(encoded.bytes(), out.bytes()), Error) << room;
  }
}

// Broken bytes may decode to other bytes where nothing guards them, but only within the memory given, or throw Error.
TEST_P(BytesCodecSuite, SurvivesBrokenBytes) {
  const Buffer in = random_bytes(3000, 3, 6);
  const Buffer encoded = encode_whole(*codec_, in.bytes());
  Buffer out(in.size());
  const auto attempt = [&](ConstBytes bytes) {
    const Buffer exact = Buffer::copy_of(bytes);  // so that a sanitizer sees any read beyond
    try {
      codec_->decoded_size(exact.bytes());
      EXPECT_LE(codec_->decode(exact.bytes(), out.bytes()), out.size());
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Unsupported) << error.what();
    }
  };
  for (size_t n = 0; n < static_cast<size_t>(encoded.size()); n += n < 40 ? 1 : 97) attempt(encoded.bytes().first(n));
  std::mt19937 random(4);
  for (int i = 0; i < 400; ++i) {
    Buffer bent = Buffer::copy_of(encoded.bytes());
    const size_t reach =
        i % 2 == 0 ? std::min<size_t>(24, static_cast<size_t>(bent.size())) : static_cast<size_t>(bent.size());
    bent.data()[random() % reach] ^= static_cast<std::byte>(1u << random() % 8);
    attempt(bent.bytes());
  }
  for (int64_t n : {1, 4, 12, 16, 20, 100}) attempt(random_bytes(n, static_cast<uint32_t>(n)).bytes());
}

TEST_P(BytesCodecSuite, StreamEqualsWhole) {
  for_each_input([&](const Buffer& in) {
    const Buffer encoded = encode_whole(*codec_, in.bytes());
    for (size_t step : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      if (step == 1 && in.size() > 5000) continue;
      const auto pull = codec_->decode_stream(in_pieces(encoded.bytes(), step));
      if (!pull) return;
      Buffer out(in.size() + 1);
      int64_t filled = 0;
      for (int64_t n;
           (n = pull(out.bytes().subspan(static_cast<size_t>(filled),
                                         std::min<size_t>(777, static_cast<size_t>(out.size() - filled))))) > 0;)
        filled += n;
      ASSERT_EQ(filled, in.size());
      EXPECT_TRUE(equal(in.bytes(), out.bytes().first(static_cast<size_t>(filled))));
    }
  });
}

TEST_P(BytesCodecSuite, StreamThatEndsEarlyThrows) {
  const Buffer in = random_bytes(3000, 5, 6);
  const Buffer encoded = encode_whole(*codec_, in.bytes());
  const auto pull =
      codec_->decode_stream(in_pieces(encoded.bytes().first(static_cast<size_t>(encoded.size() - 1)), 100));
  if (!pull) return;
  Buffer out(500);
  EXPECT_THROW(while (pull(out.bytes()) > 0){}, Error);
}

TEST_P(BytesCodecSuite, SpellsItselfInEveryFormat) {
  const int64_t item = GetParam().item_size;
  const CodecSpec spec = canonical(GetParam().spec, item);
  EXPECT_EQ(canonical(spec, item), spec) << "canonical twice";
  if (has_zarr2(spec)) {
    EXPECT_EQ(from_zarr2(to_zarr2(spec), item), spec) << to_zarr2(spec).dump();
  }
  if (has_hdf5(spec)) {
    const CodecList stored = hdf5_codecs({spec}, item, 4000);
    EXPECT_EQ(hdf5_codecs(stored, item, 4000), stored);
  }
  try {
    const Json config = to_zarr3(spec);
    EXPECT_EQ(from_zarr3(config, item), spec) << config.dump();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  }
}

}  // namespace lamella::codec
