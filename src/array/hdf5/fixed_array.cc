#include "array/hdf5/fixed_array.h"

#include <algorithm>

#include "base/shape.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kHeader = "fixed array header";
constexpr const char* kBlock = "fixed array data block";

}  // namespace

ArrayElement take_element(const Container& container, ByteReader& in, int client, int64_t size) {
  ArrayElement element;
  element.address = container.take_address(in);
  if (client == 1) {
    const int64_t width = size - container.super().offset_size - 4;
    if (width < 1 || width > 8) in.fail("a chunk size of 1 to 8 bytes");
    const uint64_t stored = in.uint(static_cast<int>(width));
    if (stored > INT64_MAX && element.address != kUndefined) in.fail("a chunk size below 2^63");
    element.size = static_cast<int64_t>(stored & INT64_MAX);
    element.mask = in.u32();
  } else if (size > container.super().offset_size) {
    in.skip(size - container.super().offset_size);
  }
  return element;
}

void walk_fixed_array(const Container& container, int64_t address,
                      const std::function<void(int64_t, const ArrayElement&)>& visit) {
  const int64_t head_size = 8 + container.super().length_size + container.super().offset_size + 4;
  const Block head = container.read_signed(address, head_size, "FAHD", kHeader);
  container.check_sum(head, head_size, kHeader);
  ByteReader in = head.reader();
  in.skip(5);
  const int client = in.u8();
  const int64_t size = in.u8();
  const int page_bits = in.u8();
  const int64_t elements = container.take_length(in);
  const int64_t block_address = container.take_address(in);
  if (block_address == kUndefined) return;
  if (size < container.super().offset_size || page_bits > 32)
    container.corrupt(kHeader, address, "its sizes make no sense");

  const int64_t page = int64_t{1} << page_bits;
  const int64_t prefix = 6 + container.super().offset_size;
  if (elements <= page) {
    const int64_t bytes = prefix + checked_mul(elements, size) + 4;
    const Block block = container.read_signed(block_address, bytes, "FADB", kBlock);
    container.check_sum(block, bytes, kBlock);
    ByteReader data = block.reader();
    data.skip(prefix);
    for (int64_t i = 0; i < elements; ++i) visit(i, take_element(container, data, client, size));
    return;
  }
  const int64_t pages = ceil_div(elements, page);
  const int64_t bitmap = ceil_div(pages, 8);
  const int64_t front = prefix + bitmap + 4;
  const Block block = container.read_signed(block_address, front, "FADB", kBlock);
  container.check_sum(block, front, kBlock);
  for (int64_t p = 0; p < pages; ++p) {
    const auto bits = static_cast<uint8_t>(block.buffer.data()[prefix + p / 8]);
    if (!(bits & (0x80 >> (p % 8)))) continue;
    const int64_t n = std::min(page, elements - p * page);
    const int64_t at = checked_add(block_address + front, checked_mul(p, page * size + 4));
    const Block part = container.read(at, n * size + 4, "fixed array page");
    container.check_sum(part, n * size + 4, "fixed array page");
    ByteReader data = part.reader();
    for (int64_t i = 0; i < n; ++i) visit(p * page + i, take_element(container, data, client, size));
  }
}

}  // namespace lamella::array::hdf5
