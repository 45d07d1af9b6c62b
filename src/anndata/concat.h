#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anndata/tree.h"
#include "base/json.h"

namespace lamella::anndata {

// How elements that are not joined end to end get into the result.
enum class Merge {
  None,    // not at all
  Same,    // those that are the same in all
  Unique,  // those that have one value wherever they are
  First,   // the first that is there
  Only,    // those that are in one input only
};
Merge parse_merge(const std::string& text);  // "none", "same", "unique", "first", "only"

struct ConcatOptions {
  int axis = 0;        // 0: observations are put one behind the other; 1: variables
  bool outer = false;  // join of the other axis: union, else intersection
  Merge merge = Merge::None;
  Merge uns_merge = Merge::None;
  std::string label;                        // column that says where each came from; "": none
  std::vector<Json> keys;                   // strings or whole numbers, one an input; empty: "0", "1", …
  std::optional<std::string> index_unique;  // between a name and the key of its input
  std::optional<Json> fill_value;  // number for what is missing (outer join); absent: 0 for sparse, NaN for dense
  bool pairwise = false;           // obsp (varp) as blocks along the diagonal
  bool keep_types =
      false;  // a sparse layer that one input lacks keeps its type; else it becomes float64, as in anndata
};

// The concatenation, lazily, with the result of anndata.concat of the same objects. Reads the index of the other axis,
// categories, and what has to be compared to be merged; no matrix. `warnings` gets what was left out. Throws Invalid or
// Unsupported naming files and element for inputs that do not fit each other.
Store concat(const std::vector<Store>& stores, const ConcatOptions& options,
             std::vector<std::string>* warnings = nullptr);

}  // namespace lamella::anndata
