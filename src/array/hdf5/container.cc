#include "array/hdf5/container.h"

#include <algorithm>
#include <cstring>

#include "array/hdf5/checksum.h"
#include "array/hdf5/links.h"
#include "base/error.h"

namespace lamella::array::hdf5 {

Container::Container(std::shared_ptr<const store::ReadFile> file)
    : file_(std::move(file)), super_(read_superblock(*file_)) {}

Block Container::read(int64_t address, int64_t size, const char* what) const {
  return read_some(address, size, size, what);
}

Block Container::read_some(int64_t address, int64_t least, int64_t most, const char* what) const {
  if (address < 0 || least < 0 || least > size() || address > size() - least) {
    corrupt(what, address, std::to_string(least) + " bytes there lie beyond the end of the file");
  }
  const int64_t length = std::clamp(size() - address, least, std::max(least, most));
  if (length <= kPage / 2) {
    Block out{Buffer(length), absolute(address)};
    if (read_small(out.position, out.buffer.bytes())) return out;
  }
  return {file_->read(absolute(address), length), absolute(address)};
}

// From the pages that are kept. False where the bytes lie across two of them.
bool Container::read_small(int64_t position, Bytes out) const {
  const int64_t number = position / kPage, offset = position % kPage;
  if (offset + static_cast<int64_t>(out.size()) > kPage) return false;
  std::lock_guard lock(pages_mutex_);
  auto page = std::find_if(pages_.begin(), pages_.end(), [&](const Page& one) { return one.number == number; });
  if (page == pages_.end()) {
    page = pages_.begin() + static_cast<std::ptrdiff_t>(next_page_++ % kPages);
    page->number = -1;
    page->bytes = file_->read(number * kPage, std::min(kPage, file_->size() - number * kPage));
    page->number = number;
  }
  if (offset + static_cast<int64_t>(out.size()) > page->bytes.size()) return false;
  std::memcpy(out.data(), page->bytes.data() + offset, out.size());
  return true;
}

Block Container::read_signed(int64_t address, int64_t size, const char* signature, const char* what) const {
  Block block = read(address, size, what);
  check_signature(block, signature, what);
  return block;
}

void Container::check_signature(const Block& block, const char* signature, const char* what) const {
  if (block.buffer.size() < 4 || std::memcmp(block.buffer.data(), signature, 4) != 0) {
    corrupt(what, block.position - super_.base, std::string("signature ") + signature + " is missing");
  }
}

void Container::check_sum(const Block& block, int64_t size, const char* what) const {
  if (size < 4 || size > block.buffer.size()) corrupt(what, block.position - super_.base, "is cut");
  uint32_t stored;
  std::memcpy(&stored, block.buffer.data() + size - 4, 4);
  if (stored != lookup3(block.buffer.bytes().first(static_cast<size_t>(size - 4)))) {
    corrupt(what, block.position - super_.base, "checksum does not match");
  }
}

int64_t Container::take_address(ByteReader& in) const {
  const uint64_t value = in.uint(super_.offset_size);
  const uint64_t ones = super_.offset_size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * super_.offset_size)) - 1;
  if (value == ones) return kUndefined;
  if (value > INT64_MAX) in.fail("an address below 2^63, not " + std::to_string(value) + ", was");
  return static_cast<int64_t>(value);
}

int64_t Container::take_length(ByteReader& in) const {
  const uint64_t value = in.uint(super_.length_size);
  if (value > INT64_MAX) in.fail("a length below 2^63, not " + std::to_string(value) + ", was");
  return static_cast<int64_t>(value);
}

void Container::corrupt(const std::string& what, int64_t address, const std::string& fault) const {
  throw Error(ErrorKind::Corrupt,
              name() + ": " + what + " at offset " + std::to_string(absolute(address)) + ": " + fault);
}

std::string Container::path_of(int64_t address) const {
  std::call_once(walked_, [&] { paths_ = walk_paths(*this); });
  const auto found = paths_.find(address);
  return found == paths_.end() ? std::string() : "/" + found->second;
}

}  // namespace lamella::array::hdf5
