#pragma once

#include <string>
#include <vector>

#include "anndata/concat_parts.h"
#include "lazy/take.h"

// Awkward arrays: a form (awkward's JSON) and the buffers that it names. Rows and concatenations are new buffers under
// the same form. Their data stay lazy; offsets and indexes are read when the first buffer is asked for. Packed arrays,
// as anndata writes them; source: awkward's documentation of forms and to_buffers.
namespace lamella::anndata {

TreePtr take_awkward(const TreePtr& tree, const lazy::Picks& rows);

// One behind the other. Of records, the fields that are in all; with `outer` they have to be the same. An input that
// lacks the array has missing values for it. Throws Unsupported where the arrays have different types.
TreePtr concat_awkward(const std::string& name, const std::vector<Part>& parts, bool outer);

}  // namespace lamella::anndata
