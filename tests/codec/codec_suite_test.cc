#include "codec/codec_suite.h"

namespace lamella::codec {
namespace {

const SuiteCase kCases[] = {
    {{"gzip"}},
    {{"gzip", {{"level", 0}}}},
    {{"gzip", {{"level", 9}}}},
    {{"zlib"}},
    {{"zlib", {{"level", -1}}}},
    {{"zstd"}},
    {{"zstd", {{"level", -5}}}},
    {{"zstd", {{"level", 3}, {"checksum", true}}}},
    {{"blosc"}},
    {{"blosc", {{"cname", "zstd"}, {"shuffle", "bitshuffle"}}}, 2},
    {{"blosc", {{"cname", "blosclz"}, {"shuffle", "noshuffle"}}}},
    {{"blosc", {{"cname", "lz4hc"}, {"blocksize", 512}}}, 8},
    {{"blosc", {{"cname", "zlib"}, {"shuffle", -1}}}, 1},
    {{"blosc"}, 300},
    {{"lz4"}},
    {{"hdf5-lz4"}},
    {{"hdf5-lz4", {{"block_size", 100}}}},
    {{"lzf"}},
    {{"shuffle"}, 1},
    {{"shuffle"}, 2},
    {{"shuffle"}, 3},
    {{"shuffle"}, 4},
    {{"shuffle"}, 8},
    {{"shuffle"}, 16},
    {{"bitshuffle"}, 4},
    {{"bitshuffle", {{"compressor", "none"}}}, 8},
    {{"bitshuffle", {{"compressor", "zstd"}, {"block_size", 64}}}, 3},
    {{"crc32c"}},
    {{"crc32c", {{"location", "start"}}}},
    {{"crc32"}},
    {{"crc32", {{"location", "end"}}}},
    {{"adler32"}},
    {{"fletcher32"}},
};

INSTANTIATE_TEST_SUITE_P(All, BytesCodecSuite, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = std::to_string(info.index) + "_" + info.param.spec.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lamella::codec
