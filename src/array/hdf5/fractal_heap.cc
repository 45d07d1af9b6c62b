#include "array/hdf5/fractal_heap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "array/hdf5/btree_v2.h"
#include "array/hdf5/checksum.h"
#include "base/error.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kHeader = "fractal heap header";
constexpr const char* kDirect = "fractal heap direct block";
constexpr const char* kIndirect = "fractal heap indirect block";

int log2_of(int64_t value) { return std::bit_width(static_cast<uint64_t>(value)) - 1; }

int64_t encoded_width(int64_t most) { return log2_of(std::max<int64_t>(most, 1)) / 8 + 1; }

}  // namespace

FractalHeap::FractalHeap(const Container& container, int64_t address)
    : container_(container), address_(address), limit_(container, "fractal heap") {
  const int64_t wide = container.super().length_size;
  const int64_t size = 14 + 12 * wide + 3 * container.super().offset_size + 8 + 4;
  const Block head = container.read_signed(address, size, "FRHP", kHeader);
  ByteReader in = head.reader();
  in.skip(5);
  id_size_ = in.u16();
  if (in.u16() != 0) {
    throw Error(ErrorKind::Unsupported,
                container.name() + ": fractal heaps with filters are not read; rewrite the file with h5repack");
  }
  container.check_sum(head, size, kHeader);
  checksums_ = in.u8() & 2;
  const int64_t most_managed = in.u32();
  in.skip(wide);
  huge_tree_ = container.take_address(in);
  in.skip(wide + container.super().offset_size + 8 * wide);
  width_ = in.u16();
  start_size_ = container.take_length(in);
  most_direct_ = container.take_length(in);
  const int heap_bits = in.u16();
  in.skip(2);
  const int64_t root = container.take_address(in);
  const int64_t rows = in.u16();
  const bool powers =
      start_size_ > 0 && most_direct_ >= start_size_ && std::has_single_bit(static_cast<uint64_t>(start_size_)) &&
      std::has_single_bit(static_cast<uint64_t>(most_direct_)) && std::has_single_bit(static_cast<uint64_t>(width_));
  if (!powers || heap_bits < 1 || heap_bits > 64 || rows > 64)
    container.corrupt(kHeader, address, "its sizes make no sense");
  offset_width_ = (heap_bits + 7) / 8;
  length_width_ = std::min<int64_t>((log2_of(most_direct_) + 7) / 8, encoded_width(most_managed));
  direct_rows_ = log2_of(most_direct_) - log2_of(start_size_) + 2;
  if (root == kUndefined) return;
  if (rows == 0) {
    direct_[0] = {root, start_size_};
  } else {
    load_indirect(root, rows, 0, 0);
  }
}

int64_t FractalHeap::row_size(int64_t row) const {
  const int64_t shift = std::max<int64_t>(row - 1, 0);
  if (shift + log2_of(start_size_) > 61) container_.corrupt(kHeader, address_, "has too many rows");
  return start_size_ << shift;
}

void FractalHeap::load_indirect(int64_t address, int64_t rows, int64_t offset, int depth) {
  if (depth > 16) container_.corrupt(kIndirect, address, "is nested too deeply");
  const int64_t head = 5 + container_.super().offset_size + offset_width_;
  const int64_t size = head + rows * width_ * container_.super().offset_size + 4;
  limit_.spend(size, address);
  const Block block = container_.read_signed(address, size, "FHIB", kIndirect);
  container_.check_sum(block, size, kIndirect);
  ByteReader in = block.reader();
  in.seek(head);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t block_size = row_size(row);
    for (int64_t column = 0; column < width_; ++column) {
      const int64_t child = container_.take_address(in);
      if (child != kUndefined && row < direct_rows_) {
        direct_[offset] = {child, block_size};
      } else if (child != kUndefined) {
        const int64_t child_rows = log2_of(block_size) - log2_of(start_size_ * width_) + 1;
        if (child_rows < 1) container_.corrupt(kIndirect, child, "has no rows");
        load_indirect(child, child_rows, offset, depth + 1);
      }
      offset = checked_add(offset, block_size);
    }
  }
}

