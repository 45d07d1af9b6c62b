#include "array/hdf5/layout.h"

namespace lamella::array::hdf5 {
namespace {

void set_chunk(ByteReader& in, Layout& layout, Shape dims) {
  if (dims.size() < 2) in.fail("a chunk of rank 1 or more");
  layout.element_size = dims.back();
  dims.pop_back();
  int64_t elements = 1;
  for (int64_t length : dims) {
    if (length <= 0) in.fail("chunk lengths of 1 or more");
    elements = checked_mul(elements, length);
  }
  layout.chunk = std::move(dims);
}

// Versions 1 and 2, from before 2004.
void parse_oldest(const Container& container, ByteReader& in, Layout& layout) {
  const int rank = in.u8();
  const int kind = in.u8();
  if (kind > 2) in.fail("layout class 0 to 2, not " + std::to_string(kind) + ",");
  layout.kind = static_cast<LayoutKind>(kind);
  in.skip(5);
  if (layout.kind != LayoutKind::Compact) layout.address = container.take_address(in);
  Shape dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back(in.u32());
  if (layout.kind == LayoutKind::Chunked) set_chunk(in, layout, std::move(dims));
  if (layout.kind == LayoutKind::Compact) layout.compact = in.take(in.u32());
}

void parse_chunked3(const Container& container, ByteReader& in, Layout& layout) {
  const int rank = in.u8();
  layout.address = container.take_address(in);
  Shape dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back(in.u32());
  set_chunk(in, layout, std::move(dims));
}

// Versions 4 and 5; the latter only makes the sizes of filtered chunks wider, which the indexes tell themselves.
void parse_chunked4(const Container& container, ByteReader& in, Layout& layout) {
  const int flags = in.u8();
  const int rank = in.u8();
  const int width = in.u8();
  if (width < 1 || width > 8) in.fail("a width of 1 to 8 for chunk lengths");
  Shape dims;
  for (int axis = 0; axis < rank; ++axis) {
    const uint64_t length = in.uint(width);
    if (length > INT64_MAX) in.fail("a chunk length below 2^63");
    dims.push_back(static_cast<int64_t>(length));
  }
  set_chunk(in, layout, std::move(dims));
  const int index = in.u8();
  if (index < 1 || index > 5) in.fail("chunk index 1 to 5, not " + std::to_string(index) + ",");
  layout.index = static_cast<IndexKind>(index);
  layout.edges_unfiltered = flags & 1;
  switch (layout.index) {
    case IndexKind::Single:
      layout.single_filtered = flags & 2;
      if (layout.single_filtered) {
        layout.single_size = container.take_length(in);
        layout.single_mask = in.u32();
      }
      break;
    case IndexKind::FixedArray: in.skip(1); break;  // the array's header repeats the parameters
    case IndexKind::ExtensibleArray: in.skip(5); break;
    case IndexKind::BTree2: in.skip(6); break;
    default: break;
  }
  layout.address = container.take_address(in);
}

}  // namespace

Layout parse_layout(const Container& container, ByteReader in) {
  Layout layout;
  const int version = in.u8();
  if (version < 1 || version > 5) in.fail("layout version 1 to 5, not " + std::to_string(version) + ",");
  if (version < 3) {
    parse_oldest(container, in, layout);
    return layout;
  }
  const int kind = in.u8();
  if (kind > 3) in.fail("layout class 0 to 3, not " + std::to_string(kind) + ",");
  layout.kind = static_cast<LayoutKind>(kind);
  switch (layout.kind) {
    case LayoutKind::Compact: layout.compact = in.take(in.u16()); break;
    case LayoutKind::Contiguous:
      layout.address = container.take_address(in);
      layout.size = container.take_length(in);
      break;
    case LayoutKind::Chunked:
      version == 3 ? parse_chunked3(container, in, layout) : parse_chunked4(container, in, layout);
      break;
    case LayoutKind::Virtual: break;
  }
  return layout;
}

}  // namespace lamella::array::hdf5
