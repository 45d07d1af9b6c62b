#include "array/hdf5/links.h"

#include <algorithm>
#include <deque>

#include "array/hdf5/btree_v2.h"
#include "array/hdf5/fractal_heap.h"
#include "array/hdf5/symbol_table.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int kMostSoftLinks = 16;

std::string take_text(ByteReader& in, int64_t size) {
  const ConstBytes bytes = in.take(size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Link parse_link(const Container& container, ByteReader in) {
  Link link;
  const int version = in.u8();
  if (version != 1) in.fail("link version 1, not " + std::to_string(version) + ",");
  const int flags = in.u8();
  const int type = flags & 0x08 ? in.u8() : 0;
  if (flags & 0x04) link.creation_order = in.take<int64_t>();
  if (flags & 0x10) in.skip(1);
  const uint64_t size = in.uint(1 << (flags & 3));
  link.name = take_text(in, static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX)));
  if (type == 0) {
    link.address = container.take_address(in);
  } else if (type == 1) {
    link.kind = LinkKind::Soft;
    link.target = take_text(in, in.u16());
  } else if (type == 64) {
    link.kind = LinkKind::External;
    in.skip(3);
    link.target = std::string(in.c_string()) + ": ";
    link.target += in.c_string();
  } else {
    link.kind = LinkKind::Other;
  }
  return link;
}

// True when the group tracks the order of creation. Adds the links of dense storage.
bool read_link_info(const Container& container, ByteReader in, std::vector<Link>& links) {
  in.skip(1);
  const int flags = in.u8();
  if (flags & 1) in.skip(8);
  const int64_t heap_address = container.take_address(in);
  const int64_t names = container.take_address(in);
  if (heap_address != kUndefined && names != kUndefined) {
    FractalHeap heap(container, heap_address);
    walk_btree2(container, names, {5}, [&](ByteReader record) {
      record.skip(4);
      const int64_t position = container.absolute(heap_address);
      links.push_back(parse_link(container, ByteReader(heap.object(record.take(heap.id_size())), position)));
    });
  }
  return flags & 1;
}

}  // namespace

bool is_group(const ObjectHeader& header) {
  return header.find(MessageType::SymbolTable) || header.find(MessageType::LinkInfo) || header.find(MessageType::Link);
}

std::vector<Link> read_links(const Container& container, const ObjectHeader& header) {
  std::vector<Link> links;
  if (const Message* table = header.find(MessageType::SymbolTable)) links = read_symbol_table(container, *table);
  bool ordered = false;
  for (const Message& message : header.messages()) {
    if (message.type == MessageType::LinkInfo) ordered = read_link_info(container, message.reader(), links);
    if (message.type == MessageType::Link) links.push_back(parse_link(container, message.reader()));
  }
  std::sort(links.begin(), links.end(), [&](const Link& a, const Link& b) {
    return ordered && a.creation_order != b.creation_order ? a.creation_order < b.creation_order : a.name < b.name;
  });
  return links;
}

int64_t follow(const Container& container, int64_t start, const std::string& path, int depth) {
  if (depth > kMostSoftLinks) return kUndefined;
  int64_t here = path.starts_with('/') ? container.super().root : start;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    const ObjectHeader header(container, here);
    if (!is_group(header)) return kUndefined;
    const std::vector<Link> links = read_links(container, header);
    const auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.name == part; });
    if (found == links.end()) return kUndefined;
    if (found->kind == LinkKind::Hard) {
      here = found->address;
    } else if (found->kind == LinkKind::Soft) {
      here = follow(container, here, found->target, depth + 1);
      if (here == kUndefined) return kUndefined;
    } else {
      throw Error(ErrorKind::Unsupported, container.name() + ": the link '" + path + "' leads into another file (" +
                                              found->target + "); copy that element into this file");
    }
  }
  return here;
}

std::unordered_map<int64_t, std::string> walk_paths(const Container& container) {
  std::unordered_map<int64_t, std::string> paths{{container.super().root, ""}};
  std::deque<int64_t> open{container.super().root};
  while (!open.empty()) {
    const ObjectHeader header(container, open.front());
    const std::string path = paths[open.front()];
    open.pop_front();
    if (!is_group(header)) continue;
    for (const Link& link : read_links(container, header)) {
      if (link.kind != LinkKind::Hard || link.address == kUndefined) continue;
      const std::string child = path.empty() ? link.name : path + "/" + link.name;
      if (paths.emplace(link.address, child).second) open.push_back(link.address);
    }
  }
  return paths;
}

}  // namespace lamella::array::hdf5
