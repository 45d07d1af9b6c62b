#pragma once

#include <string>

#include "anndata/tree.h"
#include "array/sink.h"
#include "plan/recipe.h"

namespace lamella::anndata {

enum class SparseForm { Keep, Csr, Csc, Dense };

// How the strings of a data frame (its index, its string columns) are written.
enum class Strings {
  Nullable,  // "nullable-string-array" groups, as anndata 0.13 with pandas 3 writes them
  Plain,     // "string-array", which older readers and those in other languages know; no missing values
  Keep,      // as they are
};

SparseForm parse_sparse_form(const std::string& text);  // "keep", "csr", "csc", "dense"
Strings parse_strings(const std::string& text);         // "nullable", "plain", "keep"

struct ConvertOptions {
  array::SinkFormat target = array::SinkFormat::Zarr3;
  std::string element;  // "layers/counts"; "": everything
  SparseForm sparse = SparseForm::Keep;
  Strings strings = Strings::Nullable;
};

// What is to be written of a store. A single array becomes the root of a Zarr target; it goes into an HDF5 target under
// the last part of options.element, or "data". Throws Unsupported for what the target's format cannot hold.
plan::Recipe make_recipe(const Store& store, const ConvertOptions& options);

// The same of a stored file, or of the part that options.element names.
plan::Recipe make_recipe(const array::Opened& in, const std::string& in_path, const ConvertOptions& options);

}  // namespace lamella::anndata
