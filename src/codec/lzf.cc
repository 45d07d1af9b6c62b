// "lzf", h5py's HDF5 filter 32000. A stream of runs: a control byte below 32 is followed by that many literals and one
// more; any other holds a length (3 bits, 7: one more byte adds to it) and the upper 5 bits of a distance, then the
// lower 8.
#include <cstring>

#include "codec/errors.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

constexpr int64_t kMaxLiterals = 32;
constexpr int64_t kWide = 32;  // bytes that may be copied at once
constexpr int64_t kMaxDistance = 1 << 13;
constexpr int64_t kMaxMatch = 264;
constexpr int kHashBits = 14;

uint32_t hash(const uint8_t* p) {
  const uint32_t three =
      static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16;
  return (three * 2654435761u) >> (32 - kHashBits);
}

// Writes runs into memory that is known to suffice.
class RunWriter {
 public:
  explicit RunWriter(uint8_t* out) : begin_(out), out_(out) {}

  void literals(const uint8_t* from, int64_t n) {
    for (int64_t run; n > 0; n -= run, from += run) {
      run = std::min(n, kMaxLiterals);
      *out_++ = static_cast<uint8_t>(run - 1);
      std::memcpy(out_, from, static_cast<size_t>(run));
      out_ += run;
    }
  }

  void match(int64_t distance, int64_t length) {
    const auto back = static_cast<uint32_t>(distance - 1);
    const auto extra = static_cast<uint32_t>(length - 2);
    *out_++ = static_cast<uint8_t>(std::min<uint32_t>(extra, 7) << 5 | back >> 8);
    if (extra >= 7) *out_++ = static_cast<uint8_t>(extra - 7);
    *out_++ = static_cast<uint8_t>(back);
  }

  int64_t written() const { return out_ - begin_; }

 private:
  uint8_t* begin_;
  uint8_t* out_;
};

// Greedy: at each position the last one with the same three bytes.
int64_t compress(const uint8_t* in, int64_t n, uint8_t* out) {
  std::vector<int64_t> last(size_t{1} << kHashBits, -1);
  RunWriter writer(out);
  int64_t pending = 0;  // start of the literals not written yet
  for (int64_t at = 0; at + 3 <= n;) {
    int64_t& slot = last[hash(in + at)];
    const int64_t candidate = std::exchange(slot, at);
    if (candidate < 0 || at - candidate > kMaxDistance || std::memcmp(in + candidate, in + at, 3) != 0) {
      ++at;
      continue;
    }
    const int64_t most = std::min(kMaxMatch, n - at);
    int64_t length = 3;
    while (length < most && in[candidate + length] == in[at + length]) ++length;
    writer.literals(in + pending, at - pending);
    writer.match(at - candidate, length);
    at += length;
    pending = at;
    if (at + 1 <= n - 2) last[hash(in + at - 1)] = at - 1;
  }
  writer.literals(in + pending, n - pending);
  return writer.written();
}

struct Run {
  int64_t length = 0;
  int64_t distance = 0;  // 0: literals, which follow at `position`
};

// Takes one run off the stream; literals stay to be taken.
Run take_run(const uint8_t* in, int64_t n, int64_t& position) {
  const uint8_t control = in[position++];
  if (control < kMaxLiterals) {
    if (n - position < control + 1) throw_corrupt("ends within literals");
    return {control + 1, 0};
  }
  int64_t length = control >> 5;
  if (n - position < (length == 7 ? 2 : 1)) throw_corrupt("ends within a match");
  if (length == 7) length += in[position++];
  return {length + 2, (int64_t{control & 31} << 8 | in[position++]) + 1};
}

class LzfCodec : public BytesCodec {
 public:
  int64_t encoded_bound(int64_t n) const override { return n + ceil_div(n, kMaxLiterals); }

  int64_t encode(ConstBytes in, Bytes out) const override {
    return compress(reinterpret_cast<const uint8_t*>(in.data()), static_cast<int64_t>(in.size()),
                    reinterpret_cast<uint8_t*>(out.data()));
  }

  // One pass over the runs: cheap beside decoding, and only asked for when nothing else tells.
  std::optional<int64_t> decoded_size(ConstBytes bytes) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
    const auto n = static_cast<int64_t>(bytes.size());
    int64_t total = 0;
    for (int64_t position = 0; position < n;) {
      const Run run = take_run(in, n, position);
      total += run.length;
      if (run.distance == 0) position += run.length;
    }
    return total;
  }

  int64_t decode(ConstBytes bytes, Bytes out) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
    const auto n = static_cast<int64_t>(bytes.size());
    const auto capacity = static_cast<int64_t>(out.size());
    int64_t made = 0;
    for (int64_t position = 0; position < n;) {
      const Run run = take_run(in, n, position);
      if (run.length > capacity - made) throw_too_long(capacity);
      std::byte* to = out.data() + made;
      made += run.length;
      const bool roomy = capacity - made >= kWide;  // what is written behind the run is overwritten by the next
      if (run.distance == 0) {
        const bool wide = roomy && n - position >= kWide;
        if (wide) std::memcpy(to, in + position, kWide);  // of a fixed size: two instructions instead of a call
        else std::memcpy(to, in + position, static_cast<size_t>(run.length));
        position += run.length;
        continue;
      }
      if (run.distance > to - out.data()) throw_corrupt("a match before the start");
      if (roomy) copy_match_wide(to, run);
      else copy_match(to, run);
    }
    return made;
  }

  int64_t working_bytes(int64_t) const override { return (1 << kHashBits) * 8; }

 private:
  // Source and target overlap when the distance is short: the copied bytes then repeat.
  static void copy_match(std::byte* to, const Run& run) {
    const std::byte* from = to - run.distance;
    for (int64_t i = 0; i < run.length; ++i) to[i] = from[i];
  }

  // The same in steps of N bytes that do not overlap, up to N - 1 bytes too many.
  template <int64_t N>
  static void copy_steps(std::byte* to, const std::byte* from, int64_t length) {
    for (int64_t i = 0; i < length; i += N) std::memcpy(to + i, from + i, N);
  }
  static void copy_match_wide(std::byte* to, const Run& run) {
    if (run.distance >= 16) return copy_steps<16>(to, to - run.distance, run.length);
    if (run.distance >= 8) return copy_steps<8>(to, to - run.distance, run.length);
    copy_match(to, {8, run.distance});
    // What repeats after `distance` bytes repeats after a multiple of it as well.
    const int64_t distance = round_up(8, run.distance);
    if (run.length > 8) copy_steps<8>(to + 8, to + 8 - distance, run.length - 8);
  }
};

// Revision of the filter, version of the compressor, chunk bytes: as h5py writes them.
std::vector<uint32_t> to_hdf5(const Json&, int64_t, int64_t chunk_bytes) {
  return {4, 0x105, static_cast<uint32_t>(chunk_bytes)};
}

std::unique_ptr<BytesCodec> make(const Json&, int64_t) { return std::make_unique<LzfCodec>(); }

}  // namespace

extern const Definition kLzf = {.to_hdf5 = to_hdf5, .make_bytes = make};

}  // namespace lamella::codec
