#pragma once

#include <string>

#include "array/array.h"
#include "array/sink.h"
#include "matrix/matrix.h"
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

// What is to be written of `in`. An AnnData of any age becomes the current layout; anything else is copied as it is.
// Reads metadata and, of layouts before 0.7, annotation columns. Throws Corrupt or Unsupported naming file and element.
//
// A single element becomes the root of a Zarr target, and of an HDF5 target if it is a group; an array goes into an
// HDF5 target under its own name.
plan::Recipe make_recipe(const array::Opened& in, const std::string& in_path, const ConvertOptions& options);

}  // namespace lamella::anndata
