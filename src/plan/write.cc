#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "base/memory.h"
#include "plan/convert.h"
#include "plan/sparse_write.h"
#include "plan/steps.h"
#include "plan/target.h"
#include "plan/trial.h"

namespace lamella::plan {
namespace {

constexpr int64_t kReserve = int64_t{4} << 20;  // stacks, small allocations, metadata of the target
constexpr int64_t kLeast = int64_t{4} << 20;

// What steps may have resident beside what the process has already: metadata, code, the caller's own.
int64_t working_memory(int64_t budget, bool on_top) {
  const int64_t resident = on_top ? 0 : resident_bytes();
  const int64_t left = budget - resident - kReserve;
  if (left < kLeast) {
    throw Error(ErrorKind::OutOfBudget, "the memory budget of " + format_bytes(budget) +
                                            " is too small: the process itself has " + format_bytes(resident) +
                                            " resident; --memory " + format_bytes(resident + kReserve + 2 * kLeast) +
                                            " would do");
  }
  return left;
}

// The share for blocks must not follow the resident bytes of the moment to the last page, or runs would differ in their
// bytes: three quarters of the budget, unless the process has more than the rest already.
int64_t steady_share(int64_t budget, bool on_top) {
  const int64_t left = working_memory(budget, on_top);
  const int64_t usual = budget / 4 * 3;
  return left >= usual ? usual : left / 2;
}

Json identity_of(const Recipe& recipe, const WriteOptions& options, int64_t budget) {
  Json inputs = Json::object();
  for (const std::string& path : recipe.inputs) inputs[path] = input_identity(path);
  return {{"command", options.command}, {"memory", budget}, {"inputs", inputs}};
}

void check_inputs(const Json& identity) {
  for (const auto& [path, earlier] : identity["inputs"].items()) {
    if (input_identity(path) != earlier) {
      throw Error(ErrorKind::Io, path + ": changed while it was read; the target was not replaced, start again");
    }
  }
}

struct Check {
  const array::Sink& sink;
  void operator()(const GroupStep& step) const { sink.check_group(step.path, step.attributes); }
  void operator()(const CopyStep& step) const { sink.check_array(step.path, step.plan.spec, step.attributes); }
  void operator()(const SparseStep& step) const { sink.check_group(step.path, step.attributes); }
};

struct Execute {
  Run& run;
  const WriteOptions& options;

