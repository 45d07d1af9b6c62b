#include "array/hdf5/dataset.h"

#include <algorithm>

#include "array/hdf5/attribute.h"
#include "array/hdf5/dataspace.h"
#include "array/hdf5/datatype.h"
#include "array/hdf5/fill_value.h"
#include "array/hdf5/filter_pipeline.h"
#include "array/hdf5/global_heap.h"
#include "base/error.h"
#include "base/profile.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kLargestElement = int64_t{64} << 20;
constexpr int64_t kLargestRatio = int64_t{1} << 20;  // no chain of codecs makes more out of a byte
constexpr int64_t kSlack = int64_t{1} << 20;

ResolvedMessage need(const Container& container, const ObjectHeader& header, MessageType type, const char* what) {
  const Message* message = header.find(type);
  if (message == nullptr) throw Error(ErrorKind::Corrupt, std::string("the object header has no ") + what + " message");
  return resolve(container, message->reader(), type, message->shared());
}

}  // namespace

struct Dataset::Parts {
  ArraySpec spec;
  Layout layout;
  bool filtered = false;
};

Dataset::Dataset(std::shared_ptr<const Container> container, Parts parts, Attributes attributes, std::string name)
    : Array(std::move(parts.spec), std::move(attributes), std::move(name)),
      container_(std::move(container)),
      layout_(std::move(parts.layout)),
      filtered_(parts.filtered) {
  if (layout_.kind == LayoutKind::Compact) {
    compact_ = store::memory_file({layout_.compact.begin(), layout_.compact.end()}, this->name());
    layout_.compact = {};
  }
}

const ChunkIndex& Dataset::index() const {
  std::call_once(indexed_, [&] {
    try {
      index_.emplace(*container_, layout_, spec().shape, spec().max_shape, pipeline()->type().bytes(), filtered_);
    } catch (Error& error) {
      throw error.prefix(name());
    }
  });
  return *index_;
}

ChunkExtent Dataset::locate(const Shape& chunk) const {
  if (spec().null_space || count(spec().shape) == 0) return {};
  const int64_t item = spec().type.size;
  if (compact_) return {compact_, 0, compact_->size(), 0};
  if (layout_.kind == LayoutKind::Contiguous) {
    if (layout_.address == kUndefined) return {};
    return {container_->file(), container_->absolute(layout_.address), count(spec().shape) * item, 0};
  }
  const Grid grid = spec().grid();
  const ChunkPlace place = index().find(grid.linear(chunk));
  if (place.address == kUndefined) return {};
  ChunkExtent extent{container_->file(), container_->absolute(place.address), place.size, place.mask};
  if (place.size > container_->size() || place.address > container_->size() - place.size) {
    container_->corrupt("chunk", place.address,
                        std::to_string(place.size) + " bytes there lie beyond the end of the file");
  }
  if (pipeline()->type().bytes() / kLargestRatio > place.size + kSlack / kLargestRatio) {
    container_->corrupt("chunk", place.address, std::to_string(place.size) + " bytes cannot decode to a whole chunk");
  }
  if (layout_.edges_unfiltered && grid.box(chunk) != grid.full_box(chunk)) extent.skip_codecs = ~uint32_t{0};
  return extent;
}

int64_t Dataset::stored_bytes() const {
  if (compact_) return compact_->size();
  if (layout_.kind == LayoutKind::Chunked) return index().stored_bytes();
  return layout_.address == kUndefined || spec().null_space ? 0 : count(spec().shape) * spec().type.size;
}

int64_t Dataset::stored_chunks() const {
  if (layout_.kind == LayoutKind::Chunked) return index().stored_chunks();
  return stored_bytes() > 0 ? 1 : 0;
}

void Dataset::resolve(std::byte* decoded, int64_t elements, Heap& heap) const {
  if (!spec().type.has_references_to_heap()) return;
  const Timed timed(Stage::Transform, elements * spec().type.size);
  GlobalHeapReader reader(*container_, heap);
  resolve_elements(reader, spec().type, decoded, elements);
}

