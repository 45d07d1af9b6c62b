#pragma once

#include <vector>

#include "array/hdf5/layout.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {

struct ChunkPlace {
  int64_t address = kUndefined;
  int64_t size = 0;
  uint32_t mask = 0;
};

// Where each chunk of a dataset lies: an index of any kind, walked once, as a table by the row-major number of the
// chunk.
class ChunkIndex {
 public:
  // `chunk_bytes` is the size of a chunk without filters.
  ChunkIndex(const Container& container, const Layout& layout, const Shape& shape, const Shape& max_shape,
             int64_t chunk_bytes, bool filtered);

  ChunkPlace find(int64_t chunk) const;  // address kUndefined: absent
  int64_t stored_bytes() const { return stored_bytes_; }
  int64_t stored_chunks() const { return stored_chunks_; }

 private:
  struct Numbered {
    int64_t chunk;
    ChunkPlace place;
  };
  void add(int64_t chunk, const ChunkPlace& place);
  void add_tree1(const Container& container, const Layout& layout);
  void add_tree2(const Container& container, const Layout& layout, int64_t chunk_bytes, bool filtered);
  void add_arrays(const Container& container, const Layout& layout, const Shape& max_shape, int64_t chunk_bytes);
  void add_implicit(const Container& container, const Layout& layout, const Shape& max_shape, int64_t chunk_bytes);

  Grid grid_;
  bool dense_ = false;
  std::vector<ChunkPlace> places_;  // dense: by number
  std::vector<Numbered> sorted_;    // else
  int64_t stored_bytes_ = 0;
  int64_t stored_chunks_ = 0;
};

}  // namespace lamella::array::hdf5
