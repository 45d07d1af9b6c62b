#include "plan/trial.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "codec/codec.h"
#include "plan/copy.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;

constexpr int64_t kLeastBytes = 4096;               // smaller arrays have nothing to gain
constexpr int64_t kReadBytes = int64_t{16} << 20;   // of the source that may be decoded for one sample
constexpr int64_t kSampleBytes = int64_t{1} << 20;  // of a sample: enough to tell, whatever the chunks

// Pieces of the source that a box touches along one axis.
int64_t pieces_along(const Box& box, const Shape& grain, size_t axis) {
  const int64_t end = box.offset[axis] + box.shape[axis];
  return ceil_div(end, grain[axis]) - box.offset[axis] / grain[axis];
}

// The beginning of a chunk, of as much as may be read for it: a column of chunks of rows would cost a whole pass.
Box sample_box(const ArraySpec& spec, int64_t chunk, const Shape& grain) {
  const Grid grid = spec.grid();
  Box box = grid.box(grid.index(chunk));
  const int64_t item = spec.type.size;
  const auto halve = [&](size_t axis) { box.shape[axis] = ceil_div(box.shape[axis], 2); };
  while (count(box.shape) * item > kSampleBytes)
    halve(static_cast<size_t>(std::max_element(box.shape.begin(), box.shape.end()) - box.shape.begin()));
  if (grain.empty()) return box;
  for (;;) {
    size_t longest = 0;
    int64_t pieces = 1, most = 1;
    for (size_t axis = 0; axis < box.rank(); ++axis) {
      const int64_t here = pieces_along(box, grain, axis);
      pieces *= here;
      if (here > most) {
        most = here;
        longest = axis;
      }
    }
    if (most == 1 || pieces * count(grain) * item <= kReadBytes || box.shape[longest] == 1) return box;
    halve(longest);
  }
}

int64_t encode_bytes(const codec::CodecList& codecs, const codec::BlockType& type) {
  const codec::Pipeline pipeline(codecs, type);
  return pipeline.encoded_bound() + pipeline.scratch_bytes();
}

// Bytes that two samples have decoded, and by each of some codecs.
struct Tried {
  int64_t decoded = 0;
  std::vector<int64_t> encoded;
};

// Adds what each candidate makes of one sample. False when that takes too much memory.
bool try_sample(const ArraySpec& spec, const std::vector<codec::CodecList>& candidates, const Sampler& sampler,
                const Box& box, int64_t memory, Tried& tried) {
  const codec::BlockType block{spec.type, box.shape, spec.fill_element()};
  int64_t needed = block.bytes() + sampler.working_bytes;
  for (const codec::CodecList& codecs : candidates)
    needed = std::max(needed, block.bytes() + encode_bytes(codecs, block));
  if (needed > memory) return false;
  Buffer data(block.bytes());
  sampler.read(box, View::c_order(data.data(), box.shape, spec.type.size));
  tried.decoded += data.size();
  for (size_t i = 0; i < candidates.size(); ++i)
    tried.encoded[i] += codec::Pipeline(candidates[i], block).encode(data.bytes()).size();
  return true;
}

// Nothing where there is no memory for it.
std::optional<Tried> try_all(const ArraySpec& spec, const std::vector<codec::CodecList>& candidates,
                             const Sampler& sampler, int64_t memory) {
  const int64_t n = spec.grid().size();
  const std::set<int64_t> chunks =
      sampler.anywhere ? std::set<int64_t>{n / 4, n * 3 / 4} : std::set<int64_t>{0, std::min<int64_t>(1, n - 1)};
  Tried tried{0, std::vector<int64_t>(candidates.size())};
  for (const int64_t chunk : chunks) {
    const Box box = sample_box(spec, chunk, sampler.grain);
    if (!try_sample(spec, candidates, sampler, box, memory, tried)) return std::nullopt;
  }
  return tried;
}

}  // namespace

Sampler sampler_of(const lazy::Expr& source, bool anywhere) {
  const auto read = [&source](const Box& box, const View& to) {
    Heap heap;
    ThreadPool one(1);
    source.read(box, to, heap, one);
  };
  return {read, grain_of(source), source.working_bytes(), anywhere};
}

ArraySpec settle_codecs(const ArrayLayout& layout, const Sampler& sampler, int64_t memory) {
  ArraySpec spec = layout.spec;
  if (layout.candidates.empty() || checked_mul(count(spec.shape), spec.type.size) < kLeastBytes) return spec;
  const auto tried = try_all(spec, layout.candidates, sampler, memory);
  if (!tried) return spec;
  const std::vector<int64_t>& sizes = tried->encoded;
  spec.codecs = layout.candidates[static_cast<size_t>(std::min_element(sizes.begin(), sizes.end()) - sizes.begin())];
  return spec;
}

Expected expect(const ArraySpec& spec, const Sampler& sampler, int64_t memory) {
  if (spec.null_space) return {};
  const int64_t decoded = checked_mul(count(spec.shape), spec.type.size);
  if (decoded < kLeastBytes || spec.type.has_references_to_heap()) return {decoded, 0};
  ArraySpec chunked = spec;
  if (spec.contiguous()) chunked.chunks = spec.shape;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<codec::CodecList> codecs(spec.contiguous() ? 0 : 1, spec.codecs);
  const auto tried = try_all(chunked, codecs, sampler, memory);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!tried || tried->decoded == 0) return {decoded, 0};
  const double share = static_cast<double>(decoded) / static_cast<double>(tried->decoded);
  return {spec.contiguous() ? decoded : static_cast<int64_t>(share * static_cast<double>(tried->encoded[0])),
          share * seconds};
}

}  // namespace lamella::plan
