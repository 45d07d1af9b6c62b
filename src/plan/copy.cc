#include "plan/copy.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "plan/tiles.h"

namespace lamella::plan {
namespace {

constexpr int64_t kWindow = 16;                   // encoded chunks that may wait for their turn
constexpr int64_t kPassBytes = int64_t{4} << 20;  // encoded bytes that are read and passed on together

// Calls body(block) for every block of the array in the order in which they are written: cell by cell of `limit`
// (shards that must be written alone), row-major within.
template <class Body>
void for_each_block(const Shape& shape, const BlockChoice& choice, const Shape& limit, const Body& body) {
  if (count(shape) == 0) return;
  if (shape.empty()) return body(Box{});
  const Grid cells{shape, limit.empty() ? shape : limit};
  for (int64_t c = 0; c < cells.size(); ++c) {
    const Box cell = cells.box(cells.index(c));
    const Grid blocks{cell.shape, choice.block};
    for (int64_t b = 0; b < blocks.size(); ++b) {
      Box block = blocks.box(blocks.index(b));
      for (size_t axis = 0; axis < block.rank(); ++axis) block.offset[axis] += cell.offset[axis];
      body(block);
    }
  }
}

// One running copy.
struct Copy {
  Run& run;
  const CopyPlan& plan;
  array::ArrayWriter& writer;
  int64_t array;
  std::optional<TileFile> tiles;

