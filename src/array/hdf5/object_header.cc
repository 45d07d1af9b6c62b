#include "array/hdf5/object_header.h"

#include <cstring>

#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr const char* kWhat = "object header";
constexpr int64_t kFirstRead = 512;  // most headers of small objects fit

}  // namespace

ObjectHeader::ObjectHeader(const Container& container, int64_t address) : address_(address) {
  Block first = container.read_some(address, 16, kFirstRead, kWhat);
  if (std::memcmp(first.buffer.data(), "OHDR", 4) == 0) {
    read_version2(container, std::move(first));
  } else {
    read_version1(container);
  }
}

const Message* ObjectHeader::find(MessageType type) const {
  for (const Message& message : messages_) {
    if (message.type == type) return &message;
  }
  return nullptr;
}

void ObjectHeader::read_version1(const Container& container) {
  const Block prefix = container.read(address_, 16, kWhat);
  ByteReader in = prefix.reader();
  const int version = in.u8();
  if (version != 1) container.corrupt(kWhat, address_, "version is " + std::to_string(version));
  in.skip(1 + 2 + 4);  // number of messages, which their sizes tell as well; reference count
  const int64_t size = in.u32();
  WalkLimit limit(container, kWhat);
  continuations_.push_back({address_ + 16, size});
  for (size_t i = 0; i < continuations_.size(); ++i) {
    const Range range = continuations_[i];
    limit.spend(range.size + 1, range.address);
    blocks_.push_back(container.read(range.address, range.size, "object header block"));
    parse1(container, blocks_.back(), 0);
  }
}

void ObjectHeader::read_version2(const Container& container, Block first) {
  ByteReader in = first.reader();
  in.skip(4);
  const int version = in.u8();
  if (version != 2) container.corrupt(kWhat, address_, "version is " + std::to_string(version));
  const int flags = in.u8();
  tracks_attribute_order_ = has_creation_order_ = flags & 0x04;
  if (flags & 0x20) in.skip(16);  // times
  if (flags & 0x10) in.skip(4);   // when attributes become dense
  const uint64_t size = in.uint(1 << (flags & 3));
  if (size > static_cast<uint64_t>(container.size())) container.corrupt(kWhat, address_, "is larger than the file");
  const int64_t begin = in.position();
  const int64_t end = begin + static_cast<int64_t>(size);
  if (end + 4 > first.buffer.size()) first = container.read(address_, end + 4, kWhat);
  container.check_sum(first, end + 4, kWhat);
  blocks_.push_back(std::move(first));
  parse2(container, blocks_.back(), begin, end);
  WalkLimit limit(container, kWhat);
  for (size_t i = 0; i < continuations_.size(); ++i) {
    const Range range = continuations_[i];
    limit.spend(range.size + 1, range.address);
    if (range.size < 8) container.corrupt("object header block", range.address, "is too short");
    blocks_.push_back(container.read_signed(range.address, range.size, "OCHK", "object header block"));
    container.check_sum(blocks_.back(), range.size, "object header block");
    parse2(container, blocks_.back(), 4, range.size - 4);
  }
}

void ObjectHeader::parse1(const Container& container, const Block& block, int64_t begin) {
  ByteReader in = block.reader();
  in.seek(begin);
  while (in.remaining() >= 8) {
    Message message;
    message.type = static_cast<MessageType>(in.u16());
    const int64_t size = in.u16();
    message.flags = in.u8();
    in.skip(3);
    message.position = block.position + in.position();
    message.bytes = in.take(size);
    add(container, message);
  }
}

void ObjectHeader::parse2(const Container& container, const Block& block, int64_t begin, int64_t end) {
  ByteReader in(block.buffer.bytes().first(static_cast<size_t>(end)), block.position);
  in.seek(begin);
  const int64_t head = has_creation_order_ ? 6 : 4;
  while (in.remaining() >= head) {  // a shorter rest is a gap
    Message message;
    message.type = static_cast<MessageType>(in.u8());
    const int64_t size = in.u16();
    message.flags = in.u8();
    if (has_creation_order_) message.creation_order = in.u16();
    message.position = block.position + in.position();
    message.bytes = in.take(size);
    add(container, message);
  }
}

void ObjectHeader::add(const Container& container, Message message) {
  if (message.type == MessageType::Continuation) {
    ByteReader in = message.reader();
    const int64_t address = container.take_address(in);
    continuations_.push_back({address, container.take_length(in)});
  } else {
    messages_.push_back(message);
  }
}

ResolvedMessage resolve(const Container& container, ByteReader content, MessageType type, bool shared) {
  if (!shared) return {content, nullptr};
  const int version = content.u8();
  const int kind = content.u8();
  if (version == 1) content.skip(6);
  if (version < 1 || version > 3)
    content.fail("version 1 to 3 of a shared message, not " + std::to_string(version) + ",");
  if (version == 3 && kind == 1) {
    throw Error(ErrorKind::Unsupported, container.name() +
                                            ": messages in the file's shared table are not read; "
                                            "rewrite the file with h5repack");
  }
  auto owner = std::make_shared<ObjectHeader>(container, container.take_address(content));
  const Message* message = owner->find(type);
  if (message == nullptr || message->shared()) {
    container.corrupt("object header", owner->address(), "does not hold the message that another object shares");
  }
  return {message->reader(), std::move(owner)};
}

}  // namespace lamella::array::hdf5
