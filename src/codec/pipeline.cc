#include <algorithm>
#include <cstring>

#include "base/profile.h"
#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

// Most decoded bytes of n stored ones when the type sets no bound: as far as zstd gets on zeros, and no more than any
// of the formats takes in one block.
int64_t plausible_bytes(int64_t n) {
  constexpr int64_t kRatio = 1 << 15;
  constexpr int64_t kMost = int64_t{1} << 31;
  return n > kMost / kRatio ? kMost : std::max<int64_t>(n * kRatio, 1 << 20);
}

template <class Body>
auto named(const CodecSpec& codec, const Body& body) {
  try {
    return body();
  } catch (Error& error) {
    throw error.prefix("codec \"" + codec.name + "\"");
  }
}

// Nothing tells the size: as a stream into memory that grows.
Buffer decode_growing(const BytesCodec& codec, ConstBytes in, int64_t limit) {
  Buffer out(std::min(limit, static_cast<int64_t>(in.size()) * 4 + 4096) + 1);
  auto pull = codec.decode_stream([&](Bytes to) {
    const size_t n = std::min(to.size(), in.size());
    std::copy_n(in.begin(), n, to.begin());
    in = in.subspan(n);
    return static_cast<int64_t>(n);
  });
  if (!pull) throw Error(ErrorKind::Unsupported, "does not tell its decoded size");
  int64_t filled = 0;
  for (int64_t n; (n = pull(out.bytes().subspan(static_cast<size_t>(filled)))) > 0;) {
    filled += n;
    if (filled > limit) throw_too_long(limit);
    if (filled < out.size()) continue;
    Buffer larger(std::min(limit, filled * 2) + 1);
    std::copy_n(out.data(), filled, larger.data());
    out = std::move(larger);
  }
  out.shrink(filled);
  return out;
}

}  // namespace

std::unique_ptr<BytesCodec> make_bytes_codec(const CodecSpec& spec, int64_t item_size) {
  const Row& row = row_of(spec.name);
  if (row.kind() != CodecKind::Bytes) return nullptr;
  return row.definition->make_bytes(canonical_configuration(row, spec.configuration, item_size), item_size);
}

std::unique_ptr<ArrayCodec> make_array_codec(const CodecSpec& spec, const BlockType& type) {
  const Row& row = row_of(spec.name);
  if (row.kind() != CodecKind::Array) return nullptr;
  return row.definition->make_array(canonical_configuration(row, spec.configuration, type.type.size), type);
}

std::unique_ptr<PackCodec> make_pack_codec(const CodecSpec& spec, const BlockType& type) {
  const Row& row = row_of(spec.name);
  if (row.kind() != CodecKind::Pack) return nullptr;
  return row.definition->make_pack(canonical_configuration(row, spec.configuration, type.type.size), type);
}

// The codecs of a pipeline with what each of them sees. types[i] goes into arrays[i], types.back() into the pack codec.
struct Pipeline::Stages {
  std::vector<std::unique_ptr<ArrayCodec>> arrays;
  std::vector<BlockType> types;
  std::unique_ptr<PackCodec> pack;
  std::vector<std::unique_ptr<BytesCodec>> bytes;
  std::vector<CodecSpec> array_specs, bytes_specs;
  CodecSpec pack_spec;

  // Most bytes that come out of the pack codec and the first n bytes codecs; nothing when the type does not tell.
  std::optional<int64_t> bound(size_t n, uint32_t skip = 0) const {
    std::optional<int64_t> size = pack->encoded_bound(types.back());
    for (size_t i = 0; size && i < n; ++i) {
      if (!skips(skip, i)) size = bytes[i]->encoded_bound(*size);
    }
    return size;
  }
  std::optional<int64_t> exact(size_t n, uint32_t skip = 0) const {
    std::optional<int64_t> size = pack->encoded_size(types.back());
    for (size_t i = 0; size && i < n; ++i) {
      if (skips(skip, i)) continue;
      size = bytes[i]->fixed_size() ? std::optional(bytes[i]->encoded_bound(*size)) : std::nullopt;
    }
    return size;
  }
  static bool skips(uint32_t skip, size_t i) { return i < 32 && (skip >> i & 1) != 0; }