  const lazy::Expr& source();
  void pass();
  void pass_cell(const Box& cell);
  void blocks();
  void contiguous();
  void write_run(int64_t first, const Buffer& data);
};

// What blocks are read from. Tiles are made when the first block is read, not before: a resumed run may need none.
const lazy::Expr& Copy::source() {
  if (!plan.tiles) return *plan.source;
  if (!tiles && TileFile::fits(run, *plan.tiles)) tiles.emplace(run, *plan.tiles, array);
  return tiles ? *tiles->expr() : *plan.source;
}

Shape chunk_at(const Box& chunks, int64_t i) {
  Shape chunk = Grid{chunks.shape, Shape(chunks.rank(), 1)}.index(i);
  for (size_t axis = 0; axis < chunk.size(); ++axis) chunk[axis] += chunks.offset[axis];
  return chunk;
}

// Cell by cell, as for_each_block.
void Copy::pass() {
  const Shape& shape = plan.spec.shape;
  const Grid cells{shape, plan.limit.empty() ? shape : plan.limit};
  for (int64_t c = 0; c < cells.size(); ++c) pass_cell(cells.box(cells.index(c)));
}

void Copy::pass_cell(const Box& cell) {
  const array::Array& from = *plan.source->source();
  const Box chunks = plan.spec.grid().cover(cell);
  const int64_t n = count(chunks.shape);
  const int64_t first = restore_block(run, writer, array, cell);
  OrderedAppend append(run, writer, array, kWindow);
  for (int64_t i = first; i < n;) {
    // Extents one after the other (indexes are walked), bytes in parallel.
    std::vector<array::ChunkExtent> extents;
    int64_t bytes = 0;
    const int64_t begin = i;
    for (; i < n && (extents.empty() || (bytes < kPassBytes && extents.size() < 4096)); ++i) {
      extents.push_back(from.locate(chunk_at(chunks, i)));
      bytes += extents.back().size;
    }
    run.threads.parallel_for(static_cast<int64_t>(extents.size()), [&](int64_t k) {
      try {
        const array::ChunkExtent& extent = extents[static_cast<size_t>(k)];
        array::EncodedChunk encoded;
        encoded.absent = !extent.file;
        encoded.skip_codecs = extent.skip_codecs;
        if (extent.file) encoded.bytes = extent.file->read(extent.position, extent.size);
        append.put(begin - first + k, chunk_at(chunks, begin + k), std::move(encoded));
      } catch (...) {
        append.abort();
        throw;
      }
    });
    run.journal.flush();
    run.meter.add(static_cast<int64_t>(extents.size()) * count(plan.spec.chunks) * plan.spec.type.size);
  }
}

void Copy::blocks() {
  const int64_t item = plan.spec.type.size;
  for_each_block(plan.spec.shape, plan.choice, plan.limit, [&](const Box& block) {
    const int64_t restored = restore_block(run, writer, array, block);
    if (restored < count(plan.spec.grid().cover(block).shape)) {
      Heap heap;
      Buffer data(count(block.shape) * item);
      const View view = View::c_order(data.data(), block.shape, item);
      source().read(block, view, heap, run.threads);
      append_block(run, writer, array, block, restored, view);
    }
    run.meter.add(count(block.shape) * item);
  });
}

// Pieces of a run in parallel: one thread does not keep up with the page cache. Strings are laid out one after the
// other.
void Copy::write_run(int64_t first, const Buffer& data) {
  const int64_t item = plan.spec.type.size;
  const int64_t piece =
      plan.spec.type.has_references_to_heap() ? data.size() : std::max<int64_t>(kPassBytes / item, 1) * item;
  run.threads.parallel_for(ceil_div(data.size(), std::max<int64_t>(piece, 1)), [&](int64_t i) {
    const int64_t at = i * piece;
    writer.write_run(first + at / item, data.bytes().subspan(static_cast<size_t>(at),
                                                             static_cast<size_t>(std::min(piece, data.size() - at))));
  });
}

// Contiguous storage: each block is one run, and the journal counts blocks.
void Copy::contiguous() {
  const int64_t item = plan.spec.type.size;
  const Shape strides = c_strides(plan.spec.shape);
  int64_t number = 0;
  for_each_block(plan.spec.shape, plan.choice, {}, [&](const Box& block) {
    const int64_t bytes = count(block.shape) * item;
    const auto earlier = run.journal.replay(array, number);
    if (earlier && !plan.spec.type.has_references_to_heap()) {
      writer.restore(block.offset, *earlier);
    } else {
      Heap heap;
      Buffer data(bytes);
      source().read(block, View::c_order(data.data(), block.shape, item), heap, run.threads);
      int64_t first = 0;
      for (size_t axis = 0; axis < strides.size(); ++axis) first += block.offset[axis] * strides[axis];
      write_run(first, data);
      if (!earlier) run.journal.record({array, number, {0, bytes, 0}});
      run.journal.flush();
    }
    ++number;
    run.meter.add(bytes);
  });
}

}  // namespace

int64_t restore_block(Run& run, array::ArrayWriter& writer, int64_t array, const Box& block) {
  const Grid grid = writer.spec().grid();
  const Box chunks = grid.cover(block);
  int64_t done = 0;
  for (; run.journal.replaying() && done < count(chunks.shape); ++done) {
    const Shape chunk = chunk_at(chunks, done);
    writer.restore(chunk, *run.journal.replay(array, grid.linear(chunk)));
  }
  return done;
}

void append_block(Run& run, array::ArrayWriter& writer, int64_t array, const Box& block, int64_t restored,
                  const View& data) {
  const Grid grid = writer.spec().grid();
  const Box chunks = grid.cover(block);
  const int64_t item = writer.spec().type.size;
  const std::vector<std::byte> fill = writer.spec().fill_element();
  OrderedAppend append(run, writer, array, kWindow);
  run.threads.parallel_for(count(chunks.shape) - restored, [&](int64_t k) {
    try {
      const Shape chunk = chunk_at(chunks, restored + k);
      const Box full = grid.full_box(chunk);
      Box inside = intersect(full, block);
      const bool whole = inside.shape == full.shape;
      for (size_t axis = 0; axis < inside.rank(); ++axis) inside.offset[axis] -= block.offset[axis];
      const View part = data.sub(inside);
      if (whole && is_c_contiguous(part.shape, part.strides, item)) {
        append.put(k, chunk, writer.encode({part.data, static_cast<size_t>(count(full.shape) * item)}));
        return;
      }
      Buffer padded(count(full.shape) * item);
      const View all = View::c_order(padded.data(), full.shape, item);
      if (!whole) fill_elements(all, fill.data(), item);
      copy_elements(all.sub({Shape(inside.rank(), 0), inside.shape}), read_only(part), item);
      append.put(k, chunk, writer.encode(padded.bytes()));
    } catch (...) {
      append.abort();
      throw;
    }
  });
  run.journal.flush();
}

void run_copy(Run& run, const CopyPlan& plan, array::ArrayWriter& writer, int64_t array) {
  if (!plan.spec.null_space && count(plan.spec.shape) > 0) {
    if (!plan.pass_through && plan.needed_bytes > run.memory) {
      throw Error(ErrorKind::OutOfBudget, "needs " + format_bytes(plan.needed_bytes) + " of working memory, " +
                                              format_bytes(run.memory) +
                                              " are left; give more --memory or smaller --chunks");
    }
    // As many threads as the memory beside the block can feed.
    const int64_t spare = run.memory - plan.choice.bytes;
    const auto feeds = plan.pass_through ? run.threads.size() : spare / std::max<int64_t>(2 * plan.thread_bytes, 1);
    ThreadPool few(static_cast<int>(std::clamp<int64_t>(feeds, 1, run.threads.size())));
    ThreadPool& threads = few.size() == run.threads.size() ? run.threads : few;
    Run limited{run.sink, run.journal, threads, run.meter, run.memory, run.scratch_folder, run.arrays};
    Copy copy{limited, plan, writer, array, {}};
    if (plan.pass_through) copy.pass();
    else if (plan.spec.contiguous()) copy.contiguous();
    else copy.blocks();
    if (plan.tiles && !copy.tiles) run.meter.add(plan.tiles->work_bytes());
  }
  writer.finish();
}

}  // namespace lamella::plan