namespace {

void set_storage(const Container& container, const ObjectHeader& header, const Layout& layout, const Datatype& datatype,
                 ArraySpec& spec, bool& filtered) {
  const int64_t item = spec.type.size;
  const int64_t bytes = spec.null_space ? 0 : checked_mul(count(spec.shape), item);
  if (item > std::max(kLargestElement, container.size())) {
    throw Error(ErrorKind::Corrupt, "elements of " + std::to_string(item) + " bytes are larger than the file");
  }
  switch (layout.kind) {
    case LayoutKind::Virtual:
      throw Error(ErrorKind::Unsupported, "virtual datasets are not read; copy the data into one dataset");
    case LayoutKind::Compact:
      if (static_cast<int64_t>(layout.compact.size()) < bytes)
        throw Error(ErrorKind::Corrupt, "its compact data are too short");
      return;
    case LayoutKind::Contiguous:
      if (layout.address != kUndefined && bytes > 0 &&
          (bytes > container.size() || layout.address > container.size() - bytes ||
           (layout.size >= 0 && layout.size < bytes))) {
        container.corrupt("contiguous data", layout.address, std::to_string(bytes) + " bytes do not fit there");
      }
      return;
    case LayoutKind::Chunked: break;
  }
  const size_t stored_rank = spec.shape.size() - datatype.shape.size();
  if (layout.chunk.size() != stored_rank || stored_rank == 0) {
    throw Error(ErrorKind::Corrupt,
                "chunks of rank " + std::to_string(layout.chunk.size()) + " for rank " + std::to_string(stored_rank));
  }
  if (!datatype.shape.empty()) throw Error(ErrorKind::Unsupported, "chunked data of array elements are not read");
  if (layout.element_size != item) {
    throw Error(ErrorKind::Corrupt, "the layout says elements of " + std::to_string(layout.element_size) +
                                        " bytes, the datatype " + std::to_string(item));
  }
  spec.chunks = layout.chunk;
  std::vector<codec::Hdf5Filter> filters;
  if (const Message* message = header.find(MessageType::FilterPipeline)) {
    filters = parse_filter_pipeline(resolve(container, message->reader(), message->type, message->shared()).reader);
  }
  filtered = !filters.empty();
  spec.codecs = to_codecs(filters, item);
}

}  // namespace

std::shared_ptr<const Array> open_dataset(std::shared_ptr<const Container> container, const ObjectHeader& header,
                                          const std::string& name) {
  try {
    Dataset::Parts parts;
    const ResolvedMessage space_message = need(*container, header, MessageType::Dataspace, "dataspace");
    const Dataspace space = parse_dataspace(*container, space_message.reader);
    ResolvedMessage type_message = need(*container, header, MessageType::Datatype, "datatype");
    const Datatype datatype = parse_datatype(*container, type_message.reader);
    const ResolvedMessage layout_message = need(*container, header, MessageType::Layout, "layout");
    parts.layout = parse_layout(*container, layout_message.reader);
    if (header.find(MessageType::ExternalFiles)) {
      throw Error(ErrorKind::Unsupported, "its data lie in other files, which is not read; copy them into this file");
    }
    if (datatype.sequence_of) {
      throw Error(ErrorKind::Unsupported,
                  "variable-length sequences of " + to_string(datatype.sequence_of->type) + " are not read");
    }
    ArraySpec& spec = parts.spec;
    spec.type = datatype.type;
    spec.null_space = space.null;
    if (!space.null) {
      spec.shape = space.shape;
      spec.max_shape = space.max_shape;
      spec.shape.insert(spec.shape.end(), datatype.shape.begin(), datatype.shape.end());
      if (!spec.max_shape.empty())
        spec.max_shape.insert(spec.max_shape.end(), datatype.shape.begin(), datatype.shape.end());
    }
    set_storage(*container, header, parts.layout, datatype, spec, parts.filtered);
    if (!spec.type.has_references_to_heap() && datatype.shape.empty()) {
      spec.fill = find_fill_value(*container, header);
      if (!spec.fill.empty() && static_cast<int64_t>(spec.fill.size()) != spec.type.size) {
        throw Error(ErrorKind::Corrupt, "its fill value has another size than its elements");
      }
    }
    return std::shared_ptr<const Array>(
        new Dataset(container, std::move(parts), read_attributes(*container, header, name), name));
  } catch (Error& error) {
    if (std::string_view(error.what()).starts_with(name)) throw;
    throw error.prefix(name);
  }
}

}  // namespace lamella::array::hdf5
