#include "plan/sparse_write.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/convert.h"
#include "matrix/ordered_entries.h"
#include "plan/layout.h"
#include "plan/tiles.h"
#include "plan/trial.h"

namespace lamella::plan {
namespace {

using matrix::OrderedEntries;

constexpr int64_t kRunBytes = int64_t{4} << 20;  // of entries that are read and appended together

// A 1-d part of the matrix that may grow, laid out like the values of the source.
ArrayLayout part_layout(const SparseStep& step, const DType& type, int64_t length, const WriteOptions& options,
                        int64_t memory) {
  ArrayItem item;
  item.source = lazy::fill({length}, type, {});
  item.like.emplace();
  const auto parts = step.source.sparse ? step.source.sparse->parts() : std::nullopt;
  const lazy::ExprPtr values = step.source.dense ? step.source.dense : parts ? parts->data : nullptr;
  if (values && values->source() != nullptr) item.like->codecs = values->source()->spec().codecs;
  item.like->shape = {length};
  item.like->type = type;
  item.like->max_shape = {-1};
  return choose_layout(item, options, memory);
}

// Data and indices, run by run: whole chunks of both, as many as fit.
struct EntryWriter {
  Run& run;
  OrderedEntries& sort;
  array::ArrayWriter& data;
  array::ArrayWriter& indices;
  int64_t data_array, indices_array;