  Buffer decode_bytes(size_t i, ConstBytes in, uint32_t skip) const;
};

// One bytes codec into new memory of the size that the type, or else the stored bytes, tell.
Buffer Pipeline::Stages::decode_bytes(size_t i, ConstBytes in, uint32_t skip) const {
  const std::optional<int64_t> wanted = exact(i, skip), most = bound(i, skip);
  std::optional<int64_t> room = wanted;
  if (!room) {
    int64_t limit = plausible_bytes(static_cast<int64_t>(in.size()));
    // Twice what our own encoders would need: others are less thrifty, and shards may have gaps.
    if (most) limit = checked_add(checked_mul(*most, 2), 1 << 16);
    room = bytes[i]->decoded_size(in);
    if (room && (*room < 0 || *room > limit)) throw_too_long(limit);
    if (!room) return decode_growing(*bytes[i], in, limit);
  }
  Buffer out(*room);
  const int64_t n = bytes[i]->decode(in, out.bytes());
  if (n != *room) throw_wrong_length(n, *room);
  return out;
}

Pipeline::Pipeline(const CodecList& codecs, BlockType type)
    : codecs_(codecs), type_(std::move(type)), stages_(std::make_unique<Stages>()) {
  if (static_cast<int64_t>(type_.fill.size()) != type_.type.size)
    type_.fill.assign(static_cast<size_t>(type_.type.size), std::byte{0});
  type_.bytes();  // throws when it overflows
  stages_->types.push_back(type_);
  for (const CodecSpec& codec : codecs) {
    const CodecKind kind = kind_of(codec);
    if ((kind == CodecKind::Bytes) != (stages_->pack != nullptr)) {
      throw Error(
          ErrorKind::Invalid,
          "codec \"" + codec.name + "\" stands in the wrong place: codecs of arrays, one of bytes, then compressors");
    }
    named(codec, [&] {
      const BlockType& now = stages_->types.back();
      if (kind == CodecKind::Array) {
        stages_->arrays.push_back(make_array_codec(codec, now));
        stages_->array_specs.push_back(codec);
        stages_->types.push_back(stages_->arrays.back()->encoded_type(now));
      } else if (kind == CodecKind::Pack) {
        stages_->pack = make_pack_codec(codec, now);
        stages_->pack_spec = codec;
      } else {
        stages_->bytes.push_back(make_bytes_codec(codec, now.type.is_vlen() ? 1 : now.type.size));
        stages_->bytes_specs.push_back(codec);
      }
      return 0;
    });
  }
  if (!stages_->pack)
    throw Error(ErrorKind::Invalid, "a codec that turns the array into bytes is missing, such as \"bytes\"");
}

Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;

void Pipeline::decode(ConstBytes encoded, Bytes out, Heap& heap, uint32_t skip) const {
  const Timed timed(Stage::Decode, static_cast<int64_t>(out.size()));
  const Stages& s = *stages_;
  const bool straight = s.arrays.empty() && s.pack->in_place();
  Buffer owner;  // of `now`, unless that is the caller's
  ConstBytes now = encoded;
  for (size_t i = s.bytes.size(); i-- > 0;) {
    if (Stages::skips(skip, i)) continue;
    named(s.bytes_specs[i], [&] {
      if (const auto part = s.bytes[i]->decoded_part(now)) {
        now = *part;
        return 0;
      }
      bool last = true;  // every codec still to come is skipped
      for (size_t k = 0; k < i; ++k) last = last && Stages::skips(skip, k);
      const std::optional<int64_t> exact = s.pack->encoded_size(s.types.back());
      if (straight && last && exact) {
        const int64_t n = s.bytes[i]->decode(now, out);
        if (n != *exact) throw_wrong_length(n, *exact);
        now = out;
        owner = Buffer();
        return 0;
      }
      owner = s.decode_bytes(i, now, skip);
      now = owner.bytes();
      return 0;
    });
  }

  Buffer packed;  // decoded by the pack codec, when array codecs follow
  Bytes target = out;
  if (!s.arrays.empty()) {
    packed = Buffer(s.types.back().bytes());
    target = packed.bytes();
  }
  named(s.pack_spec, [&] {
    if (s.pack->decode(s.types.back(), now, target, heap)) {
      // Strings refer to `now`, which has to live as long as the heap: the refs move along with a copy.
      if (owner.empty()) {
        Buffer copy = Buffer::copy_of(now);
        s.pack->decode(s.types.back(), copy.bytes(), target, heap);
        owner = std::move(copy);
      }
      heap.adopt(std::move(owner));
    }
    return 0;
  });
  for (size_t i = s.arrays.size(); i-- > 0;) {
    named(s.array_specs[i], [&] {
      Buffer next;
      Bytes to = out;
      if (i > 0) {
        next = Buffer(s.types[i].bytes());
        to = next.bytes();
      }
      s.arrays[i]->decode(s.types[i], packed.bytes(), to);
      packed = std::move(next);
      return 0;
    });
  }
}

