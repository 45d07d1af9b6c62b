// "gzip" and "zlib": the same compressed data in two wrappings. Whole blocks go through libdeflate, streams through
// zlib.
#include <libdeflate.h>
#include <zlib.h>

#include <array>

#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

enum class Wrapping { Gzip, Zlib };

// libdeflate's state of one thread: made at the first use, freed when the thread ends.
struct ThreadState {
  struct FreeDecompressor {
    void operator()(libdeflate_decompressor* p) const { libdeflate_free_decompressor(p); }
  };
  struct FreeCompressor {
    void operator()(libdeflate_compressor* p) const { libdeflate_free_compressor(p); }
  };
  std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor;
  std::array<std::unique_ptr<libdeflate_compressor, FreeCompressor>, 10> compressors;

  libdeflate_decompressor* get_decompressor() {
    if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
    if (!decompressor) throw std::bad_alloc();
    return decompressor.get();
  }
  libdeflate_compressor* get_compressor(int level) {
    auto& slot = compressors.at(static_cast<size_t>(level));
    if (!slot) slot.reset(libdeflate_alloc_compressor(level));
    if (!slot) throw std::bad_alloc();
    return slot.get();
  }
};
thread_local ThreadState thread_state;

bool starts_member(ConstBytes in) { return in.size() >= 2 && in[0] == std::byte{0x1f} && in[1] == std::byte{0x8b}; }

// Inflates as bytes come. Owned by the function object that it becomes.
class InflateStream {
 public:
  InflateStream(Wrapping wrapping, BytesCodec::Pull pull)
      : wrapping_(wrapping), pull_(std::move(pull)), input_(64 << 10) {
    if (inflateInit2(&stream_, wrapping == Wrapping::Gzip ? 15 + 16 : 15) != Z_OK) throw std::bad_alloc();
  }
  ~InflateStream() { inflateEnd(&stream_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  int64_t read(Bytes out) {
    const size_t wanted = std::min<size_t>(out.size(), 1 << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out > 0 && !done_) {
      if (stream_.avail_in == 0) refill();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) next_member();
      else if (status != Z_OK && status != Z_BUF_ERROR)
        throw_corrupt(stream_.msg ? stream_.msg : "broken deflate stream");
    }
    return static_cast<int64_t>(wanted - stream_.avail_out);
  }

 private:
  void refill() {
    stream_.avail_in = static_cast<uInt>(pull_(input_.bytes()));
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    if (stream_.avail_in == 0) throw_corrupt("ends early");
  }
  void next_member() {
    if (wrapping_ == Wrapping::Gzip && stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(pull_(input_.bytes()));
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    }
    done_ = wrapping_ == Wrapping::Zlib || stream_.avail_in == 0;
    if (!done_ && inflateReset(&stream_) != Z_OK) throw_corrupt("broken deflate stream");
  }

  Wrapping wrapping_;
  BytesCodec::Pull pull_;
  Buffer input_;
  z_stream stream_{};
  bool done_ = false;
};

class DeflateCodec : public BytesCodec {
 public:
  DeflateCodec(Wrapping wrapping, int level) : wrapping_(wrapping), level_(level < 0 ? 6 : level) {}

  int64_t encoded_bound(int64_t n) const override {
    const auto bound = wrapping_ == Wrapping::Gzip ? libdeflate_gzip_compress_bound : libdeflate_zlib_compress_bound;
    return static_cast<int64_t>(bound(nullptr, static_cast<size_t>(n)));
  }

  int64_t encode(ConstBytes in, Bytes out) const override {
    const auto compress = wrapping_ == Wrapping::Gzip ? libdeflate_gzip_compress : libdeflate_zlib_compress;
    const size_t n = compress(thread_state.get_compressor(level_), in.data(), in.size(), out.data(), out.size());
    if (n == 0) throw Error(ErrorKind::Bug, "does not fit in its own bound");
    return static_cast<int64_t>(n);
  }

  std::optional<int64_t> decoded_size(ConstBytes) const override { return std::nullopt; }

  int64_t decode(ConstBytes in, Bytes out) const override {
    size_t total = 0;
    do {
      size_t used = 0, made = 0;
      const auto decompress =
          wrapping_ == Wrapping::Gzip ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex;
      std::byte nothing{};  // libdeflate takes no null pointers
      const Bytes rest = out.subspan(total);
      const libdeflate_result result = decompress(thread_state.get_decompressor(), in.data(), in.size(),
                                                  rest.empty() ? &nothing : rest.data(), rest.size(), &used, &made);
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE) throw_too_long(static_cast<int64_t>(out.size()));
      if (result != LIBDEFLATE_SUCCESS) throw_corrupt("broken or cut off deflate stream");
      total += made;
      in = in.subspan(used);
    } while (wrapping_ == Wrapping::Gzip && starts_member(in));
    // HDF5 chunks may carry slack behind a zlib stream; behind a gzip member only another member is legal.
    if (wrapping_ == Wrapping::Gzip && !in.empty())
      throw_corrupt(std::to_string(in.size()) + " bytes too many at the end");
    return static_cast<int64_t>(total);
  }

  Pull decode_stream(Pull pull) const override {
    auto stream = std::make_shared<InflateStream>(wrapping_, std::move(pull));
    return [stream](Bytes out) { return stream->read(out); };
  }

  int64_t working_bytes(int64_t) const override { return 512 << 10; }

 private:
  Wrapping wrapping_;
  int level_;
};

Json canonical(ConfigReader& config, int64_t) { return {{"level", config.integer("level", 1, -1, 9)}}; }

Json from_hdf5(std::span<const uint32_t> values, int64_t) {
  return values.empty() ? Json::object() : Json{{"level", values[0]}};
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t, int64_t) {
  const int64_t level = configuration["level"].get<int64_t>();
  return {static_cast<uint32_t>(level < 0 ? 6 : level)};
}

template <Wrapping wrapping>
std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t) {
  return std::make_unique<DeflateCodec>(wrapping, configuration["level"].get<int>());
}

}  // namespace

extern const Definition kGzip = {.canonical = canonical,
                                 .from_hdf5 = from_hdf5,
                                 .to_hdf5 = to_hdf5,
                                 .words = {"level"},
                                 .make_bytes = make<Wrapping::Gzip>};
extern const Definition kZlib = {.canonical = canonical,
                                 .from_hdf5 = from_hdf5,
                                 .to_hdf5 = to_hdf5,
                                 .words = {"level"},
                                 .make_bytes = make<Wrapping::Zlib>};

}  // namespace lamella::codec
