#pragma once

#include <string>

#include "anndata/convert.h"
#include "options.h"
#include "plan/convert.h"

namespace lamella::cli {

// What every verb that writes a store takes.
struct WritingOptions {
  CommonOptions common;
  std::string out, codec, chunks, shards, sparse = "keep", strings = "nullable";
  int zarr_format = 3;
  bool overwrite = false, resume = false, dry_run = false;

  // `verb`: the verb and its inputs, which tell runs apart for --resume.
  plan::WriteOptions write(const std::string& verb) const;
  anndata::ConvertOptions form() const;
  // The same options in one string.
  std::string text() const;
};

void add_writing(CLI::App& app, WritingOptions& options);

// Writes the recipe with a progress line, and prints the result; with --dry-run prints the plan, and `about` before it.
void run_writing(const plan::Recipe& recipe, const plan::WriteOptions& write, const WritingOptions& options,
                 const Json& about = nullptr, const std::string& about_text = "");

}  // namespace lamella::cli
