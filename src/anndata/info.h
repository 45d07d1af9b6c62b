#pragma once

#include <string>

#include "array/array.h"
#include "base/json.h"

namespace lamella::anndata {

// Every node of a store below `element` ("" for all), from metadata alone: path, kind, encoding, shape, dtype, chunks,
// shards, codec, stored and decoded bytes, ratio. The decoded size of strings is not known without reading them: they
// have none, and a group's decoded size and ratio are those of its other arrays. An element that cannot be opened has
// "error" instead, the others go on.
Json describe_tree(const array::Opened& opened, const std::string& element);

// The same as a table for people: one line an element, indented as the tree is.
std::string render_tree(const Json& tree);

}  // namespace lamella::anndata