  void operator()(const GroupStep& step) const { run.sink.create_group(step.path, step.attributes); }
  void operator()(const CopyStep& step) const {
    const auto writer = run.sink.create_array(step.path, step.plan.spec, step.attributes);
    run_copy(run, step.plan, *writer, run.arrays++);
  }
  void operator()(const SparseStep& step) const { run_sparse(run, step, options); }
};

void check_all(const array::Sink& sink, const std::vector<Step>& steps) {
  for (const Step& step : steps) std::visit(Check{sink}, step);
}

void run_all(Run& run, const std::vector<Step>& steps, const WriteOptions& options) {
  for (const Step& step : steps) {
    run.meter.start(path_of(step));
    try {
      std::visit(Execute{run, options}, step);
    } catch (Error& error) {
      throw error.prefix(options.target + ": /" + path_of(step));
    }
  }
}

int64_t size_of(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return static_cast<int64_t>(fs::file_size(path));
  int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

}  // namespace

WriteResult write(const Recipe& recipe, const WriteOptions& options, Progress* progress, const CancelFlag* cancel) {
  const auto begin = std::chrono::steady_clock::now();
  int64_t budget = options.memory > 0 ? options.memory : default_memory_budget();
  // What a zip has got so far cannot be gone on with: its members stand one behind the other.
  Target target(options.target, identity_of(recipe, options, budget), options.overwrite,
                options.resume && !options.zip);
  if (target.resumed()) budget = target.identity()["memory"].get<int64_t>();

  const int64_t memory = steady_share(budget, options.memory_on_top);
  set_idle_buffer_limit(memory / 4);
  std::vector<Step> steps;
  try {
    steps = make_steps(recipe, options, memory);
  } catch (...) {
    if (target.resumed()) target.keep();  // a sample that cannot be read now says nothing against what is there
    throw;
  }
  int64_t decoded = 0, work = 0;
  for (const Step& step : steps) {
    decoded = checked_add(decoded, decoded_bytes(step));
    work = checked_add(work, work_bytes(step));
  }

  const auto sink = array::create_sink(target.data_path(), {options.format, options.zip, target.resumed(), true});
  check_all(*sink, steps);
  ThreadPool threads(options.threads > 0 ? options.threads : available_processors());
  Meter meter(progress, cancel, work);
  Journal journal(target.journal_path(), target.resumed());
  Run run{*sink, journal, threads, meter, memory, target.scratch_folder(), 0};
  try {
    run_all(run, steps, options);
    check_inputs(target.identity());
    sink->commit();
    target.commit();
  } catch (...) {
    if (options.resume && !options.zip) {
      journal.flush();
      target.keep();
    }
    throw;
  }
  WriteResult result;
  result.elements = static_cast<int64_t>(steps.size());
  result.read_bytes = decoded;
  result.written_bytes = size_of(options.target);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.peak_bytes = peak_resident_bytes();
  return result;
}

namespace {

// By samples; of one thread.
Expected expected(const Step& step, int64_t memory) {
  if (const auto* sparse = std::get_if<SparseStep>(&step)) return {decoded_bytes(step), sampled_seconds(*sparse)};
  const auto* copy = std::get_if<CopyStep>(&step);
  if (copy == nullptr || copy->plan.spec.null_space) return {};
  if (copy->plan.pass_through) return {copy->plan.source->stored_bytes(), 0};
  const lazy::Expr& source = *copy->plan.source;
  return expect(copy->plan.spec, sampler_of(source, source.source() != nullptr), memory / 4);
}

}  // namespace

Json describe(const Recipe& recipe, const WriteOptions& options) {
  const int64_t budget = options.memory > 0 ? options.memory : default_memory_budget();
  const int64_t memory = steady_share(budget, options.memory_on_top);
  const std::vector<Step> steps = make_steps(recipe, options, memory);
  Json elements = Json::array();
  int64_t tasks = 0, read = 0, stored = 0, peak = 0, needed = 0, scratch = 0, written = 0;
  double seconds = 0;
  bool at_most = false;
  for (const Step& step : steps) {
    Json one = Json::object();
    if (const auto* copy = std::get_if<CopyStep>(&step)) {
      one = copy->plan.describe(copy->path);
      needed = std::max(needed, copy->plan.pass_through ? 0 : copy->plan.needed_bytes);
    } else if (const auto* sparse = std::get_if<SparseStep>(&step)) {
      one = describe_sparse(*sparse, memory);
      needed = std::max(needed, one["needed_bytes"].get<int64_t>());
    } else {
      continue;
    }
    const Expected here = expected(step, memory);
    one["expected_bytes"] = here.bytes;
    written += here.bytes;
    seconds += here.seconds;
    at_most |= std::holds_alternative<SparseStep>(step);
    tasks += one["tasks"].get<int64_t>();
    read += one["decoded_bytes"].get<int64_t>();
    stored += static_cast<int64_t>(one["stored_bytes_in"].get<double>() * one["passes"].get<double>());
    peak = std::max(peak, one["peak_bytes"].get<int64_t>());
    scratch = std::max(scratch, one.value("scratch_bytes", int64_t{0}));
    elements.push_back(std::move(one));
  }
  const int64_t resident = resident_bytes() + kReserve;
  Json out = {{"target", options.target},
              {"memory", budget},
              {"tasks", tasks},
              {"decoded_bytes", read},
              {"read_bytes", stored},
              {"expected_peak_bytes", peak + resident},
              {"scratch_bytes", scratch},
              {"expected_bytes", written},
              {"expected_is_most", at_most},
              {"expected_seconds", seconds / (options.threads > 0 ? options.threads : available_processors())},
              {"fits", needed <= memory},
              {"elements", elements}};
  if (needed > memory) out["would_do"] = 2 * needed + resident;
  return out;
}

}  // namespace lamella::plan
