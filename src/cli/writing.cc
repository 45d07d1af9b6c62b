#include "writing.h"

#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/memory.h"
#include "progress_line.h"

namespace lamella::cli {
namespace {

CancelFlag cancel_flag;

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// A codec that nobody knows is a wrong command here, whatever it is inside of a file.
codec::CodecList codecs_of(const std::string& text) {
  try {
    return codec::parse_codecs(text);
  } catch (const Error& error) {
    throw Error(ErrorKind::Invalid, "--codec " + text + ": " + error.what());
  }
}

void print_plan(const Json& plan) {
  std::printf("%-32s %-22s %8s %6s  %s\n", "element", "shape", "tasks", "passes", "how");
  for (const Json& one : plan["elements"]) {
    std::printf("%-32s %-22s %8lld %6.2f  %s\n", one["element"].get<std::string>().c_str(), one["shape"].dump().c_str(),
                one["tasks"].get<long long>(), one["passes"].get<double>(), one["how"].get<std::string>().c_str());
  }
  std::printf("reads %s stored, %s decoded; peak about %s of %s\n", format_bytes(plan["read_bytes"]).c_str(),
              format_bytes(plan["decoded_bytes"]).c_str(), format_bytes(plan["expected_peak_bytes"]).c_str(),
              format_bytes(plan["memory"]).c_str());
  std::printf("writes %s %s\n", plan["expected_is_most"].get<bool>() ? "at most" : "about",
              format_bytes(plan["expected_bytes"]).c_str());
  if (plan["expected_seconds"] >= 0.1)
    std::printf("takes about %.1f s, by samples and without the disk\n", plan["expected_seconds"].get<double>());
  if (plan["scratch_bytes"] > 0)
    std::printf("needs %s beside the target while it runs\n", format_bytes(plan["scratch_bytes"]).c_str());
  if (!plan["fits"].get<bool>())
    std::printf("does not fit; --memory %s would do\n", format_bytes(plan["would_do"]).c_str());
}

void print_result(const plan::WriteResult& result, const std::string& target, bool json) {
  if (json) {
    const Json out = {{"target", target},
                      {"elements", result.elements},
                      {"decoded_bytes", result.read_bytes},
                      {"written_bytes", result.written_bytes},
                      {"seconds", result.seconds},
                      {"peak_bytes", result.peak_bytes}};
    print_json(out);
    return;
  }
  std::printf("%s: %lld elements, %s decoded, %s written, %.2f s, peak memory %s\n", target.c_str(),
              static_cast<long long>(result.elements), format_bytes(result.read_bytes).c_str(),
              format_bytes(result.written_bytes).c_str(), result.seconds, format_bytes(result.peak_bytes).c_str());
}

}  // namespace

std::string WritingOptions::text() const {
  return codec + " " + chunks + " " + shards + " " + sparse + " " + strings + " " + std::to_string(zarr_format);
}

plan::WriteOptions WritingOptions::write(const std::string& verb) const {
  plan::WriteOptions to;
  to.target = out;
  while (to.target.size() > 1 && to.target.back() == '/') to.target.pop_back();
  const bool hdf5 = ends_with(to.target, ".h5ad") || ends_with(to.target, ".h5") || ends_with(to.target, ".hdf5");
  to.zip = ends_with(to.target, ".zip");
  to.format = hdf5 ? array::SinkFormat::Hdf5 : zarr_format == 2 ? array::SinkFormat::Zarr2 : array::SinkFormat::Zarr3;
  if (!codec.empty()) to.codecs = codecs_of(codec);
  if (!chunks.empty()) to.chunks = parse_shape(chunks, "--chunks");
  to.no_shards = shards == "none";
  if (!shards.empty() && !to.no_shards) to.shards = parse_shape(shards, "--shards");
  to.overwrite = overwrite;
  to.resume = resume;
  to.memory = common.memory_bytes();
  to.threads = common.threads;
  to.command = verb + " " + text();
  return to;
}

anndata::ConvertOptions WritingOptions::form() const {
  anndata::ConvertOptions to;
  to.target = write("").format;
  to.sparse = anndata::parse_sparse_form(sparse);
  to.strings = anndata::parse_strings(strings);
  return to;
}

void run_writing(const plan::Recipe& recipe, const plan::WriteOptions& write, const WritingOptions& options,
                 const Json& about, const std::string& about_text) {
  if (options.dry_run) {
    Json plan = plan::describe(recipe, write);
    if (!options.common.json) {
      std::fputs(about_text.c_str(), stdout);
      return print_plan(plan);
    }
    if (!about.is_null()) plan["inputs"] = about;
    return print_json(plan);
  }
  std::signal(SIGINT, [](int) { cancel_flag.raise(); });
  std::signal(SIGTERM, [](int) { cancel_flag.raise(); });
  plan::WriteResult result;
  {
    ProgressLine progress(options.common.quiet);
    result = plan::write(recipe, write, &progress, &cancel_flag);
  }
  if (!options.common.quiet) print_result(result, write.target, options.common.json);
}

void add_writing(CLI::App& app, WritingOptions& options) {
  app.add_option("--zarr-format", options.zarr_format, "2 or 3")->check(CLI::IsMember({2, 3}));
  app.add_option("--codec", options.codec,
                 "Codecs of every array: none, gzip:4, zstd:3, shuffle,gzip, blosc:lz4:5:shuffle, ...");
  app.add_option("--chunks", options.chunks, "Chunk lengths for arrays of that many axes, e.g. 1000,200");
  app.add_option("--shards", options.shards, "Shard lengths likewise (Zarr v3), or none");
  app.add_option("--sparse", options.sparse, "csr, csc or dense for every matrix; keep leaves each as it is")
      ->check(CLI::IsMember({"keep", "csr", "csc", "dense"}));
  app.add_option("--strings", options.strings, "nullable as anndata 0.13 writes them, plain string arrays, or keep")
      ->check(CLI::IsMember({"nullable", "plain", "keep"}));
  app.add_flag("--overwrite", options.overwrite, "Replace a target that is there, once the new one is whole");
  app.add_flag("--resume", options.resume, "Go on with what a killed run left");
  app.add_flag("--dry-run", options.dry_run,
               "Show the plan: tasks, passes over the source, bytes, expected peak memory");
  add_common(app, options.common);
}

}  // namespace lamella::cli
