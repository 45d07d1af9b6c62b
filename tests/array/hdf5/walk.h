#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "array/array.h"
#include "base/error.h"

namespace lamella::array {

// Reads all arrays of up to `most_bytes` below `group`; those that are refused or broken go to `on_error`.
inline void read_everything(const Group& group, int64_t most_bytes, int& left,
                            const std::function<void(const Error&)>& on_error) {
  for (const std::string& name : group.children()) {
    if (--left < 0) return;
    try {
      const Node node = group.child(name);
      if (node.group) read_everything(*node.group, most_bytes, left, on_error);
      if (!node.array) continue;
      const ArraySpec& spec = node.array->spec();
      node.array->stored_bytes();
      const int64_t chunk = spec.contiguous() ? 0 : checked_mul(count(spec.chunks), spec.type.size);
      if (std::max(chunk, checked_mul(count(spec.shape), spec.type.size)) > most_bytes) continue;
      if (!spec.contiguous() && spec.grid().size() > 10000) continue;
      Heap heap;
      node.array->read_all(heap);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Bug) throw;
      on_error(error);
    }
  }
}

}  // namespace lamella::array
