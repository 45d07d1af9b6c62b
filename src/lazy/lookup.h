#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lazy/expr.h"

// One-dimensional arrays made from others through a table, or with something added.
namespace lamella::lazy {

// For each code the element of `table` at that place; `other` for negative codes. `table` and `other` hold elements of
// `type`; `owner` keeps what their StringRefs point to. Throws Corrupt for a code beyond the table.
ExprPtr lookup(ExprPtr codes, DType type, std::shared_ptr<const Buffer> table, std::vector<std::byte> other,
               std::shared_ptr<const void> owner = nullptr);

// Strings with `suffix` behind each.
ExprPtr with_suffix(ExprPtr strings, std::string suffix);

}  // namespace lamella::lazy
