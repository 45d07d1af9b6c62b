#pragma once

#include <string>
#include <vector>

#include "anndata/tree.h"

namespace lamella::anndata {

// Strings of a 1-d element: a string array, or a nullable one (missing ones are empty; `missing` tells).
std::vector<std::string> read_strings(const Tree& tree, std::vector<bool>* missing = nullptr);

// Do two elements have the same value, as anndata.concat compares them: tables and columns by type and value with
// missing ones equal, arrays by shape, type and value with NaN equal, scalars by number, sparse matrices by value?
// Reads both.
bool equal_elements(const TreePtr& a, const TreePtr& b);

}  // namespace lamella::anndata
