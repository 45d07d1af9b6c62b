#pragma once

#include <memory>
#include <vector>

#include "array/hdf5/container.h"

namespace lamella::array::hdf5 {

enum class MessageType : uint16_t {
  Dataspace = 0x01,
  LinkInfo = 0x02,
  Datatype = 0x03,
  OldFillValue = 0x04,
  FillValue = 0x05,
  Link = 0x06,
  ExternalFiles = 0x07,
  Layout = 0x08,
  FilterPipeline = 0x0b,
  Attribute = 0x0c,
  Continuation = 0x10,
  SymbolTable = 0x11,
  AttributeInfo = 0x15,
};

struct Message {
  MessageType type{};
  uint8_t flags = 0;
  uint16_t creation_order = 0;
  ConstBytes bytes;      // of the header's blocks
  int64_t position = 0;  // absolute

  bool shared() const { return flags & 2; }
  ByteReader reader() const { return ByteReader(bytes, position); }
};

class ObjectHeader;

// A message whose bytes may belong to the header of a committed datatype, which `owner` then keeps.
struct ResolvedMessage {
  ByteReader reader;
  std::shared_ptr<const ObjectHeader> owner;
};

// The messages of one object: all of its blocks, continuations followed. Immutable.
class ObjectHeader {
 public:
  ObjectHeader(const Container& container, int64_t address);

  int64_t address() const { return address_; }
  const std::vector<Message>& messages() const { return messages_; }
  const Message* find(MessageType type) const;  // null when absent
  bool tracks_attribute_order() const { return tracks_attribute_order_; }

 private:
  void read_version1(const Container& container);
  void read_version2(const Container& container, Block first);
  void parse1(const Container& container, const Block& block, int64_t begin);
  void parse2(const Container& container, const Block& block, int64_t begin, int64_t end);
  void add(const Container& container, Message message);

  struct Range {
    int64_t address;
    int64_t size;
  };

  int64_t address_;
  std::vector<Block> blocks_;
  std::vector<Message> messages_;
  std::vector<Range> continuations_;
  bool has_creation_order_ = false;
  bool tracks_attribute_order_ = false;
};

// The message itself, or the one that it refers to. `shared` is the flag of the message or of a part of an attribute.
ResolvedMessage resolve(const Container& container, ByteReader content, MessageType type, bool shared);

}  // namespace lamella::array::hdf5
