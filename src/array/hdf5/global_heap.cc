#include "array/hdf5/global_heap.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kWhat = "global heap collection";
constexpr int64_t kSmallest = 4096;  // libhdf5 makes none smaller; files by others may
constexpr int64_t kLargestRead = 256 << 10;

int64_t take_collection_size(const Container& container, ConstBytes bytes, int64_t address) {
  ByteReader in(bytes, container.absolute(address));
  if (std::memcmp(in.take(4).data(), "GCOL", 4) != 0) container.corrupt(kWhat, address, "signature GCOL is missing");
  in.skip(4);
  return container.take_length(in);
}

void resolve_one(GlobalHeapReader& heap, std::byte* element) {
  uint32_t length, index;
  int64_t address;
  std::memcpy(&length, element, 4);
  std::memcpy(&address, element + 4, 8);
  std::memcpy(&index, element + 12, 4);
  StringRef out;
  if (length != 0 && address != 0 && address != kUndefined) {
    const ConstBytes object = heap.object(address, index);
    if (object.size() < length) {
      throw Error(ErrorKind::Corrupt, "variable-length element of " + std::to_string(length) + " bytes is object " +
                                          std::to_string(index) + " of the global heap collection at " +
                                          std::to_string(address) + ", which has " + std::to_string(object.size()));
    }
    out = {reinterpret_cast<const char*>(object.data()), length};
  }
  std::memcpy(element, &out, sizeof(out));
}

}  // namespace

ConstBytes GlobalHeapReader::object(int64_t address, uint32_t index) {
  if (address != last_address_) {
    last_ = &collection(address);
    last_address_ = address;
  }
  if (index >= last_->objects.size() || last_->objects[index].data() == nullptr) {
    container_.corrupt(kWhat, address, "has no object " + std::to_string(index));
  }
  return last_->objects[index];
}

ConstBytes GlobalHeapReader::load(int64_t address) {
  const int64_t head = 8 + container_.super().length_size;
  const auto window_size = static_cast<int64_t>(window_.size());
  const int64_t inside = address - window_address_;
  if (!window_.empty() && inside >= 0 && inside <= window_size - head) {
    const ConstBytes rest = window_.subspan(static_cast<size_t>(inside));
    const int64_t size = take_collection_size(container_, rest, address);
    if (size <= static_cast<int64_t>(rest.size())) return rest.first(static_cast<size_t>(std::max(size, head)));
  }
  const bool follows = !window_.empty() && inside >= 0 && inside <= window_size;
  next_read_ = follows ? std::min(2 * next_read_, kLargestRead) : kSmallest;
  Block block = container_.read_some(address, head, next_read_, kWhat);
  const int64_t size = take_collection_size(container_, block.buffer.bytes(), address);
  if (size > block.buffer.size()) block = container_.read(address, size, kWhat);
  window_ = block.buffer.bytes();
  window_address_ = address;
  heap_.adopt(std::move(block.buffer));
  return window_.first(static_cast<size_t>(std::max(size, head)));
}

const GlobalHeapReader::Collection& GlobalHeapReader::collection(int64_t address) {
  const auto found = collections_.find(address);
  if (found != collections_.end()) return found->second;
  const ConstBytes bytes = load(address);
  Collection collection;
  ByteReader in(bytes, container_.absolute(address));
  in.skip(8 + container_.super().length_size);
  const int64_t head = 8 + container_.super().length_size;
  while (in.remaining() >= head) {
    const uint16_t index = in.u16();
    in.skip(6);
    const int64_t size = container_.take_length(in);
    if (index == 0) break;  // the free rest
    if (collection.objects.size() <= index) collection.objects.resize(static_cast<size_t>(index) + 1);
    collection.objects[index] = in.take(size);
    in.skip(std::min(round_up(size, 8) - size, in.remaining()));
  }
  return collections_.emplace(address, std::move(collection)).first->second;
}

void resolve_elements(GlobalHeapReader& heap, const DType& type, std::byte* data, int64_t elements) {
  if (type.is_vlen()) {
    for (int64_t i = 0; i < elements; ++i) resolve_one(heap, data + i * 16);
  } else if (type.kind == TypeKind::Struct && type.has_references_to_heap()) {
    for (const Field& field : *type.fields) {
      if (!field.type.has_references_to_heap()) continue;
      const int64_t n = count(field.shape);
      for (int64_t i = 0; i < elements; ++i) resolve_elements(heap, field.type, data + i * type.size + field.offset, n);
    }
  }
}

}  // namespace lamella::array::hdf5
