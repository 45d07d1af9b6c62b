#include "anndata/convert.h"

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/memory.h"
#include "options.h"
#include "plan/convert.h"
#include "progress_line.h"

namespace lamella::cli {
namespace {

CancelFlag cancel_flag;

struct ConvertOptions {
  CommonOptions common;
  std::string in, out, element, codec, chunks, shards, sparse = "keep", strings = "nullable";
  int zarr_format = 3;
  bool overwrite = false, resume = false, dry_run = false;
};

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

plan::WriteOptions write_options(const ConvertOptions& options) {
  plan::WriteOptions out;
  out.target = options.out;
  while (out.target.size() > 1 && out.target.back() == '/') out.target.pop_back();
  const bool hdf5 = ends_with(out.target, ".h5ad") || ends_with(out.target, ".h5") || ends_with(out.target, ".hdf5");
  out.zip = ends_with(out.target, ".zip");
  out.format = hdf5                       ? array::SinkFormat::Hdf5
               : options.zarr_format == 2 ? array::SinkFormat::Zarr2
                                          : array::SinkFormat::Zarr3;
  if (!options.codec.empty()) out.codecs = codecs_of(options.codec);
  if (!options.chunks.empty()) out.chunks = parse_shape(options.chunks, "--chunks");
  out.no_shards = options.shards == "none";
  if (!options.shards.empty() && !out.no_shards) out.shards = parse_shape(options.shards, "--shards");
  out.overwrite = options.overwrite;
  out.resume = options.resume;
  out.memory = options.common.memory_bytes();
  out.threads = options.common.threads;
  out.command = "convert " + options.in + " " + options.element + " " + options.codec + " " + options.chunks + " " +
                options.shards + " " + options.sparse + " " + options.strings + " " +
                std::to_string(options.zarr_format);
  return out;
}

anndata::ConvertOptions recipe_options(const ConvertOptions& options, const plan::WriteOptions& write) {
  anndata::ConvertOptions out;
  out.target = write.format;
  out.element = options.element;
  out.sparse = anndata::parse_sparse_form(options.sparse);
  out.strings = anndata::parse_strings(options.strings);
  return out;
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

void run(const ConvertOptions& options) {
  const plan::WriteOptions write = write_options(options);
  const array::Opened opened = array::open(options.in);
  const plan::Recipe recipe = anndata::make_recipe(opened, options.in, recipe_options(options, write));
  if (options.dry_run) {
    const Json plan = plan::describe(recipe, write);
    if (options.common.json) print_json(plan);
    else print_plan(plan);
    return;
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

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = app.add_subcommand(
      "convert", "Write a store as another: .h5ad, Zarr v2 or v3, directory or .zip, by the target's name");
  verb->add_option("in", options->in, "The source")->required();
  verb->add_option("out", options->out,
                   "The target: *.h5ad and *.h5 are HDF5, *.zip a zip, all others Zarr directories")
      ->required();
  verb->add_option("--element", options->element, "Only this element, e.g. layers/counts");
  verb->add_option("--zarr-format", options->zarr_format, "2 or 3")->check(CLI::IsMember({2, 3}));
  verb->add_option("--codec", options->codec,
                   "Codecs of every array: none, gzip:4, zstd:3, shuffle,gzip, blosc:lz4:5:shuffle, ...");
  verb->add_option("--chunks", options->chunks, "Chunk lengths for arrays of that many axes, e.g. 1000,200");
  verb->add_option("--shards", options->shards, "Shard lengths likewise (Zarr v3), or none");
  verb->add_option("--sparse", options->sparse, "csr, csc or dense for every matrix; keep leaves each as it is")
      ->check(CLI::IsMember({"keep", "csr", "csc", "dense"}));
  verb->add_option("--strings", options->strings, "nullable as anndata 0.13 writes them, plain string arrays, or keep")
      ->check(CLI::IsMember({"nullable", "plain", "keep"}));
  verb->add_flag("--overwrite", options->overwrite, "Replace a target that is there, once the new one is whole");
  verb->add_flag("--resume", options->resume, "Go on with what a killed run left");
  verb->add_flag("--dry-run", options->dry_run,
                 "Show the plan: tasks, passes over the source, bytes, expected peak memory");
  add_common(*verb, options->common);
  verb->callback([options] { run(*options); });
}

}  // namespace lamella::cli
