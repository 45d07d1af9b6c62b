#pragma once

#include "anndata/tree.h"
#include "lazy/take.h"

namespace lamella::anndata {

// An AnnData of these observations and variables, lazily: every element follows. Throws Invalid for positions outside.
Store subset(const Store& store, const lazy::Picks& obs, const lazy::Picks& var);

// Rows of one element that is aligned along its first axis: array, matrix, table, column, awkward array.
TreePtr take_rows(const TreePtr& element, const lazy::Picks& rows);

}  // namespace lamella::anndata
