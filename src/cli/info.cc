#include "anndata/info.h"

#include <cstdio>
#include <memory>

#include "options.h"

namespace lamella::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string path;
  std::string element;
};

void run(const InfoOptions& options) {
  const array::Opened opened = array::open(options.path);
  const Json tree = anndata::describe_tree(opened, options.element);
  if (options.common.json) print_json(tree);
  else std::fputs(anndata::render_tree(tree).c_str(), stdout);
}

}  // namespace

void add_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* verb =
      app.add_subcommand("info", "Show what a store holds: every element with type, shape, chunks, codec and sizes");
  verb->add_option("path", options->path, "An .h5ad or other HDF5 file, a Zarr directory, a zip of one")->required();
  verb->add_option("element", options->element, "Only this element, e.g. layers/counts");
  add_common(*verb, options->common);
  verb->callback([options] { run(*options); });
}

}  // namespace lamella::cli
