#include <algorithm>

#include "array/array.h"
#include "array/plain.h"
#include "base/error.h"
#include "base/memory.h"

namespace lamella::array {
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;    // contiguous storage is read in pieces of about this many bytes
constexpr int64_t kBatch = int64_t{256} << 10;  // decoded bytes that make it worth to wake a thread

std::string chunk_name(const Shape& chunk) { return "chunk " + to_string(chunk); }

}  // namespace

std::vector<std::byte> ArraySpec::fill_element() const {
  return fill.empty() ? std::vector<std::byte>(static_cast<size_t>(type.size)) : fill;
}

Array::Array(ArraySpec spec, Attributes attributes, std::string name)
    : spec_(std::move(spec)), attributes_(std::move(attributes)), name_(std::move(name)) {
  if (spec_.contiguous()) return;
  try {
    pipeline_ = std::make_unique<codec::Pipeline>(spec_.codecs,
                                                  codec::BlockType{spec_.type, spec_.chunks, spec_.fill_element()});
  } catch (Error& error) {
    throw error.prefix(name_);
  }
}

Array::~Array() = default;

void Array::resolve(std::byte*, int64_t, Heap&) const {}

void Array::read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const {
  if (spec_.null_space || std::any_of(region.shape.begin(), region.shape.end(), [](int64_t n) { return n == 0; }))
    return;
  if (!contains(Box::whole(spec_.shape), region)) {
    throw Error(ErrorKind::Invalid,
                name_ + ": region " + to_string(region) + " lies outside of shape " + to_string(spec_.shape));
  }
  if (spec_.fill_owner) heap.adopt(spec_.fill_owner);
  if (spec_.contiguous()) return read_contiguous(region, to, heap, threads);

  // Threads that decode write side by side, however far apart the pieces are that they read.
  if (!pipeline_->is_identity() && is_c_contiguous(to.shape, to.strides, spec_.type.size))
    make_resident({to.data, static_cast<size_t>(count(region.shape) * spec_.type.size)}, threads);
  const Grid grid = spec_.grid();
  const Box chunks = grid.cover(region);
  const Grid walk{chunks.shape, Shape(chunks.rank(), 1)};
  const int64_t n = count(chunks.shape);
  const int64_t batch = std::clamp<int64_t>(kBatch / std::max<int64_t>(pipeline_->type().bytes(), 1), 1, n);
  threads.parallel_for(ceil_div(n, batch), [&](int64_t b) {
    for (int64_t i = b * batch; i < std::min(n, (b + 1) * batch); ++i) {
      Shape chunk = walk.index(i);
      for (size_t axis = 0; axis < chunk.size(); ++axis) chunk[axis] += chunks.offset[axis];
      const Box part = intersect(grid.full_box(chunk), region);
      Box inside = part;
      for (size_t axis = 0; axis < chunk.size(); ++axis) inside.offset[axis] -= region.offset[axis];
      try {
        read_chunk(chunk, part, to.sub(inside), heap);
      } catch (Error& error) {
        throw error.prefix(name_ + ": " + chunk_name(chunk));
      }
    }
  });
}

void Array::read_chunk(const Shape& chunk, const Box& region, const View& to, Heap& heap) const {
  const ChunkExtent extent = locate(chunk);
  const int64_t item = spec_.type.size;
  if (!extent.file) {
    fill_elements(to, spec_.fill_element().data(), item);
    return;
  }
  const Box whole = spec_.grid().full_box(chunk);
  Box inside = region;
  for (size_t axis = 0; axis < inside.rank(); ++axis) inside.offset[axis] -= whole.offset[axis];
  const bool plain = pipeline_->is_identity() && !spec_.type.has_references_to_heap();
  if (plain && extent.size == pipeline_->type().bytes()) {
    return read_plain(*extent.file, extent.position, spec_.chunks, item, inside, to);
  }
  if (extent.size < 0 || extent.position < 0 || extent.position > extent.file->size() - extent.size) {
    throw Error(ErrorKind::Corrupt, extent.file->name() + ": " + std::to_string(extent.size) + " bytes at offset " +
                                        std::to_string(extent.position) + " lie beyond the end of the file");
  }
  const Buffer encoded = extent.file->read(extent.position, extent.size);
  if (region.shape == whole.shape && is_c_contiguous(to.shape, to.strides, item)) {
    pipeline_->decode(encoded.bytes(), {to.data, static_cast<size_t>(pipeline_->type().bytes())}, heap,
                      extent.skip_codecs);
    resolve(to.data, count(spec_.chunks), heap);
    return;
  }
  Buffer decoded(pipeline_->type().bytes());
  pipeline_->decode(encoded.bytes(), decoded.bytes(), heap, extent.skip_codecs);
  resolve(decoded.data(), count(spec_.chunks), heap);
  copy_elements(to, read_only(View::c_order(decoded.data(), spec_.chunks, item).sub(inside)), item);
}

void Array::read_contiguous(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const {
  const ChunkExtent extent = locate(Shape(spec_.shape.size(), 0));
  const int64_t item = spec_.type.size;
  if (!extent.file) {
    fill_elements(to, spec_.fill_element().data(), item);
    return;
  }
  // Pieces along the first axis that has more than one index: neighbours in the file.
  size_t axis = 0;
  while (axis + 1 < region.rank() && region.shape[axis] == 1) ++axis;
  const int64_t rows = region.rank() == 0 ? 1 : region.shape[axis];
  const int64_t row_bytes = std::max<int64_t>(count(region.shape) / rows * item, 1);
  const int64_t step = std::clamp<int64_t>(kPiece / row_bytes, 1, rows);
  threads.parallel_for(ceil_div(rows, step), [&](int64_t piece) {
    Box part = region;
    Box inside{Shape(region.rank(), 0), region.shape};
    if (region.rank() > 0) {
      inside.offset[axis] = piece * step;
      inside.shape[axis] = part.shape[axis] = std::min(step, rows - piece * step);
      part.offset[axis] += piece * step;
    }
    const View part_to = to.sub(inside);
    if (!spec_.type.has_references_to_heap()) {
      return read_plain(*extent.file, extent.position, spec_.shape, item, part, part_to);
    }
    Buffer stored(count(part.shape) * item);
    const View view = View::c_order(stored.data(), part.shape, item);
    read_plain(*extent.file, extent.position, spec_.shape, item, part, view);
    resolve(stored.data(), count(part.shape), heap);
    copy_elements(part_to, read_only(view), item);
  });
}

Buffer Array::read_all(Heap& heap) const {
  Buffer out(spec_.null_space ? 0 : checked_mul(count(spec_.shape), spec_.type.size));
  read(Box::whole(spec_.shape), View::c_order(out.data(), spec_.shape, spec_.type.size), heap);
  return out;
}

int64_t Array::chunk_working_bytes() const {
  if (!pipeline_) return kPiece;
  const int64_t decoded = pipeline_->type().bytes();
  return pipeline_->is_identity() ? std::min(decoded, kPiece) : 2 * decoded + pipeline_->scratch_bytes();
}

}  // namespace lamella::array
