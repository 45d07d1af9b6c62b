#pragma once

#include <optional>
#include <vector>

#include "anndata/tree.h"

namespace lamella::anndata {

// The categories of several categorical columns as one list.
struct CategoryUnion {
  TreePtr categories;
  int64_t size = 0;
  bool ordered = false;
  std::vector<std::vector<int64_t>> maps;  // for each column: its codes to those of the union
};

// By anndata's and pandas' rules: none ordered: the union in natural order, unless the first column has all of them,
// whose order is kept then; all ordered: if their categories are the same in the same order (none count as the same).
// Nothing when the columns lose their categories when they are joined. Reads the categories.
std::optional<CategoryUnion> unite_categories(const std::vector<TreePtr>& columns);

}  // namespace lamella::anndata