ConstBytes FractalHeap::keep(int64_t address, int64_t size, const char* what) {
  auto found = blocks_.find(address);
  if (found == blocks_.end()) {
    limit_.spend(size, address);
    found = blocks_.emplace(address, container_.read(address, size, what)).first;
  }
  const ConstBytes bytes = found->second.buffer.bytes();
  if (static_cast<int64_t>(bytes.size()) < size) container_.corrupt(what, address, "overlaps another one");
  return bytes;
}

ConstBytes FractalHeap::managed(int64_t offset, int64_t length) {
  auto found = direct_.upper_bound(offset);
  if (found == direct_.begin())
    container_.corrupt("fractal heap", address_, "has no block at " + std::to_string(offset));
  --found;
  const auto [address, size] = found->second;
  const int64_t inside = offset - found->first;
  if (inside >= size || length > size - inside) {
    container_.corrupt("fractal heap", address_, "object at " + std::to_string(offset) + " leaves its block");
  }
  const bool first = blocks_.find(address) == blocks_.end();
  const ConstBytes bytes = keep(address, size, kDirect);
  if (first) {
    const Block& block = blocks_.find(address)->second;
    container_.check_signature(block, "FHDB", kDirect);
    if (checksums_) {  // computed as if the field itself were zero
      const int64_t at = 5 + container_.super().offset_size + offset_width_;
      Buffer copy = Buffer::copy_of(bytes);
      if (at + 4 > copy.size()) container_.corrupt(kDirect, address, "is too short");
      uint32_t stored;
      std::memcpy(&stored, copy.data() + at, 4);
      std::memset(copy.data() + at, 0, 4);
      if (stored != lookup3(copy.bytes())) container_.corrupt(kDirect, address, "checksum does not match");
    }
  }
  return bytes.subspan(static_cast<size_t>(inside), static_cast<size_t>(length));
}

ConstBytes FractalHeap::huge(ByteReader id) {
  const int offset_size = container_.super().offset_size, length_size = container_.super().length_size;
  if (id_size_ - 1 >= offset_size + length_size) {
    const int64_t address = container_.take_address(id);
    const int64_t size = container_.take_length(id);
    return keep(address, size, "fractal heap huge object").first(static_cast<size_t>(size));
  }
  const int width = static_cast<int>(std::min<int64_t>(length_size, id_size_ - 1));
  const uint64_t key = id.uint(width);
  int64_t address = kUndefined, size = 0;
  walk_btree2(container_, huge_tree_, {1}, [&](ByteReader record) {
    const int64_t at = container_.take_address(record);
    const int64_t length = container_.take_length(record);
    if (static_cast<uint64_t>(container_.take_length(record)) == key) address = at, size = length;
  });
  if (address == kUndefined) container_.corrupt("fractal heap", address_, "has no huge object " + std::to_string(key));
  return keep(address, size, "fractal heap huge object").first(static_cast<size_t>(size));
}

ConstBytes FractalHeap::object(ConstBytes bytes) {
  ByteReader id(bytes, container_.absolute(address_));
  const int first = id.u8();
  if (first >> 6 != 0) container_.corrupt("fractal heap", address_, "id of unknown version");
  switch ((first >> 4) & 3) {
    case 0: {
      const auto offset = static_cast<int64_t>(id.uint(static_cast<int>(offset_width_)));
      const auto length = static_cast<int64_t>(id.uint(static_cast<int>(length_width_)));
      if (offset < 0) container_.corrupt("fractal heap", address_, "id with an offset beyond 2^63");
      return managed(offset, length);
    }
    case 1: return huge(id);
    case 2: {
      const int64_t length = id_size_ - 1 <= 16 ? (first & 15) + 1 : ((first & 15) << 8 | id.u8()) + 1;
      return id.take(length);
    }
    default: container_.corrupt("fractal heap", address_, "id of unknown kind");
  }
}

}  // namespace lamella::array::hdf5
