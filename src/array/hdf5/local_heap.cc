#include "array/hdf5/local_heap.h"

namespace lamella::array::hdf5 {
namespace {

Block read_data(const Container& container, int64_t address) {
  const int64_t size = 8 + 2 * container.super().length_size + container.super().offset_size;
  const Block head = container.read_signed(address, size, "HEAP", "local heap");
  ByteReader in = head.reader();
  in.skip(8);
  const int64_t data_size = container.take_length(in);
  in.skip(container.super().length_size);
  return container.read(container.take_address(in), data_size, "local heap data");
}

}  // namespace

LocalHeap::LocalHeap(const Container& container, int64_t address) : data_(read_data(container, address)) {}

std::string LocalHeap::name_at(int64_t offset) const {
  ByteReader in = data_.reader();
  in.seek(offset);
  return std::string(in.c_string());
}

}  // namespace lamella::array::hdf5
