#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/json.h"

namespace lamella::array {

// One attribute: its value as JSON, and the element type and shape that HDF5 stored it with, so that a copy keeps them.
// Strings, numbers, bools and (nested) lists of them; Zarr also has null and objects. Complex numbers are [re, im].
// An object reference is the string of the path that it points to, with type.kind == Reference.
struct Attribute {
  Json value;
  std::optional<DType> type;  // absent: from JSON; a writer chooses (int64, float64, bool, vlen UTF-8 string)
  Shape shape;                // with `type`; rank 0 is a scalar
  bool null_space = false;    // HDF5's null dataspace ("no value")
  std::string fault;          // why the value could not be read, with its place; then `value` is null

  // Throws Unsupported when there is a fault. Whoever takes the value off an iteration calls it; find() does.
  void check() const {
    if (!fault.empty()) throw Error(ErrorKind::Unsupported, fault);
  }
};

// In stored order (HDF5: sorted by name, unless creation order is tracked).
class Attributes {
 public:
  const Attribute* find(const std::string& name) const;  // null when absent
  // The string value, or nothing when absent or of another type. A one-element list of strings counts.
  std::optional<std::string> string(const std::string& name) const;
  void set(const std::string& name, Attribute value);  // replaces in place or appends
  void set(const std::string& name, Json value) { set(name, Attribute{std::move(value), {}, {}, false}); }
  void erase(const std::string& name);
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

}  // namespace lamella::array
