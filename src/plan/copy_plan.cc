#include <algorithm>

#include "base/error.h"
#include "plan/copy.h"

namespace lamella::plan {
namespace {

using array::ArraySpec;

constexpr int64_t kPassBytes = int64_t{8} << 20;  // resident while chunks pass through
// A row of contiguous storage costs about that much, however little is taken.
constexpr int64_t kReadAhead = int64_t{64} << 10;
constexpr double kTilesCost = 2.5;  // passes over the source: what writing tiles and reading them takes at most
constexpr int64_t kLargestTile = int64_t{256} << 20;  // bytes; HDF5 has a limit at 4 GiB

// May the stored chunks of the source serve as they are?
bool may_pass(const array::Array* from, const ArraySpec& to) {
  if (from == nullptr || to.contiguous() || from->spec().contiguous()) return false;
  const ArraySpec& spec = from->spec();
  if (spec.type != to.type || spec.shape != to.shape || spec.chunks != to.chunks || spec.codecs != to.codecs)
    return false;
  if (spec.fill_element() != to.fill_element() && !to.type.has_references_to_heap()) return false;
  // HDF5's variable-length elements are references into the file that they stand in.
  return !to.type.has_references_to_heap() ||
         std::any_of(to.codecs.begin(), to.codecs.end(),
                     [](const codec::CodecSpec& c) { return c.name.rfind("vlen-", 0) == 0; });
}

Shape unit_of(const ArraySpec& spec) {
  if (!spec.contiguous()) return spec.chunks;
  Shape unit(spec.shape.size(), 1);
  if (!unit.empty())
    unit.back() = std::clamp<int64_t>(kReadAhead / std::max<int64_t>(spec.type.size, 1), 1,
                                      std::max<int64_t>(spec.shape.back(), 1));
  return unit;
}

int64_t encode_bytes(const ArraySpec& spec) {
  if (spec.contiguous()) return 0;
  const codec::Pipeline pipeline(spec.codecs, {spec.type, spec.chunks, spec.fill_element()});
  return pipeline.encoded_bound() + pipeline.scratch_bytes() + pipeline.type().bytes();
}

// A part of the memory is for what threads hold while they decode and encode, the rest for one block: the block must
// not depend on the number of threads, as it decides the order of the chunks.
BlockProblem problem_of(const CopyPlan& plan, int64_t memory) {
  return {plan.spec.shape, plan.spec.type.size,    unit_of(plan.spec), grain_of(*plan.source),
          plan.limit,      plan.spec.contiguous(), memory / 8 * 5};
}

CopyPlan plan_direct_copy(lazy::ExprPtr source, const ArraySpec& spec, bool single_shards, int64_t memory) {
  CopyPlan plan;
  plan.source = std::move(source);
  plan.spec = spec;
  if (spec.null_space) return plan;
  plan.pass_through = may_pass(plan.source->source(), spec);
  if (single_shards && !spec.shards.empty()) plan.limit = spec.shards;
  const BlockProblem problem = problem_of(plan, memory);
  plan.choice = choose_block(problem);
  plan.thread_bytes = std::max(plan.source->working_bytes(), encode_bytes(spec));
  const int64_t unit_bytes = checked_mul(count(problem.unit), spec.type.size);
  plan.needed_bytes = plan.pass_through ? kPassBytes / 2 : std::max(2 * unit_bytes, unit_bytes + 2 * plan.thread_bytes);
  plan.peak_bytes = plan.pass_through ? kPassBytes
                                      : std::clamp(plan.choice.bytes + 2 * plan.thread_bytes, plan.needed_bytes,
                                                   std::max(memory, plan.needed_bytes));
  return plan;
}

}  // namespace

Shape grain_of(const lazy::Expr& source) {
  const array::Array* array = source.source();
  if (array == nullptr || !array->spec().contiguous()) return source.grain();
  return unit_of(array->spec());
}

std::shared_ptr<const CopyPlan> plan_tiles(const lazy::ExprPtr& source, const BlockProblem& problem,
                                           const BlockChoice& choice, int times, int64_t memory) {
  const double passes = choice.passes * times;
  if (choice.passes < 2 || passes < 1 + kTilesCost || !source->type().is_numeric()) return nullptr;
  ArraySpec spec;
  spec.shape = source->shape();
  spec.type = source->type();
  spec.codecs = {{"bytes", Json::object()}};
  spec.chunks = choose_tile(problem, choice);
  while (count(spec.chunks) * spec.type.size > kLargestTile) {
    int64_t& longest = *std::max_element(spec.chunks.begin(), spec.chunks.end());
    longest = ceil_div(longest, 2);
  }
  auto tiles = std::make_shared<const CopyPlan>(plan_direct_copy(source, spec, false, memory));
  return tiles->choice.passes + kTilesCost <= passes ? tiles : nullptr;
}

CopyPlan plan_copy(lazy::ExprPtr source, const ArraySpec& spec, bool single_shards, int64_t memory) {
  CopyPlan plan = plan_direct_copy(std::move(source), spec, single_shards, memory);
  if (spec.null_space || plan.pass_through) return plan;
  plan.tiles = plan_tiles(plan.source, problem_of(plan, memory), plan.choice, 1, memory);
  if (plan.tiles) {
    plan.needed_bytes = std::max(plan.needed_bytes, plan.tiles->needed_bytes);
    plan.peak_bytes = std::max(plan.peak_bytes, plan.tiles->peak_bytes);
  }
  return plan;
}

int64_t CopyPlan::decoded_bytes() const { return checked_mul(count(spec.shape), spec.type.size); }
int64_t CopyPlan::work_bytes() const {
  return spec.null_space ? 0 : checked_add(decoded_bytes(), tiles ? tiles->work_bytes() : 0);
}

Json CopyPlan::describe(const std::string& path) const {
  Json out = {{"element", "/" + path}, {"shape", spec.shape}, {"dtype", to_string(spec.type)}};
  if (!spec.contiguous()) out["chunks"] = spec.chunks;
  if (!spec.shards.empty()) out["shards"] = spec.shards;
  out["codec"] = spec.contiguous() ? "none" : codec::to_string(spec.codecs);
  out["tasks"] = pass_through ? spec.grid().size() : choice.blocks;
  out["how"] = pass_through ? "chunks pass through undecoded"
               : tiles      ? "decode into tiles on disk, encode"
                            : "decode, encode";
  if (!pass_through) out["block"] = choice.block;
  out["passes"] = pass_through ? 1.0 : (tiles ? *tiles : *this).choice.passes;
  if (tiles) out["scratch_bytes"] = tiles->decoded_bytes();
  out["decoded_bytes"] = decoded_bytes();
  out["stored_bytes_in"] = source ? source->stored_bytes() : 0;
  out["peak_bytes"] = peak_bytes;
  return out;
}

}  // namespace lamella::plan