Buffer Pipeline::encode(ConstBytes in) const {
  const Timed timed(Stage::Encode, static_cast<int64_t>(in.size()));
  const Stages& s = *stages_;
  Buffer owner;
  ConstBytes now = in;
  for (size_t i = 0; i < s.arrays.size(); ++i) {
    named(s.array_specs[i], [&] {
      Buffer next(s.types[i + 1].bytes());
      s.arrays[i]->encode(s.types[i], now, next.bytes());
      owner = std::move(next);
      now = owner.bytes();
      return 0;
    });
  }
  if (!(s.pack->is_plain() && !s.bytes.empty())) {
    named(s.pack_spec, [&] {
      owner = s.pack->encode(s.types.back(), now);
      now = owner.bytes();
      return 0;
    });
  }
  for (size_t i = 0; i < s.bytes.size(); ++i) {
    named(s.bytes_specs[i], [&] {
      Buffer next(s.bytes[i]->encoded_bound(static_cast<int64_t>(now.size())));
      next.shrink(s.bytes[i]->encode(now, next.bytes()));
      owner = std::move(next);
      now = owner.bytes();
      return 0;
    });
  }
  return owner;
}

int64_t Pipeline::scratch_bytes() const {
  const Stages& s = *stages_;
  const int64_t decoded = type_.bytes();
  int64_t bytes = 0;
  for (const auto& codec : s.bytes) bytes = std::max(bytes, codec->working_bytes(decoded));
  // Intermediate results: two of them live at a time, whenever there is more than one step.
  const size_t steps = s.arrays.size() + s.bytes.size() + (s.pack->is_plain() ? 0 : 1);
  if (steps > 1) bytes += std::max(s.bound(s.bytes.size()).value_or(2 * decoded), decoded) * (steps > 2 ? 2 : 1);
  return bytes;
}

int64_t Pipeline::encoded_bound() const { return stages_->bound(stages_->bytes.size()).value_or(2 * type_.bytes()); }
std::optional<int64_t> Pipeline::encoded_size() const { return stages_->exact(stages_->bytes.size()); }

BytesCodec::Pull Pipeline::decode_stream(BytesCodec::Pull encoded) const {
  if (!stages_->arrays.empty() || !stages_->pack->is_plain()) return nullptr;
  for (size_t i = stages_->bytes.size(); i-- > 0;) {
    encoded = stages_->bytes[i]->decode_stream(std::move(encoded));
    if (!encoded) return nullptr;
  }
  // Counts, so that a block that is too short or too long is found here as it is in decode().
  return [pull = std::move(encoded), expected = type_.bytes(), total = int64_t{0}](Bytes out) mutable {
    Timed timed(Stage::Decode);
    const auto room = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(out.size()), expected - total));
    const int64_t n = room == 0 ? 0 : pull(out.first(room));
    timed.add_bytes(n);
    total += n;
    if (n > 0 || out.empty()) return n;
    std::byte probe[1];
    if (total < expected) throw_wrong_length(total, expected);
    if (pull(probe) != 0) throw_too_long(expected);
    return n;
  };
}

bool Pipeline::is_identity() const {
  return stages_->arrays.empty() && stages_->bytes.empty() && stages_->pack->is_plain();
}

}  // namespace lamella::codec
