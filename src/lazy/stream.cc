#include "lazy/stream.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "base/error.h"

namespace lamella::lazy {
namespace {

constexpr int64_t kPiece = int64_t{1} << 20;  // decoded bytes that are taken off a stream at a time
constexpr size_t kMaxCursors = 4;

// A place in the decoded bytes of one chunk.
struct Cursor {
  int64_t chunk = -1;
  int64_t row = 0;  // along the first axis: rows before it were taken
  codec::BytesCodec::Pull pull;
};

codec::BytesCodec::Pull stored_bytes_of(const array::ChunkExtent& extent) {
  return [extent, at = int64_t{0}](Bytes out) mutable {
    const int64_t n = std::min<int64_t>(static_cast<int64_t>(out.size()), extent.size - at);
    if (n > 0) extent.file->read_at(extent.position + at, out.first(static_cast<size_t>(n)));
    at += n;
    return n;
  };
}

class StreamExpr : public Expr {
 public:
  explicit StreamExpr(std::shared_ptr<const array::Array> array)
      : Expr(array->spec().shape, array->spec().type), array_(std::move(array)) {
    const Shape& chunk = array_->spec().chunks;
    row_bytes_ = std::max<int64_t>(count(chunk) / std::max<int64_t>(chunk[0], 1) * type().size, 1);
    rows_at_once_ = std::clamp<int64_t>(kPiece / row_bytes_, 1, chunk[0]);
  }

  void read(const Box& region, const View& to, Heap&, ThreadPool&) const override {
    std::lock_guard lock(mutex_);
    const Grid grid = array_->spec().grid();
    const Box chunks = grid.cover(region);
    if (region.empty()) return;
    Shape chunk = chunks.offset;
    do {
      const Box part = intersect(grid.full_box(chunk), region);
      Box inside = part;
      for (size_t axis = 0; axis < inside.rank(); ++axis) inside.offset[axis] -= region.offset[axis];
      try {
        read_chunk(grid, chunk, part, to.sub(inside));
      } catch (Error& error) {
        throw error.prefix(array_->name() + ": chunk " + to_string(chunk));
      }
    } while (next_index(chunk, chunks));
  }

  // A few rows of a chunk's whole width: what lies beside them would be decoded for nothing.
  Shape grain() const override {
    Shape grain = array_->spec().chunks;
    grain[0] = rows_at_once_;
    return grain;
  }
  int64_t working_bytes() const override {
    return rows_at_once_ * row_bytes_ + array_->pipeline()->scratch_bytes() / 4;
  }
  int64_t stored_bytes() const override { return array_->stored_bytes(); }

 private:
  void read_chunk(const Grid& grid, const Shape& chunk, const Box& region, const View& to) const {
    const array::ChunkExtent extent = array_->locate(chunk);
    const int64_t item = type().size;
    if (!extent.file) return fill_elements(to, array_->spec().fill_element().data(), item);
    const Box whole = grid.full_box(chunk);
    const int64_t first = region.offset[0] - whole.offset[0];
    const int64_t end = first + region.shape[0];
    Cursor& cursor = cursor_for(grid.linear(chunk), first, extent);
    Buffer rows(rows_at_once_ * row_bytes_);
    while (cursor.row < end) {
      // Rows before the region are decoded and dropped.
      const int64_t stop = cursor.row < first ? first : end;
      const int64_t n = std::min(rows_at_once_, stop - cursor.row);
      take(cursor, rows.bytes().first(static_cast<size_t>(n * row_bytes_)));
      if (cursor.row >= first) {
        Shape shape = whole.shape;
        shape[0] = n;
        Box picked = region;
        for (size_t axis = 0; axis < picked.rank(); ++axis) picked.offset[axis] -= whole.offset[axis];
        picked.offset[0] = 0;
        picked.shape[0] = n;
        Box inside{Shape(region.rank(), 0), picked.shape};
        inside.offset[0] = cursor.row - first;
        copy_elements(to.sub(inside), ConstView::c_order(rows.data(), shape, item).sub(picked), item);
      }
      cursor.row += n;
    }
  }

  static void take(Cursor& cursor, Bytes out) {
    for (int64_t n; !out.empty(); out = out.subspan(static_cast<size_t>(n))) {
      n = cursor.pull(out);
      if (n <= 0) throw Error(ErrorKind::Corrupt, "decodes to fewer bytes than the chunk has");
    }
  }

  Cursor& cursor_for(int64_t chunk, int64_t row, const array::ChunkExtent& extent) const {
    const auto found = std::find_if(cursors_.begin(), cursors_.end(),
                                    [&](const Cursor& c) { return c.chunk == chunk && c.row <= row; });
    if (found != cursors_.end()) {
      cursors_.splice(cursors_.begin(), cursors_, found);
      return cursors_.front();
    }
    if (cursors_.size() >= kMaxCursors) cursors_.pop_back();
    cursors_.push_front({chunk, 0, array_->pipeline()->decode_stream(stored_bytes_of(extent))});
    return cursors_.front();
  }

  std::shared_ptr<const array::Array> array_;
  int64_t row_bytes_ = 1;
  int64_t rows_at_once_ = 1;
  mutable std::mutex mutex_;
  mutable std::list<Cursor> cursors_;  // the last one used in front
};

}  // namespace

bool can_stream(const array::Array& array) {
  if (array.pipeline() == nullptr || array.spec().type.has_references_to_heap() || array.spec().shape.empty())
    return false;
  return array.pipeline()->decode_stream([](Bytes) { return int64_t{0}; }) != nullptr;
}

ExprPtr stream(std::shared_ptr<const array::Array> array) { return std::make_shared<StreamExpr>(std::move(array)); }

}  // namespace lamella::lazy
