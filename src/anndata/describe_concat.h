#pragma once

#include <string>
#include <vector>

#include "anndata/concat.h"

namespace lamella::anndata {

// What meets in a concatenation, before it is done: how the other axes overlap, which elements some inputs lack, and
// where types or categories differ. Reads what concat() reads.
Json describe_concat(const std::vector<Store>& stores, const ConcatOptions& options);
std::string render_concat(const Json& about);  // for people; "" for null

}  // namespace lamella::anndata
