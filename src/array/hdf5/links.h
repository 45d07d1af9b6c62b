#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "array/hdf5/container.h"
#include "array/hdf5/object_header.h"

namespace lamella::array::hdf5 {

enum class LinkKind { Hard, Soft, External, Other };

struct Link {
  std::string name;
  LinkKind kind = LinkKind::Hard;
  int64_t address = kUndefined;  // hard
  std::string target;            // soft: a path; external: "file: path"
  int64_t creation_order = 0;
};

// The links of a group of any form: by name, or in order of creation when the group tracks it.
std::vector<Link> read_links(const Container& container, const ObjectHeader& header);

// True when the header is that of a group.
bool is_group(const ObjectHeader& header);

// The object that a soft link leads to, from the group at `start`: header address, or kUndefined when there is none.
// Throws Unsupported when the way leads through another file.
int64_t follow(const Container& container, int64_t start, const std::string& path, int depth = 0);

// Paths ("a/b") of all objects that hard links lead to; the first found of each.
std::unordered_map<int64_t, std::string> walk_paths(const Container& container);

}  // namespace lamella::array::hdf5
