// "zstd": one frame on writing; any number of frames, with or without their size, on reading.
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_estimateCCtxSize
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

struct FreeContext {
  void operator()(ZSTD_CCtx* p) const { ZSTD_freeCCtx(p); }
  void operator()(ZSTD_DCtx* p) const { ZSTD_freeDCtx(p); }
};
using Compressor = std::unique_ptr<ZSTD_CCtx, FreeContext>;
using Decompressor = std::unique_ptr<ZSTD_DCtx, FreeContext>;

// One of each a thread, freed when it ends.
ZSTD_CCtx* compressor() {
  thread_local Compressor context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}
ZSTD_DCtx* decompressor() {
  thread_local Decompressor context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

size_t checked(size_t result) {
  if (ZSTD_isError(result)) throw_corrupt(ZSTD_getErrorName(result));
  return result;
}

class DecodeStream {
 public:
  explicit DecodeStream(BytesCodec::Pull pull)
      : pull_(std::move(pull)), context_(ZSTD_createDCtx()), input_(128 << 10) {
    if (!context_) throw std::bad_alloc();
  }

  int64_t read(Bytes bytes) {
    ZSTD_outBuffer out{bytes.data(), bytes.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size && !ended_) refill();
      if (ended_ && pending_ == 0) break;
      const size_t before = out.pos;
      pending_ = checked(ZSTD_decompressStream(context_.get(), &out, &in_));
      if (ended_ && pending_ != 0 && out.pos == before) throw_corrupt("ends early");
    }
    return static_cast<int64_t>(out.pos);
  }

 private:
  void refill() {
    in_ = {input_.data(), static_cast<size_t>(pull_(input_.bytes())), 0};
    ended_ = in_.size == 0;
  }

  BytesCodec::Pull pull_;
  Decompressor context_;
  Buffer input_;
  ZSTD_inBuffer in_{};
  size_t pending_ = 1;  // what the frame still wants; 0 between frames
  bool ended_ = false;  // no more input; the context may hold output still
};

class ZstdCodec : public BytesCodec {
 public:
  ZstdCodec(int level, bool checksum) : level_(level), checksum_(checksum) {}

  int64_t encoded_bound(int64_t n) const override {
    return static_cast<int64_t>(ZSTD_compressBound(static_cast<size_t>(n))) + 4;  // 4: the checksum
  }

  int64_t encode(ConstBytes in, Bytes out) const override {
    ZSTD_CCtx* context = compressor();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum_ ? 1 : 0);
    const size_t n = ZSTD_compress2(context, out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(n)) throw Error(ErrorKind::Bug, ZSTD_getErrorName(n));
    return static_cast<int64_t>(n);
  }

  std::optional<int64_t> decoded_size(ConstBytes in) const override {
    uint64_t total = 0;
    while (!in.empty()) {
      const unsigned long long size = ZSTD_getFrameContentSize(in.data(), in.size());
      if (size == ZSTD_CONTENTSIZE_ERROR) throw_corrupt("not a zstd frame");
      const size_t used = ZSTD_findFrameCompressedSize(in.data(), in.size());
      if (size == ZSTD_CONTENTSIZE_UNKNOWN || ZSTD_isError(used)) return std::nullopt;
      total += std::min<uint64_t>(size, INT64_MAX / 2 - total);
      in = in.subspan(used);
    }
    return static_cast<int64_t>(total);
  }

  int64_t decode(ConstBytes in, Bytes out) const override {
    if (in.empty()) throw_corrupt("no bytes at all");
    const size_t n = ZSTD_decompressDCtx(decompressor(), out.data(), out.size(), in.data(), in.size());
    if (ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall) throw_too_long(static_cast<int64_t>(out.size()));
    return static_cast<int64_t>(checked(n));
  }

  Pull decode_stream(Pull pull) const override {
    auto stream = std::make_shared<DecodeStream>(std::move(pull));
    return [stream](Bytes out) { return stream->read(out); };
  }

  int64_t working_bytes(int64_t n) const override {
    const auto parameters = ZSTD_getCParams(level_, static_cast<unsigned long long>(n), 0);
    return static_cast<int64_t>(ZSTD_estimateCCtxSize_usingCParams(parameters) + ZSTD_estimateDCtxSize());
  }

 private:
  int level_;
  bool checksum_;
};

Json canonical(ConfigReader& config, int64_t) {
  const int64_t level = config.integer("level", 0, ZSTD_minCLevel(), ZSTD_maxCLevel());
  return {{"level", level}, {"checksum", config.boolean("checksum", false)}};
}

// The plug-in takes an absent level for the library's default.
Json from_hdf5(std::span<const uint32_t> values, int64_t) {
  return values.empty() ? Json::object() : Json{{"level", static_cast<int32_t>(values[0])}};
}

std::vector<uint32_t> to_hdf5(const Json& configuration, int64_t, int64_t) {
  const int level = configuration["level"].get<int>();
  return {static_cast<uint32_t>(level == 0 ? ZSTD_defaultCLevel() : level)};
}

// Zarr v2 had no checksum for long, so its readers refuse the member; zarr-python leaves a false one out, too.
Json to_zarr(const Json& configuration, int version) {
  Json out = configuration;
  if (version == 2 && !out["checksum"].get<bool>()) out.erase("checksum");
  return out;
}

std::unique_ptr<BytesCodec> make(const Json& configuration, int64_t) {
  return std::make_unique<ZstdCodec>(configuration["level"].get<int>(), configuration["checksum"].get<bool>());
}

}  // namespace

extern const Definition kZstd = {.canonical = canonical,
                                 .to_zarr = to_zarr,
                                 .from_hdf5 = from_hdf5,
                                 .to_hdf5 = to_hdf5,
                                 .words = {"level", "checksum"},
                                 .make_bytes = make};

}  // namespace lamella::codec
