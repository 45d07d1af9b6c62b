#pragma once

#include <string>
#include <vector>

#include "array/attributes.h"
#include "array/hdf5/writer/heap_writer.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// An attribute in stored form: its datatype and dataspace messages and its data. Strings are in a heap whose address is
// put in later; paths of object references likewise.
struct StoredAttribute {
  std::string name;
  ByteWriter type, space, data;
  DType element;  // of `data`
  int64_t elements = 0;
  std::vector<std::string> targets;  // of object references, one an element

  // The body of the attribute message, which the data end: version 1, or 3, which dense storage and names beyond ASCII
  // need. Object references are still zero.
  ByteWriter message(int64_t heap_address, bool version_3) const;
  int64_t message_bytes() const;  // an upper bound
};

// Throws Unsupported naming the attribute for what HDF5 cannot hold: null, objects, lists of unlike things.
StoredAttribute store_attribute(const std::string& name, const Attribute& attribute, HeapBuilder& heap);

// A message of an object header.
struct HeaderMessage {
  uint16_t type;
  ByteWriter body;
};

// The size of a message has 16 bits, and is a multiple of 8.
constexpr int64_t kMostMessage = 65000;
// More attributes of one object than any program has use for; the counts in the file have 16 bits.
constexpr size_t kMostAttributes = 60000;

// Eight bytes in the file where the address of an object header is still to be put.
struct PendingReference {
  int64_t position = 0;
  std::string target;  // path
  std::string place;   // element and attribute, for messages
};

// Writes an object header at the end of the file; returns its address. Version 1, or version 2 with the attributes in
// dense storage when one does not fit in a message. Object references of attributes are added to `pending`.
int64_t write_header(store::WriteFile& file, const std::vector<HeaderMessage>& messages,
                     const std::vector<StoredAttribute>& attributes, int64_t heap_address,
                     std::vector<PendingReference>& pending);

}  // namespace lamella::array::hdf5