  // `which`: both in turn, or only one of the two where the target cannot take them in turn.
  void write(bool with_data, bool with_indices) {
    const int64_t index_size = sort.index_type().size, value_size = sort.value_type().size;
    const int64_t chunk = std::max(data.spec().chunks[0], indices.spec().chunks[0]);
    const int64_t entry = index_size + value_size;
    // Of a fixed size where memory allows: the runs decide in which order chunks stand in the file.
    const int64_t step = std::max<int64_t>(std::min(kRunBytes, run.memory / 8) / (chunk * entry), 1) * chunk;
    for (int64_t begin = 0; begin < sort.nnz(); begin += step) {
      const int64_t n = std::min(step, sort.nnz() - begin);
      const Box block{{begin}, {n}};
      const int64_t chunks_of_data = with_data ? ceil_div(n, data.spec().chunks[0]) : 0;
      const int64_t chunks_of_indices = with_indices ? ceil_div(n, indices.spec().chunks[0]) : 0;
      const int64_t data_done = with_data ? restore_block(run, data, data_array, block) : 0;
      // What follows the data in the journal is there only if all of the data is.
      const int64_t indices_done =
          with_indices && data_done == chunks_of_data ? restore_block(run, indices, indices_array, block) : 0;
      if (data_done < chunks_of_data || indices_done < chunks_of_indices) {
        Buffer values(n * value_size), places(n * index_size);
        sort.read(begin, begin + n, places.data(), values.data());
        if (with_data)
          append_block(run, data, data_array, block, data_done, View::c_order(values.data(), {n}, value_size));
        if (with_indices)
          append_block(run, indices, indices_array, block, indices_done, View::c_order(places.data(), {n}, index_size));
      }
      run.meter.add(n * entry / (with_data && with_indices ? 1 : 2));
    }
  }
};

// The chunk length in entries that suits both arrays, so that runs of whole chunks of the one are such of the other.
// Samples of one of the two arrays that the sort makes.
Sampler sampler_of(OrderedEntries& sort, bool of_data) {
  return {[&sort, of_data](const Box& box, const View& to) {
            const int64_t begin = box.offset[0], n = box.shape[0];
            Buffer other(n * (of_data ? sort.index_type().size : sort.value_type().size));
            if (of_data) sort.read(begin, begin + n, other.data(), to.data);
            else sort.read(begin, begin + n, to.data, other.data());
          },
          {},
          kRunBytes,
          true};
}

void align_chunks(array::ArraySpec& data, array::ArraySpec& indices) {
  if (data.chunks.empty() || indices.chunks.empty()) return;
  const bool sharded = !data.shards.empty() && !indices.shards.empty();
  const int64_t per_shard = sharded ? data.shards[0] / data.chunks[0] : 1;
  const int64_t chunk = std::min(data.chunks[0], indices.chunks[0]);
  data.chunks[0] = indices.chunks[0] = chunk;
  if (sharded) data.shards[0] = indices.shards[0] = chunk * per_shard;
  else data.shards = indices.shards = {};
}

}  // namespace

void run_sparse(Run& run, const SparseStep& step, const WriteOptions& options) {
  std::optional<TileFile> tiles;
  if (step.tiles && TileFile::fits(run, *step.tiles)) tiles.emplace(run, *step.tiles, run.arrays);
  else if (step.tiles) run.meter.add(step.tiles->work_bytes());
  const matrix::Matrix source = tiles ? matrix::Matrix{tiles->expr(), nullptr} : step.source;
  const auto sort = matrix::ordered_entries(source, step.layout);
  const int64_t for_sort = run.memory / 2;
  sort->prepare({for_sort, run.threads, run.scratch_folder, [&] { run.meter.add(0); }});
  run.sink.create_group(step.path, step.attributes);
  ArrayLayout data_layout = part_layout(step, sort->value_type(), sort->nnz(), options, run.memory);
  ArrayLayout indices_layout = part_layout(step, sort->index_type(), sort->nnz(), options, run.memory);
  align_chunks(data_layout.spec, indices_layout.spec);
  const array::ArraySpec data_spec = settle_codecs(data_layout, sampler_of(*sort, true), run.memory / 4);
  const array::ArraySpec indices_spec = settle_codecs(indices_layout, sampler_of(*sort, false), run.memory / 4);
  const std::string prefix = step.path.empty() ? "" : step.path + "/";
  const auto data = run.sink.create_array(prefix + "data", data_spec, {});
  const auto indices = run.sink.create_array(prefix + "indices", indices_spec, {});
  const int64_t data_array = run.arrays++, indices_array = run.arrays++;
  if (sort->nnz() > 0) {
    EntryWriter writer{run, *sort, *data, *indices, data_array, indices_array};
    if (run.sink.interleaves_arrays()) {
      writer.write(true, true);
    } else {
      writer.write(true, false);
      writer.write(false, true);
    }
  }
  data->finish();
  indices->finish();

  const std::vector<int64_t>& indptr = sort->indptr();
  const auto n = static_cast<int64_t>(indptr.size());
  const lazy::ExprPtr wide =
      lazy::in_memory({n}, DType::int_(8), reinterpret_cast<const std::byte*>(indptr.data()), nullptr);
  const lazy::ExprPtr narrow = lazy::cast(wide, sort->index_type());
  const ArrayLayout indptr_layout = part_layout(step, sort->index_type(), n, options, run.memory);
  const array::ArraySpec indptr_spec = settle_codecs(indptr_layout, sampler_of(*narrow, true), run.memory / 4);
  const CopyPlan plan = plan_copy(narrow, indptr_spec, options.zip, run.memory / 2);
  const auto writer = run.sink.create_array(prefix + "indptr", indptr_spec, {});
  run_copy(run, plan, *writer, run.arrays++);
}

Json describe_sparse(const SparseStep& step, int64_t memory) {
  const auto sort = matrix::ordered_entries(step.source, step.layout);
  const Shape& shape = step.source.shape();
  int64_t stored = 0, decoded = 0;
  if (step.source.sparse) {
    stored = step.source.sparse->stored_bytes();
    decoded = checked_mul(step.source.sparse->most_entries(), step.source.type().size + 4);
  } else {
    stored = step.source.dense->stored_bytes();
    decoded = checked_mul(count(shape), step.source.type().size);
  }
  const int64_t sorted = decoded / std::max<int64_t>(memory / 8, 1) + 1;
  const int64_t needed = std::max(2 * sort->needed_bytes(), step.tiles ? step.tiles->needed_bytes : 0);
  return {{"element", "/" + step.path},
          {"shape", shape},
          {"dtype", to_string(step.source.type())},
          {"tasks", sort->sorts() ? sorted : ceil_div(decoded, kRunBytes)},
          {"how", std::string(step.tiles ? "tiles on disk, " : "") +
                      (sort->sorts() ? "count, deal into buckets, sort each" : "count, read in order")},
          {"passes", step.passes},
          {"scratch_bytes", step.tiles ? step.tiles->decoded_bytes() : 0},
          {"decoded_bytes", decoded},
          {"stored_bytes_in", stored},
          {"peak_bytes", std::min(memory, 2 * decoded + sort->needed_bytes())},
          {"needed_bytes", needed}};
}

double sampled_seconds(const SparseStep& step) {
  constexpr int64_t kMajors = 256;
  const matrix::SparsePtr sparse = step.source.sparse ? step.source.sparse : matrix::nonzeros(step.source.dense);
  const int64_t majors = std::min(kMajors, sparse->major());
  if (majors == 0 || sparse->scattered()) return 0;
  ThreadPool one(1);
  const auto begin = std::chrono::steady_clock::now();
  sparse->visit(0, majors, true, {one}, [](const matrix::EntryBlock&) {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool sorts = sparse->layout() != step.layout;  // counted, dealt out, sorted
  return seconds * static_cast<double>(sparse->major()) / static_cast<double>(majors) * (sorts ? 3 : 1);
}

}  // namespace lamella::plan
