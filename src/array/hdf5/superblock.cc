#include "array/hdf5/superblock.h"

#include <algorithm>
#include <cstring>

#include "array/hdf5/checksum.h"
#include "base/byte_reader.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr unsigned char kSignature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr int64_t kMostBytes = 128;

[[noreturn]] void corrupt(const store::ReadFile& file, const std::string& fault) {
  throw Error(ErrorKind::Corrupt, file.name() + ": superblock: " + fault);
}

int64_t find_signature(const store::ReadFile& file) {
  std::byte head[8];
  for (int64_t at = 0; at + 8 <= file.size(); at = at == 0 ? 512 : at * 2) {
    file.read_at(at, head);
    if (std::memcmp(head, kSignature, 8) == 0) return at;
  }
  throw Error(ErrorKind::Corrupt, file.name() + ": is no HDF5 file: the signature is missing");
}

int64_t take_address(ByteReader& in, const Superblock& super) {
  const uint64_t value = in.uint(super.offset_size);
  const uint64_t ones = super.offset_size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * super.offset_size)) - 1;
  return value == ones || value > INT64_MAX ? kUndefined : static_cast<int64_t>(value);
}

void check_sizes(const store::ReadFile& file, const Superblock& super) {
  for (int size : {super.offset_size, super.length_size}) {
    if (size != 2 && size != 4 && size != 8) corrupt(file, "size of an address or length is " + std::to_string(size));
  }
}

// Versions 0 and 1: the oldest form, which h5py writes by default.
void parse_old(const store::ReadFile& file, ByteReader& in, Superblock& super, int64_t& stored_base) {
  in.skip(4);  // versions of parts that never changed
  super.offset_size = in.u8();
  super.length_size = in.u8();
  check_sizes(file, super);
  in.skip(1 + 2 + 2 + 4);
  if (super.version == 1) {
    super.chunk_tree_entries = 2 * in.u16();
    in.skip(2);
  }
  stored_base = take_address(in, super);
  in.skip(super.offset_size);
  super.end = take_address(in, super);
  in.skip(2 * super.offset_size);
  super.root = take_address(in, super);
}

void parse_new(const store::ReadFile& file, ByteReader& in, ConstBytes bytes, Superblock& super, int64_t& stored_base) {
  super.offset_size = in.u8();
  super.length_size = in.u8();
  check_sizes(file, super);
  in.skip(1);
  stored_base = take_address(in, super);
  in.skip(super.offset_size);
  super.end = take_address(in, super);
  super.root = take_address(in, super);
  const uint32_t computed = lookup3(bytes.first(static_cast<size_t>(in.position())));
  if (in.u32() != computed) corrupt(file, "checksum does not match");
}

}  // namespace

Superblock read_superblock(const store::ReadFile& file) {
  Superblock super;
  super.base = find_signature(file);
  const Buffer block = file.read(super.base, std::min(kMostBytes, file.size() - super.base));
  ByteReader in(block.bytes(), super.base);
  in.skip(8);
  super.version = in.u8();
  int64_t stored_base = 0;
  try {
    if (super.version <= 1) {
      parse_old(file, in, super, stored_base);
    } else if (super.version <= 3) {
      parse_new(file, in, block.bytes(), super, stored_base);
    } else {
      throw Error(ErrorKind::Unsupported, "version " + std::to_string(super.version) + " is not known");
    }
  } catch (Error& error) {
    throw error.kind() == ErrorKind::Corrupt && std::string(error.what()).starts_with(file.name())
        ? error
        : error.prefix(file.name() + ": superblock");
  }
  // A block may have been put in front later: what counts is where the signature is.
  if (super.end == kUndefined || super.root == kUndefined) corrupt(file, "end or root address is missing");
  super.end += super.base - std::max<int64_t>(stored_base, 0);
  if (super.end > file.size()) {
    throw Error(ErrorKind::Corrupt, file.name() + ": file is truncated: superblock says " + std::to_string(super.end) +
                                        " bytes, " + std::to_string(file.size()) + " found");
  }
  return super;
}

}  // namespace lamella::array::hdf5
