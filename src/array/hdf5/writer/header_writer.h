#pragma once

#include <functional>
#include <string>
#include <vector>

#include "array/attributes.h"
#include "array/hdf5/writer/heap_writer.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// An attribute in stored form: its datatype and dataspace messages and its data. Strings are in a heap whose address is put
// in later; paths of object references likewise.
struct StoredAttribute {
  std::string name;
  ByteWriter type, space, data;
  DType element;                     // of `data`
  int64_t elements = 0;
  std::vector<std::string> targets;  // of object references, one an element

  // The body of the attribute message, version 1, or 3 for names beyond ASCII.
  ByteWriter message(int64_t heap_address, const std::function<int64_t(const std::string&)>& address_of) const;
  int64_t message_bytes() const;
};

// Throws Unsupported naming the attribute for what HDF5 cannot hold: null, objects, lists of unlike things.
StoredAttribute store_attribute(const std::string& name, const Attribute& attribute, HeapBuilder& heap);

// A message of an object header.
struct HeaderMessage {
  uint16_t type;
  ByteWriter body;
};

// Can all messages stand in an object header of version 1? Each is limited to 64 kB.
bool fits_in_header(const std::vector<StoredAttribute>& attributes);

// Writes an object header at the end of the file; returns its address. Version 1, or version 2 with the attributes in dense
// storage when they do not fit.
int64_t write_header(store::WriteFile& file, const std::vector<HeaderMessage>& messages, const std::vector<StoredAttribute>& attributes,
                     int64_t heap_address, const std::function<int64_t(const std::string&)>& address_of);

}  // namespace lamella::array::hdf5
