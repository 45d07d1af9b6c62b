#include "plan/layout.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;
using array::SinkFormat;
using codec::CodecList;
using codec::CodecSpec;

constexpr int64_t kChunkBytes = int64_t{1} << 20;  // of chunks that we choose: some hundred to a shard, one to a task
constexpr int64_t kHdf5ChunkBytes = int64_t{512} << 10;  // HDF5 readers cache 1 MiB (8 since 2.0): several fit
constexpr int64_t kTinyChunkBytes = int64_t{64}
                                    << 10;  // smaller ones are not taken over: a file or an index entry each
constexpr int64_t kShardBytes = int64_t{256} << 20;

bool all_named(const CodecList& codecs, const std::set<std::string>& names) {
  return std::all_of(codecs.begin(), codecs.end(), [&](const CodecSpec& c) { return names.count(c.name) > 0; });
}

CodecList bytes_codecs(const CodecList& codecs) {
  CodecList out;
  std::copy_if(codecs.begin(), codecs.end(), std::back_inserter(out),
               [](const CodecSpec& codec) { return codec::kind_of(codec) == codec::CodecKind::Bytes; });
  return out;
}

CodecSpec pack_codec(const ArraySpec& spec, SinkFormat format) {
  if (format != SinkFormat::Hdf5 && spec.type.kind == TypeKind::String) return {"vlen-utf8", Json::object()};
  if (format != SinkFormat::Hdf5 && spec.type.kind == TypeKind::VlenBytes) return {"vlen-bytes", Json::object()};
  return {"bytes", Json::object()};
}

// What a format compresses with when neither the user nor the source has an opinion.
struct Habit {
  const char* plain;
  const char* shuffled;  // the same after the bytes of equal significance were brought together
  const char* untried;   // for elements on which the two are not tried
};

Habit habit_of(SinkFormat format) {
  switch (format) {
    case SinkFormat::Hdf5: return {"gzip", "shuffle,gzip", "gzip"};
    // Shuffle alone is no codec that every reader of v3 knows; blosc is, and its zstd at 2 is zstd's own 3, the
    // default.
    case SinkFormat::Zarr3: return {"zstd:0", "blosc:zstd:2:shuffle", "zstd:0"};
    case SinkFormat::Zarr2: return {"blosc:lz4:5:noshuffle", "blosc:lz4:5:shuffle", "blosc:lz4:5:shuffle"};
  }
  return {"none", "none", "none"};
}

// The codecs of the source when every ordinary reader of the target's format knows them; nothing: the format's habit.
std::optional<CodecList> inherited(const CodecList& source, SinkFormat format) {
  const CodecList codecs = bytes_codecs(source);
  switch (format) {
    case SinkFormat::Hdf5:
      // zstd or blosc in a Zarr store is everyday; in HDF5 it needs a plug-in, so only HDF5 itself hands it on.
      if (all_named(codecs, {"zlib", "gzip", "shuffle", "fletcher32", "lzf", "hdf5-lz4", "bitshuffle"})) return codecs;
      break;
    case SinkFormat::Zarr3:
      if (!codecs.empty() && all_named(codecs, {"zstd", "blosc", "gzip", "crc32c"})) return codecs;
      break;
    case SinkFormat::Zarr2:
      if (!codecs.empty() && all_named(codecs, {"zstd", "blosc", "gzip", "zlib", "lz4"})) return codecs;
      break;
  }
  return std::nullopt;
}

// In the form that the target's format gives them, so that equal codecs compare equal.
CodecList for_format(CodecList codecs, SinkFormat format, int64_t item_size, int64_t chunk_bytes) {
  if (format == SinkFormat::Hdf5) return codec::hdf5_codecs(codecs, item_size, chunk_bytes);
  for (CodecSpec& codec : codecs) codec = codec::canonical(codec, item_size);
  return codecs;
}

Shape clip_chunks(Shape chunks, const Shape& shape) {
  for (size_t axis = 0; axis < chunks.size(); ++axis) {
    chunks[axis] = std::clamp<int64_t>(chunks[axis], 1, std::max<int64_t>(shape[axis], 1));
  }
  return chunks;
}

// Whole chunks along the last axes first, so that a shard is a run of rows.
Shape shard_of_about(const Shape& shape, const Shape& chunks, int64_t item_size, int64_t bytes) {
  Shape shard = chunks;
  int64_t size = count(chunks) * item_size;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t most = std::max<int64_t>(ceil_div(shape[axis], chunks[axis]), 1);
    const int64_t times = std::clamp<int64_t>(bytes / std::max<int64_t>(size, 1), 1, most);
    shard[axis] = chunks[axis] * times;
    size *= times;
    if (times < most) break;
  }
  return shard;
}

Shape choose_chunks(const ArrayItem& item, const WriteOptions& options, const ArraySpec& spec, int64_t memory) {
  const size_t rank = spec.shape.size();
  if (options.chunks && options.chunks->size() == rank) return clip_chunks(*options.chunks, spec.shape);
  const bool hdf5 = options.format == SinkFormat::Hdf5;
  if (item.like && item.like->chunks.size() == rank && rank > 0) {
    const int64_t bytes = checked_mul(count(item.like->chunks), spec.type.size);
    const bool tiny = bytes < kTinyChunkBytes && bytes < count(spec.shape) * spec.type.size && !hdf5;
    // Chunks of a sharded source are small on purpose and stay, as long as the target has shards as well.
    const bool keeps_shards = !item.like->shards.empty() && options.format == SinkFormat::Zarr3;
    if ((!tiny || keeps_shards) && bytes <= std::max(memory / 8, kChunkBytes)) return item.like->chunks;
  }
  return chunk_of_about(spec.shape, spec.type.size, hdf5 ? kHdf5ChunkBytes : kChunkBytes);
}

