// Every decoder on bytes that nobody made. The first byte picks the codec list, the second the number of elements;
// whatever comes out must be a result or an Error, within the memory that the block type allows.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "codec/codec.h"

namespace lamella::codec {
namespace {

CodecSpec shard(Shape chunk, const char* location) {
  const Json bytes = {{"name", "bytes"}, {"configuration", Json::object()}};
  const Json index = Json::array({bytes});
  const Json inner = Json::array({bytes, {{"name", "zstd"}, {"configuration", Json::object()}}});
  return {"sharding_indexed",
          {{"chunk_shape", chunk}, {"codecs", inner}, {"index_codecs", index}, {"index_location", location}}};
}

struct Target {
  CodecList codecs;
  DType type;
  int64_t multiple = 1;  // of the number of elements
};

const std::vector<Target>& targets() {
  static const std::vector<Target> list = [] {
    std::vector<Target> out;
    const std::vector<CodecSpec> codecs = {{"gzip"},
                                           {"zlib"},
                                           {"zstd"},
                                           {"blosc"},
                                           {"lz4"},
                                           {"hdf5-lz4"},
                                           {"lzf"},
                                           {"shuffle"},
                                           {"crc32c"},
                                           {"crc32"},
                                           {"fletcher32"},
                                           {"bitshuffle"},
                                           {"bitshuffle", {{"compressor", "zstd"}}},
                                           {"bitshuffle", {{"compressor", "none"}}}};
    for (const CodecSpec& codec : codecs) {
      out.push_back({{{"bytes"}, codec}, DType::int_(4)});
      out.push_back({{{"vlen-utf8"}, codec}, DType::string()});
      out.push_back({{{"bytes"}, codec, {"zstd"}}, DType::int_(2)});
    }
    out.push_back({{{"vlen-bytes"}}, DType::vlen_bytes()});
    out.push_back({{{"numcodecs.packbits"}}, DType::boolean()});
    out.push_back({{shard({2}, "end")}, DType::int_(4), 2});
    out.push_back({{shard({2}, "start"), {"gzip"}}, DType::int_(4), 2});
    return out;
  }();
  return list;
}

template <class Body>
void tolerate_errors(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Bug) std::abort();
  }
}

void decode(ConstBytes in) {
  const Target& target = targets()[static_cast<size_t>(in[0]) % targets().size()];
  const Pipeline pipeline(target.codecs, {target.type, {static_cast<int64_t>(in[1]) * target.multiple}, {}});
  in = in.subspan(2);
  Buffer out(pipeline.type().bytes());
  tolerate_errors([&] {
    Heap heap;
    pipeline.decode(in, out.bytes(), heap);
    if (!target.type.is_vlen()) return;
    // The references must be readable as long as the heap lives.
    const auto* refs = reinterpret_cast<const StringRef*>(out.data());
    volatile char last = 0;
    for (int64_t i = 0; i < count(pipeline.type().shape); ++i) {
      if (refs[i].size > 0) last = refs[i].data[refs[i].size - 1];
    }
    (void)last;
  });
  tolerate_errors([&] {
    ConstBytes rest = in;
    const auto pull = pipeline.decode_stream([&](Bytes to) {
      const size_t n = std::min({to.size(), rest.size(), size_t{100}});
      std::copy_n(rest.begin(), n, to.begin());
      rest = rest.subspan(n);
      return static_cast<int64_t>(n);
    });
    if (pull && out.size() > 0)
      while (pull(out.bytes()) > 0) {
      }
  });
}

// Configurations as metadata documents hold them.
void read_configuration(std::string_view text) {
  tolerate_errors([&] {
    const Json config = parse_json(text, "fuzz");
    tolerate_errors([&] { from_zarr2(config, 4); });
    tolerate_errors([&] {
      const CodecSpec spec = from_zarr3(config, 4);
      if (canonical(spec, 4) != spec) std::abort();
    });
  });
  tolerate_errors([&] { to_string(parse_codecs(std::string(text))); });
}

}  // namespace
}  // namespace lamella::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size >= 2 && data[0] < 0xf0) lamella::codec::decode(bytes);
  else if (size >= 1) lamella::codec::read_configuration({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
