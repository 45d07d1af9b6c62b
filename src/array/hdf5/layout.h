#pragma once

#include "array/hdf5/container.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {

enum class LayoutKind { Compact, Contiguous, Chunked, Virtual };
enum class IndexKind { BTree1 = 0, Single = 1, Implicit = 2, FixedArray = 3, ExtensibleArray = 4, BTree2 = 5 };

struct Layout {
  LayoutKind kind = LayoutKind::Contiguous;
  int64_t address = kUndefined;  // of the data (contiguous) or of the chunk index; undefined: nothing is stored
  int64_t size = -1;             // contiguous: as stored; -1 unknown
  ConstBytes compact;            // of the message
  // Chunked
  Shape chunk;  // without the last "axis", which is the element
  int64_t element_size = 0;
  IndexKind index = IndexKind::BTree1;
  bool edges_unfiltered = false;  // chunks that hang over the edge are stored without filters
  bool single_filtered = false;
  int64_t single_size = 0;
  uint32_t single_mask = 0;
};

Layout parse_layout(const Container& container, ByteReader in);

}  // namespace lamella::array::hdf5
