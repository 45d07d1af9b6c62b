#include "anndata/concat.h"

#include <cstdio>
#include <memory>

#include "anndata/describe_concat.h"
#include "anndata/load.h"
#include "writing.h"

namespace lamella::cli {
namespace {

struct ConcatOptions {
  WritingOptions writing;
  std::vector<std::string> in, keys;
  std::string axis = "obs", join = "inner", merge = "none", uns_merge = "none", label, index_unique, fill_value;
  std::string compat = "anndata";
  bool pairwise = false;
};

Json number(const std::string& text) {
  if (text == "nan" || text == "NaN") return nullptr;
  const Json value = Json::parse(text, nullptr, false);
  if (!value.is_number()) throw Error(ErrorKind::Invalid, "--fill-value " + text + ": a number, or nan");
  return value;
}

anndata::ConcatOptions semantics(const ConcatOptions& options) {
  anndata::ConcatOptions out;
  out.axis = options.axis == "obs" ? 0 : 1;
  out.outer = options.join == "outer";
  out.merge = anndata::parse_merge(options.merge);
  out.uns_merge = anndata::parse_merge(options.uns_merge);
  out.label = options.label;
  for (const std::string& key : options.keys) out.keys.emplace_back(key);
  if (!options.index_unique.empty()) out.index_unique = options.index_unique;
  if (!options.fill_value.empty()) out.fill_value = number(options.fill_value);
  out.pairwise = options.pairwise;
  out.keep_types = options.compat == "keep";
  return out;
}

void run(const ConcatOptions& options) {
  std::string verb = "concat";
  for (const std::string& in : options.in) verb += " " + in;
  for (const std::string& key : options.keys) verb += " " + key;
  verb += " " + options.axis + " " + options.join + " " + options.merge + " " + options.uns_merge + " " +
          options.label + " " + options.index_unique + " " + options.fill_value + " " + options.compat +
          (options.pairwise ? " pairwise" : "");
  const plan::WriteOptions write = options.writing.write(verb);
  const std::vector<anndata::Store> stores = anndata::load_many(options.in);
  const anndata::ConcatOptions meaning = semantics(options);
  std::vector<std::string> warnings;
  const anndata::Store joined = anndata::concat(stores, meaning, &warnings);
  for (const std::string& warning : warnings) std::fprintf(stderr, "lamella: %s\n", warning.c_str());
  const plan::Recipe recipe = anndata::make_recipe(joined, options.writing.form());
  const Json about = options.writing.dry_run ? anndata::describe_concat(stores, meaning) : Json();
  run_writing(recipe, write, options.writing, about, anndata::render_concat(about));
}

}  // namespace

void add_concat(CLI::App& app) {
  auto options = std::make_shared<ConcatOptions>();
  CLI::App* verb = app.add_subcommand("concat", "Write several AnnData as one, with the result of anndata.concat");
  verb->add_option("in", options->in, "The sources, in order")->required();
  verb->add_option("-o,--output", options->writing.out, "The target, by its name as for convert")->required();
  verb->add_option("--axis", options->axis, "obs: observations one behind the other; var: variables")
      ->check(CLI::IsMember({"obs", "var"}));
  verb->add_option("--join", options->join, "Of the other axis: what all have (inner), or what any has (outer)")
      ->check(CLI::IsMember({"inner", "outer"}));
  const auto strategies = CLI::IsMember({"none", "same", "unique", "first", "only"});
  verb->add_option("--merge", options->merge, "Which elements of the other axis stay: same, unique, first, only, none")
      ->check(strategies);
  verb->add_option("--uns-merge", options->uns_merge, "The same for uns")->check(strategies);
  verb->add_option("--label", options->label, "A column that says which source a row came from");
  verb->add_option("--keys", options->keys, "Names of the sources for it, one each; default: 0, 1, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--index-unique", options->index_unique, "Put this and the key of its source behind each name");
  verb->add_option("--fill-value", options->fill_value,
                   "What stands for what is missing (outer); default: 0 in sparse matrices, else nan");
  verb->add_flag("--pairwise", options->pairwise, "Keep obsp (varp) as blocks along the diagonal");
  verb->add_option("--compat", options->compat,
                   "anndata: its types; keep: a sparse layer that a source lacks keeps its type")
      ->check(CLI::IsMember({"anndata", "keep"}));
  add_writing(*verb, options->writing);
  verb->callback([options] { run(*options); });
}

}  // namespace lamella::cli