void choose_shards(const ArrayItem& item, const WriteOptions& options, ArraySpec& spec) {
  const size_t rank = spec.shape.size();
  if (options.format != SinkFormat::Zarr3 || options.no_shards) return;
  if (options.shards && options.shards->size() == rank) {
    spec.shards = *options.shards;
    for (size_t axis = 0; axis < rank; ++axis) spec.shards[axis] = round_up(spec.shards[axis], spec.chunks[axis]);
    return;
  }
  if (item.like && item.like->chunks == spec.chunks && item.like->shards.size() == rank) {
    spec.shards = item.like->shards;
    return;
  }
  // Not spec.grid(), which is that of contiguous storage as long as there are no codecs.
  if (Grid{spec.shape, spec.chunks}.size() > 1)
    spec.shards = shard_of_about(spec.shape, spec.chunks, spec.type.size, kShardBytes);
}

}  // namespace

Shape chunk_of_about(const Shape& shape, int64_t item_size, int64_t bytes) {
  Shape chunk = shape;
  for (int64_t& length : chunk) length = std::max<int64_t>(length, 1);
  while (checked_mul(count(chunk), item_size) > bytes) {
    const auto longest = std::max_element(chunk.begin(), chunk.end());
    if (*longest == 1) break;
    *longest = ceil_div(*longest, 2);
  }
  return chunk;
}

ArrayLayout choose_layout(const ArrayItem& item, const WriteOptions& options, int64_t memory) {
  const bool hdf5 = options.format == SinkFormat::Hdf5;
  ArrayLayout layout;
  ArraySpec& spec = layout.spec;
  if (item.null_space) {
    spec.null_space = true;
    spec.type = DType::float_(4);
    return layout;
  }
  spec.shape = item.source->shape();
  spec.type = item.source->type();
  if (item.like && item.like->type == spec.type) {
    spec.fill = item.like->fill;
    spec.fill_owner = item.like->fill_owner;
  }
  if (item.like) spec.dimension_names = item.like->dimension_names;
  if (spec.dimension_names.size() != spec.shape.size()) spec.dimension_names.clear();
  const bool scalar = spec.shape.empty() || item.small;
  if (scalar && hdf5) return layout;

  const Habit habit = habit_of(options.format);
  CodecList codecs;
  bool by_habit = false;
  if (!scalar && options.codecs) {
    codecs = *options.codecs;
  } else if ((item.like && !item.like->contiguous()) || !hdf5) {
    const auto kept = inherited(item.like ? item.like->codecs : CodecList{}, options.format);
    codecs = kept ? *kept : codec::parse_codecs(habit.untried);
    by_habit = !kept;
  }
  const bool resizable = item.like && !item.like->max_shape.empty() && item.like->max_shape != item.like->shape;
  const bool asked_for_chunks = options.chunks && options.chunks->size() == spec.shape.size();
  const bool was_chunked = item.like && !item.like->contiguous() && !item.like->shape.empty();
  if (hdf5 && codecs.empty() && !resizable && !asked_for_chunks && (!was_chunked || count(spec.shape) == 0))
    return layout;

  if (scalar) {
    spec.chunks = spec.shape;
    for (int64_t& length : spec.chunks) length = std::max<int64_t>(length, 1);
  } else {
    spec.chunks = choose_chunks(item, options, spec, memory);
    choose_shards(item, options, spec);
    if (hdf5 && resizable && item.like->max_shape.size() == spec.shape.size()) spec.max_shape = item.like->max_shape;
  }
  const int64_t chunk_bytes = checked_mul(count(spec.chunks), spec.type.size);
  const int64_t item_size = spec.type.is_vlen() ? 1 : spec.type.size;
  codecs = for_format(std::move(codecs), options.format, item_size, chunk_bytes);
  // Array codecs (a transpose, a delta) and the byte order are kept only where nothing about the elements changed.
  const bool same_bytes = item.like && item.like->type == spec.type && !hdf5 && !options.codecs &&
                          bytes_codecs(item.like->codecs) == codecs && item.like->chunks == spec.chunks &&
                          item.like->codecs.size() > codecs.size();
  if (same_bytes && !spec.type.has_references_to_heap()) {
    spec.codecs = item.like->codecs;
    return layout;
  }
  const auto packed = [&](const CodecList& compressors) {
    CodecList out = {pack_codec(spec, options.format)};
    out.insert(out.end(), compressors.begin(), compressors.end());
    return out;
  };
  spec.codecs = packed(codecs);
  if (by_habit && !scalar && spec.type.is_numeric() && item_size > 1) {
    for (const char* name : {habit.plain, habit.shuffled})
      layout.candidates.push_back(
          packed(for_format(codec::parse_codecs(name), options.format, item_size, chunk_bytes)));
  }
  return layout;
}

}  // namespace lamella::plan
