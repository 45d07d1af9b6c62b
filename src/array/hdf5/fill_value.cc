#include "array/hdf5/fill_value.h"

namespace lamella::array::hdf5 {
namespace {

std::vector<std::byte> take_sized(ByteReader& in) {
  const ConstBytes bytes = in.take(in.u32());
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> parse(ByteReader in) {
  const int version = in.u8();
  if (version == 3) {
    const int flags = in.u8();
    return flags & 0x20 ? take_sized(in) : std::vector<std::byte>();
  }
  if (version != 1 && version != 2) in.fail("fill value version 1 to 3, not " + std::to_string(version) + ",");
  in.skip(2);
  const bool defined = in.u8() != 0;
  return defined ? take_sized(in) : std::vector<std::byte>();
}

}  // namespace

std::vector<std::byte> find_fill_value(const Container& container, const ObjectHeader& header) {
  if (const Message* message = header.find(MessageType::FillValue)) {
    const ResolvedMessage resolved = resolve(container, message->reader(), message->type, message->shared());
    return parse(resolved.reader);
  }
  if (const Message* message = header.find(MessageType::OldFillValue)) {
    const ResolvedMessage resolved = resolve(container, message->reader(), message->type, message->shared());
    ByteReader in = resolved.reader;
    return take_sized(in);
  }
  return {};
}

}  // namespace lamella::array::hdf5
