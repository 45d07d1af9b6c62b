#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plan/convert.h"
#include "plan/copy.h"
#include "plan/recipe.h"

namespace lamella::plan {

struct GroupStep {
  std::string path;
  array::Attributes attributes;
};

struct CopyStep {
  std::string path;
  array::Attributes attributes;
  CopyPlan plan;
};

// A matrix that changes its layout to a sparse one: the sizes of its arrays are known only while it runs.
struct SparseStep {
  std::string path;
  array::Attributes attributes;
  matrix::Matrix source;
  matrix::Layout layout;
  double passes = 2;                      // over the source: one to count, one to read
  std::shared_ptr<const CopyPlan> tiles;  // a dense source goes through an intermediate file first; else null
};

using Step = std::variant<GroupStep, CopyStep, SparseStep>;

// Cuts a recipe into what is done one after the other; matrices that keep their layout become the arrays that they
// consist of. `memory` is what a step may have resident. Reads no more
// than a few samples, on which codecs are tried.
std::vector<Step> make_steps(const Recipe& recipe, const WriteOptions& options, int64_t memory);

// Attributes of the group (or dense array) of a matrix in `layout`, added to those that the recipe gives.
array::Attributes matrix_attributes(const MatrixItem& item, matrix::Layout layout);

int64_t decoded_bytes(const Step& step);  // of the source, once
int64_t work_bytes(const Step& step);     // as Meter counts them
const std::string& path_of(const Step& step);

}  // namespace lamella::plan
