#include "plan/steps.h"

#include "lazy/stream.h"
#include "matrix/densify.h"
#include "plan/layout.h"
#include "plan/trial.h"

namespace lamella::plan {
namespace {

using matrix::Layout;

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

// The parts of a sparse matrix may grow in HDF5, as anndata writes them.
ArrayItem part(const std::string& parent, const std::string& name, const lazy::ExprPtr& source) {
  ArrayItem item;
  item.path = join(parent, name);
  item.source = source;
  item.like.emplace();
  if (source->source() != nullptr) item.like = source->source()->spec();
  item.like->shape = source->shape();
  item.like->type = source->type();
  item.like->max_shape = {-1};
  return item;
}

// A source whose chunks are too big to be decoded whole is read as a stream, where its codecs allow that.
lazy::ExprPtr readable(const lazy::ExprPtr& source, int64_t memory) {
  const array::Array* array = source->source();
  if (array == nullptr || array->chunk_working_bytes() <= memory / 4 || !lazy::can_stream(*array)) return source;
  return lazy::stream(std::shared_ptr<const array::Array>(source, array));  // shares the owner of `source`
}

// The non-zeros of a dense matrix are looked for twice, row by row, which is much reading where chunks are tall.
void plan_rows(SparseStep& step, int64_t memory) {
  const lazy::ExprPtr& dense = step.source.dense;
  BlockProblem problem{dense->shape(), dense->type().size, {}, grain_of(*dense), {}, true, 0};
  problem.unit = {matrix::nonzeros_rows(*dense), std::max<int64_t>(dense->shape()[1], 1)};
  const BlockChoice rows = choose_block(problem);
  problem.memory = memory / 8 * 5;
  step.tiles = plan_tiles(dense, problem, rows, 2, memory);
  step.passes = step.tiles ? step.tiles->choice.passes : 2 * rows.passes;
}

struct StepMaker {
  const WriteOptions& options;
  int64_t memory;
  std::vector<Step> steps;

  void operator()(const GroupItem& item) { steps.push_back(GroupStep{item.path, item.attributes}); }

  void operator()(const ArrayItem& item) {
    const ArrayLayout layout = choose_layout(item, options, memory);
    const lazy::ExprPtr source = item.null_space ? nullptr : readable(item.source, memory);
    // A stream is slow to reach its middle, so its beginning has to stand for it.
    const Sampler sampler = source ? sampler_of(*source, source == item.source) : Sampler{};
    CopyPlan plan = plan_copy(source, settle_codecs(layout, sampler, memory), options.zip, memory);
    steps.push_back(CopyStep{item.path, item.attributes, std::move(plan)});
  }

  void operator()(const MatrixItem& item) {
    const Layout from = item.source.layout();
    array::Attributes attributes = matrix_attributes(item, item.layout);
    if (item.layout == Layout::Dense) {
      ArrayItem array;
      array.path = item.path;
      array.attributes = std::move(attributes);
      array.source = from == Layout::Dense ? item.source.dense : matrix::densify(item.source.sparse);
      if (from == Layout::Dense && array.source->source() != nullptr) array.like = array.source->source()->spec();
      return (*this)(array);
    }
    const auto parts = from == Layout::Dense ? std::nullopt : item.source.sparse->parts();
    if (item.layout != from || !parts) {
      SparseStep step{item.path, std::move(attributes), item.source, item.layout, 2, nullptr};
      if (from == Layout::Dense) plan_rows(step, memory);
      steps.push_back(std::move(step));
      return;
    }
    steps.push_back(GroupStep{item.path, std::move(attributes)});
    (*this)(part(item.path, "data", parts->data));
    (*this)(part(item.path, "indices", parts->indices));
    (*this)(part(item.path, "indptr", parts->indptr));
  }
};

}  // namespace

array::Attributes matrix_attributes(const MatrixItem& item, Layout layout) {
  array::Attributes out = item.attributes;
  if (layout == Layout::Dense) {
    out.set("encoding-type", Json("array"));
    out.set("encoding-version", Json("0.2.0"));
    return out;
  }
  out.set("encoding-type", Json(layout == Layout::Csr ? "csr_matrix" : "csc_matrix"));
  out.set("encoding-version", Json("0.1.0"));
  out.set("shape", array::Attribute{Json(item.source.shape()), DType::int_(8), {2}, false});
  return out;
}

std::vector<Step> make_steps(const Recipe& recipe, const WriteOptions& options, int64_t memory) {
  StepMaker maker{options, memory, {}};
  for (const Item& item : recipe.items) {
    try {
      std::visit(maker, item);
    } catch (Error& error) {
      const std::string path = std::visit([](const auto& i) { return i.path; }, item);
      throw error.prefix(options.target + ": /" + path);
    }
  }
  return std::move(maker.steps);
}

int64_t decoded_bytes(const Step& step) {
  if (const auto* copy = std::get_if<CopyStep>(&step))
    return copy->plan.spec.null_space ? 0 : copy->plan.decoded_bytes();
  const auto* sparse = std::get_if<SparseStep>(&step);
  if (sparse == nullptr) return 0;
  if (sparse->source.sparse) {
    return checked_mul(sparse->source.sparse->most_entries(), sparse->source.type().size + 4);
  }
  return checked_mul(count(sparse->source.shape()), sparse->source.type().size);
}

int64_t work_bytes(const Step& step) {
  if (const auto* copy = std::get_if<CopyStep>(&step)) return copy->plan.work_bytes();
  const auto* sparse = std::get_if<SparseStep>(&step);
  return decoded_bytes(step) + (sparse != nullptr && sparse->tiles ? sparse->tiles->work_bytes() : 0);
}

const std::string& path_of(const Step& step) {
  return std::visit([](const auto& s) -> const std::string& { return s.path; }, step);
}

}  // namespace lamella::plan
