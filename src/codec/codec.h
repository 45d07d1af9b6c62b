#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/dtype.h"
#include "base/heap.h"
#include "base/shape.h"
#include "codec/spec.h"

namespace lamella::codec {

// A block of elements in row-major order, as a codec sees it.
struct BlockType {
  DType type;
  Shape shape;
  std::vector<std::byte> fill;  // one element; of `type`

  int64_t bytes() const { return checked_mul(count(shape), type.size); }
};

// Bytes to bytes. Immutable and thread-safe; per-thread state is the codec's own affair.
class BytesCodec {
 public:
  virtual ~BytesCodec() = default;

  // Most bytes that encode() may write for an input of n bytes.
  virtual int64_t encoded_bound(int64_t n) const = 0;
  // Returns the number of bytes written. `out` has encoded_bound(in.size()) bytes.
  virtual int64_t encode(ConstBytes in, Bytes out) const = 0;

  // How many bytes decode() will give, when the stored bytes tell. Never trusted beyond `limit` by callers.
  virtual std::optional<int64_t> decoded_size(ConstBytes in) const = 0;
  // Fills a prefix of `out`, returns its length. Throws Corrupt when the input is broken or would not fit.
  virtual int64_t decode(ConstBytes in, Bytes out) const = 0;

  // True when encoded_bound(n) is the exact encoded size: checksums and permutations.
  virtual bool fixed_size() const { return false; }
  // Where decoding only leaves something out: the decoded part of `in`, checked. Throws Corrupt.
  virtual std::optional<ConstBytes> decoded_part(ConstBytes in) const {
    (void)in;
    return std::nullopt;
  }
  // Bytes that the library behind the codec takes per thread for a block of n bytes, beside input and output.
  virtual int64_t working_bytes(int64_t n) const {
    (void)n;
    return 0;
  }

  // Decodes bytes as they come, for chunks that do not fit in memory. Null when the codec cannot.
  // `pull` fills a span and returns how many bytes there were (0: the end); the result fills a span likewise.
  using Pull = std::function<int64_t(Bytes)>;
  virtual Pull decode_stream(Pull pull) const {
    (void)pull;
    return nullptr;
  }
};

// Array to array: changes type, shape or order of a block, element by element.
class ArrayCodec {
 public:
  virtual ~ArrayCodec() = default;
  virtual BlockType encoded_type(const BlockType& type) const = 0;
  virtual void encode(const BlockType& type, ConstBytes in, Bytes out) const = 0;  // both row-major, exact sizes
  virtual void decode(const BlockType& type, ConstBytes in, Bytes out) const = 0;  // `type` is the decoded one
};

// Array to bytes: fixed-size elements, variable-length elements, or shards of chunks.
class PackCodec {
 public:
  virtual ~PackCodec() = default;
  // The exact stored size, when it depends on the type alone.
  virtual std::optional<int64_t> encoded_size(const BlockType& type) const = 0;
  // Most stored bytes that are plausible, when the type tells; for exact sizes the same.
  virtual std::optional<int64_t> encoded_bound(const BlockType& type) const { return encoded_size(type); }
  virtual Buffer encode(const BlockType& type, ConstBytes in) const = 0;
  // StringRefs of variable-length elements point into `in` (which `keep` owns, when given) or into the heap.
  // True when `out` refers to `in`: the caller must then keep `in` alive as long as the heap.
  virtual bool decode(const BlockType& type, ConstBytes in, Bytes out, Heap& heap) const = 0;

  // decode() may be called with `in` and `out` the same memory.
  virtual bool in_place() const { return false; }
  // Stored bytes are the decoded bytes.
  virtual bool is_plain() const { return false; }
};

// A codec list resolved for one block type: checked once, then a loop that cannot fail oddly. Immutable, thread-safe.
class Pipeline {
 public:
  // Throws Unsupported or Invalid naming the codec.
  Pipeline(const CodecList& codecs, BlockType type);
  ~Pipeline();
  Pipeline(Pipeline&&) noexcept;

  const BlockType& type() const { return type_; }
  const CodecList& codecs() const { return codecs_; }

  // `out` is exactly type().bytes(). Bit i of `skip` leaves out the i-th bytes→bytes codec (HDF5's filter mask).
  // Direct into `out` where the last step allows. Throws Corrupt. Variable-length bytes end up in `heap`.
  void decode(ConstBytes encoded, Bytes out, Heap& heap, uint32_t skip = 0) const;

  // `in` is exactly type().bytes().
  Buffer encode(ConstBytes in) const;

  // Most bytes that one decode or encode takes beside its input and output: what the planner counts.
  int64_t scratch_bytes() const;
  int64_t encoded_bound() const;
  // The stored size where every codec of the list keeps it fixed (as index codecs of shards must).
  std::optional<int64_t> encoded_size() const;

  // Sequential decode of a chunk that does not fit in memory; null when a codec of the list cannot.
  // Gives the bytes of the block in row-major order.
  BytesCodec::Pull decode_stream(BytesCodec::Pull encoded) const;

  // True when stored bytes are decoded bytes (little- or native-endian "bytes" alone): parts may be read by position.
  bool is_identity() const;

 private:
  struct Stages;
  CodecList codecs_;
  BlockType type_;
  std::unique_ptr<Stages> stages_;
};

// Factories, one row a codec in codec/table.cc. Each throws Invalid for a bad configuration.
std::unique_ptr<BytesCodec> make_bytes_codec(const CodecSpec& spec, int64_t item_size);  // null when of another kind
std::unique_ptr<ArrayCodec> make_array_codec(const CodecSpec& spec, const BlockType& type);
std::unique_ptr<PackCodec> make_pack_codec(const CodecSpec& spec, const BlockType& type);

}  // namespace lamella::codec
