#include "anndata/convert.h"

#include <memory>

#include "writing.h"

namespace lamella::cli {
namespace {

struct ConvertOptions {
  WritingOptions writing;
  std::string in, element;
};

void run(const ConvertOptions& options) {
  const plan::WriteOptions write = options.writing.write("convert " + options.in + " " + options.element);
  anndata::ConvertOptions form = options.writing.form();
  form.element = options.element;
  run_writing(anndata::make_recipe(array::open(options.in), options.in, form), write, options.writing);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = app.add_subcommand(
      "convert", "Write a store as another: .h5ad, Zarr v2 or v3, directory or .zip, by the target's name");
  verb->add_option("in", options->in, "The source")->required();
  verb->add_option("out", options->writing.out,
                   "The target: *.h5ad and *.h5 are HDF5, *.zip a zip, all others Zarr directories")
      ->required();
  verb->add_option("--element", options->element, "Only this element, e.g. layers/counts");
  add_writing(*verb, options->writing);
  verb->callback([options] { run(*options); });
}

}  // namespace lamella::cli
