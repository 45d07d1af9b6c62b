#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anndata/concat.h"
#include "matrix/select.h"

// What anndata/concat.cc is made of.
namespace lamella::anndata {

// One input's part of an element.
struct Part {
  TreePtr tree;        // null: this input lacks it
  int64_t length = 0;  // along the joined axis
  std::string input;   // for messages
};

// How the positions of a target axis map to those of one input; null when nothing changes.
struct Reindex {
  std::shared_ptr<const matrix::Positions> positions;
  bool gaps = false;  // some are missing in the input
};

// What stands for what is missing: a number, with the type that Python gives it.
struct Fill {
  DType type = DType::float_(8);
  double value = 0;
  bool given = false;  // by the user; else zero for sparse and not-a-number for dense elements

  bool is_zero() const { return value == 0; }
  std::vector<std::byte> element(const DType& type) const;
};
Fill fill_of(const std::optional<Json>& value);
Fill resolved(const Fill& fill, bool any_sparse);

// concat_column.cc
TreePtr concat_column(const std::string& name, const std::vector<Part>& parts);
// `index`: the index of the result, a column. Columns: those in all inputs, or with `outer` in any.
TreePtr concat_frames(const std::vector<Part>& parts, bool outer, const TreePtr& index, const std::string& index_name);
// A table or column along a new axis; what is missing becomes NaN, NA or no category.
TreePtr reindex_column(const TreePtr& column, const Reindex& reindex);
TreePtr make_frame(const TreePtr& index, const std::string& index_name,
                   const std::vector<std::pair<std::string, TreePtr>>& columns);
std::vector<std::string> column_order(const Tree& frame);

// concat_array.cc
// Arrays and matrices, joined along `axis` (0 or 1); `others` says how the other axis changes, one an input.
TreePtr concat_arrays(const std::string& name, const std::vector<Part>& parts, size_t axis,
                      const std::vector<Reindex>& others, const Fill& fill, bool keep_types);
// Members of obsm (or varm) of one name: cut to the smallest width, or padded to the largest.
TreePtr concat_members(const std::string& name, const std::vector<Part>& parts, bool outer, const TreePtr& index,
                       const std::string& index_name, const Fill& fill, bool keep_types);
// Along an axis that is not joined.
TreePtr reindex_array(const TreePtr& array, size_t axis, const Reindex& reindex, const Fill& fill);
// Blocks along the diagonal, CSR.
TreePtr block_diagonal(const std::vector<Part>& parts);

// merge.cc
// One value of those that there are (`values` of how many inputs), or null.
TreePtr merge_values(Merge strategy, const std::vector<TreePtr>& values);
// Keys of several mappings that the strategy looks at: in all of them for Same, else in any; in the order of the first.
std::vector<std::string> merge_keys(Merge strategy, const std::vector<std::vector<std::string>>& keys);
// Dicts in dicts.
TreePtr merge_dicts(Merge strategy, const std::vector<TreePtr>& dicts);

std::vector<std::string> keys_in_all(const std::vector<std::vector<std::string>>& keys);
std::vector<std::string> keys_in_any(const std::vector<std::vector<std::string>>& keys);

}  // namespace lamella::anndata
