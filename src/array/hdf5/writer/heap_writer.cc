#include "array/hdf5/writer/heap_writer.h"

#include <cstring>

#include "base/error.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kTargetBytes = 256 << 10;  // of a collection: libhdf5 reads each one whole
constexpr uint32_t kMostObjects = 32000;     // the index has 16 bits
constexpr int64_t kGrain = 4096;             // libhdf5 reads at least this much of a collection
constexpr int64_t kHead = 16;                // of a collection, and of an object

template <class Body>
void for_each_string(const DType& type, int64_t offset, const Body& body) {
  if (type.is_vlen()) return body(offset);
  if (type.kind != TypeKind::Struct) return;
  for (const Field& field : *type.fields) {
    const int64_t inner = count(field.shape);
    for (int64_t i = 0; i < inner; ++i) for_each_string(field.type, offset + field.offset + i * field.type.size, body);
  }
}

}  // namespace

HeapBuilder::Reference HeapBuilder::add(ConstBytes bytes) {
  if (bytes.empty()) return {};
  if (bytes.size() > UINT32_MAX)
    throw Error(ErrorKind::Unsupported, "a string of more than 4 GiB cannot be stored in HDF5");
  const auto size = static_cast<int64_t>(bytes.size());
  if (objects_ > 0 && (open_.size() + size > kTargetBytes || objects_ >= kMostObjects)) close();
  const Reference reference{static_cast<uint32_t>(bytes.size()), ++objects_, done_.size()};
  open_.u16(reference.index).u16(1).u32(0).u64(bytes.size()).put(bytes).pad(8);
  return reference;
}

void HeapBuilder::close() {
  const int64_t used = kHead + open_.size();
  const int64_t total = round_up(used, kGrain);
  done_.text("GCOL").u8(1).zeros(3).u64(static_cast<uint64_t>(total)).put(open_.bytes());
  // What is left is an object with index 0, if there is room to say so.
  const int64_t left = total - used;
  if (left >= kHead) done_.u16(0).u16(0).u32(0).u64(static_cast<uint64_t>(left)).zeros(left - kHead);
  else done_.zeros(left);
  open_.clear();
  objects_ = 0;
}

std::vector<std::byte> HeapBuilder::finish() {
  if (objects_ > 0) close();
  return done_.take();
}

void put_reference(std::byte* at, const HeapBuilder::Reference& reference, int64_t heap_address) {
  const int64_t address = reference.index == 0 ? 0 : heap_address + reference.collection;
  std::memcpy(at, &reference.length, 4);
  std::memcpy(at + 4, &address, 8);
  std::memcpy(at + 12, &reference.index, 4);
}

void store_strings(const DType& type, const std::byte* decoded, std::byte* stored, int64_t elements,
                   HeapBuilder& heap) {
  std::memcpy(stored, decoded, static_cast<size_t>(elements * type.size));
  for (int64_t i = 0; i < elements; ++i) {
    for_each_string(type, i * type.size, [&](int64_t offset) {
      StringRef ref;
      std::memcpy(&ref, decoded + offset, sizeof(ref));
      put_reference(stored + offset,
                    heap.add({reinterpret_cast<const std::byte*>(ref.data), static_cast<size_t>(ref.size)}), 0);
    });
  }
}

void relocate_strings(const DType& type, std::byte* stored, int64_t elements, int64_t heap_address) {
  for (int64_t i = 0; i < elements; ++i) {
    for_each_string(type, i * type.size, [&](int64_t offset) {
      uint32_t index;
      int64_t address;
      std::memcpy(&index, stored + offset + 12, 4);
      if (index == 0) return;
      std::memcpy(&address, stored + offset + 4, 8);
      address += heap_address;
      std::memcpy(stored + offset + 4, &address, 8);
    });
  }
}

}  // namespace lamella::array::hdf5
