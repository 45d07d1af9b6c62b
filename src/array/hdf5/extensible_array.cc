#include "array/hdf5/extensible_array.h"

#include <algorithm>
#include <bit>

#include "base/shape.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kHeader = "extensible array header";
constexpr const char* kIndexBlock = "extensible array index block";
constexpr const char* kSuperBlock = "extensible array super block";
constexpr const char* kDataBlock = "extensible array data block";
constexpr const char* kPage = "extensible array page";

class ArrayWalk {
 public:
  ArrayWalk(const Container& container, int64_t address, const std::function<void(int64_t, const ArrayElement&)>& visit)
      : container_(container), limit_(container, "extensible array"), address_(address), visit_(visit) {}

  void walk() {
    const int64_t size = 12 + 6 * container_.super().length_size + container_.super().offset_size + 4;
    const Block head = container_.read_signed(address_, size, "EAHD", kHeader);
    container_.check_sum(head, size, kHeader);
    ByteReader in = head.reader();
    in.skip(5);
    client_ = in.u8();
    element_ = in.u8();
    const int bits = in.u8();
    index_elements_ = in.u8();
    least_ = in.u8();
    const int64_t least_pointers = in.u8();
    const int page_bits = in.u8();
    in.skip(4 * container_.super().length_size);
    end_ = container_.take_length(in);
    in.skip(container_.super().length_size);
    const int64_t index = container_.take_address(in);
    const bool sane = element_ >= container_.super().offset_size && bits >= 1 && bits <= 64 && page_bits <= 32 &&
                      std::has_single_bit(static_cast<uint64_t>(least_)) &&
                      std::has_single_bit(static_cast<uint64_t>(least_pointers));
    if (!sane) container_.corrupt(kHeader, address_, "its sizes make no sense");
    page_ = int64_t{1} << page_bits;
    offset_width_ = (bits + 7) / 8;
    if (index == kUndefined) return;
    const int super_blocks = 1 + bits - (std::bit_width(static_cast<uint64_t>(least_)) - 1);
    const int in_index = 2 * (std::bit_width(static_cast<uint64_t>(least_pointers)) - 1);
    index_block(index, super_blocks, in_index);
  }

 private:
  // Of super block u: how many data blocks, and how many elements has each.
  static int64_t blocks_of(int u) { return int64_t{1} << (u / 2); }
  int64_t elements_of(int u) const { return checked_mul(least_, int64_t{1} << ((u + 1) / 2)); }
  int64_t prefix() const { return 6 + container_.super().offset_size; }

  void index_block(int64_t address, int super_blocks, int in_index) {
    int64_t data_blocks = 0;
    for (int u = 0; u < in_index; ++u) data_blocks += blocks_of(u);
    const int64_t pointers = data_blocks + std::max(super_blocks - in_index, 0);
    const int64_t size = prefix() + index_elements_ * element_ + pointers * container_.super().offset_size + 4;
    const Block block = container_.read_signed(address, size, "EAIB", kIndexBlock);
    container_.check_sum(block, size, kIndexBlock);
    ByteReader in = block.reader();
    in.skip(prefix());
    elements(in, index_elements_);
    for (int u = 0; u < in_index; ++u) {
      for (int64_t b = 0; b < blocks_of(u); ++b) data_block(container_.take_address(in), elements_of(u), nullptr, 0);
    }
    for (int u = in_index; u < super_blocks && next_ < end_; ++u) super_block(container_.take_address(in), u);
  }

  void super_block(int64_t address, int u) {
    const int64_t n = blocks_of(u);
    const int64_t each = elements_of(u);
    if (address == kUndefined) {
      next_ = checked_add(next_, checked_mul(n, each));
      return;
    }
    const int64_t pages = each > page_ ? each / page_ : 0;
    const int64_t bitmap = checked_mul(n, ceil_div(pages, 8));
    const int64_t front = prefix() + offset_width_;
    const int64_t size = checked_add(front + bitmap, checked_mul(n, container_.super().offset_size)) + 4;
    limit_.spend(size, address);
    const Block block = container_.read_signed(address, size, "EASB", kSuperBlock);
    container_.check_sum(block, size, kSuperBlock);
    ByteReader in = block.reader();
    in.skip(front);
    const ConstBytes bits = in.take(bitmap);
    for (int64_t b = 0; b < n && next_ < end_; ++b) data_block(container_.take_address(in), each, &bits, b * pages);
  }

  // `written` has one bit a page from `first_bit` on, when the block is cut into pages.
  void data_block(int64_t address, int64_t n, const ConstBytes* written, int64_t first_bit) {
    if (address == kUndefined || next_ >= end_) {
      next_ = checked_add(next_, n);
      return;
    }
    const int64_t front = prefix() + offset_width_;
    if (n <= page_ || written == nullptr) {
      const int64_t size = front + checked_mul(n, element_) + 4;
      limit_.spend(size, address);
      const Block block = container_.read_signed(address, size, "EADB", kDataBlock);
      container_.check_sum(block, size, kDataBlock);
      ByteReader in = block.reader();
      in.skip(front);
      elements(in, n);
      return;
    }
    const Block block = container_.read_signed(address, front + 4, "EADB", kDataBlock);
    container_.check_sum(block, front + 4, kDataBlock);
    const int64_t page_bytes = page_ * element_ + 4;
    for (int64_t p = 0; p < n / page_; ++p) {
      const int64_t bit = first_bit + p;
      const auto bits = static_cast<uint8_t>((*written)[static_cast<size_t>(bit / 8)]);
      if (next_ >= end_ || !(bits & (0x80 >> (bit % 8)))) {
        next_ = checked_add(next_, page_);
        continue;
      }
      const int64_t at = checked_add(address + front + 4, checked_mul(p, page_bytes));
      limit_.spend(page_bytes, at);
      const Block part = container_.read(at, page_bytes, kPage);
      container_.check_sum(part, page_bytes, kPage);
      ByteReader in = part.reader();
      elements(in, page_);
    }
  }

  void elements(ByteReader& in, int64_t n) {
    for (int64_t i = 0; i < n; ++i, ++next_) {
      const ArrayElement element = take_element(container_, in, client_, element_);
      if (next_ < end_) visit_(next_, element);
    }
  }

  const Container& container_;
  WalkLimit limit_;
  int64_t address_;
  const std::function<void(int64_t, const ArrayElement&)>& visit_;
  int client_ = 0, offset_width_ = 0;
  int64_t element_ = 0, index_elements_ = 0, least_ = 0, page_ = 0;
  int64_t end_ = 0;   // one behind the last element that was ever set
  int64_t next_ = 0;  // number of the next element
};

}  // namespace

void walk_extensible_array(const Container& container, int64_t address,
                           const std::function<void(int64_t, const ArrayElement&)>& visit) {
  ArrayWalk(container, address, visit).walk();
}

}  // namespace lamella::array::hdf5
