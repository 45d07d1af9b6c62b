#pragma once

#include <string>
#include <vector>

#include "anndata/tree.h"

namespace lamella::anndata {

// The store as a tree. An AnnData of any age becomes the current layout; anything else stays as it is. `element` opens
// one part ("layers/counts"), which looks as it does in the whole. `path` is for messages and for Store::inputs.
// Reads metadata and, of layouts before 0.7, annotation columns. Throws Corrupt or Unsupported naming file and element.
Store load(const array::Opened& opened, const std::string& path, const std::string& element = "");

// Several whole stores, opened at the same time on the shared threads.
std::vector<Store> load_many(const std::vector<std::string>& paths);

}  // namespace lamella::anndata
