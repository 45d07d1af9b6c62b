#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"

namespace lamella {

enum class TypeKind : uint8_t {
  Bool,       // one byte, 0 or 1
  Int,        // 1, 2, 4, 8 bytes
  UInt,       // 1, 2, 4, 8 bytes
  Float,      // 2, 4, 8, 16 bytes (16: x86 long double as h5py stores it)
  Complex,    // 8, 16, 32 bytes
  Bytes,      // fixed length, null padded (numpy "S")
  Unicode,    // fixed length, UCS-4 (numpy "U")
  Raw,        // fixed length, opaque (numpy "V")
  DateTime,   // int64 ticks of `unit` since 1970 (numpy "M8")
  TimeDelta,  // int64 ticks of `unit` (numpy "m8")
  Struct,     // packed or padded record of `fields`
  String,     // variable length UTF-8; in memory a StringRef
  VlenBytes,  // variable length bytes; in memory a StringRef
  Reference,  // HDF5 object reference: uint64 address of an object header
};

// How a variable-length element looks in decoded memory. The bytes belong to the Heap of the read (base/heap.h),
// or to the decoded chunk itself. A null pointer with size 0 is the empty string.
struct StringRef {
  const char* data = nullptr;
  int64_t size = 0;
};
static_assert(sizeof(StringRef) == 16);

struct Field;

// An element type: how one element lies in decoded memory, byte order included. Elements are never swapped on reading,
// so `big_endian` data stay so until somebody casts (lazy/cast.h). Immutable value.
struct DType {
  TypeKind kind = TypeKind::Float;
  int64_t size = 8;  // bytes of one element in memory
  bool big_endian = false;
  std::string unit;                                  // DateTime, TimeDelta: numpy's spelling, "ns", "25s", "generic"
  std::shared_ptr<const std::vector<Field>> fields;  // Struct
  std::shared_ptr<const std::vector<std::pair<std::string, int64_t>>> enumerators;  // HDF5 enum that is not a bool

  static DType make(TypeKind kind, int64_t size, bool big_endian = false) {
    return {kind, size, big_endian, {}, {}, {}};
  }
  static DType boolean() { return make(TypeKind::Bool, 1); }
  static DType int_(int64_t size) { return make(TypeKind::Int, size); }
  static DType uint(int64_t size) { return make(TypeKind::UInt, size); }
  static DType float_(int64_t size) { return make(TypeKind::Float, size); }
  static DType string() { return make(TypeKind::String, sizeof(StringRef)); }
  static DType vlen_bytes() { return make(TypeKind::VlenBytes, sizeof(StringRef)); }
  static DType record(std::vector<Field> fields, int64_t size);

  // True for String and VlenBytes, and for a Struct that has such a field.
  bool has_references_to_heap() const;
  bool is_vlen() const { return kind == TypeKind::String || kind == TypeKind::VlenBytes; }
  bool is_numeric() const { return kind <= TypeKind::Complex; }
  bool operator==(const DType& other) const;  // enumerators do not count
};

struct Field {
  std::string name;
  int64_t offset = 0;  // bytes from the start of the element
  DType type;
  Shape shape;  // of a sub-array; empty for a scalar field

  bool operator==(const Field&) const = default;
};

// numpy's array-protocol string ("<f4", "|b1", ">i8", "<U12", "|S7", "|V3", "<M8[ns]"), "string" and "bytes" for the
// variable-length kinds, "struct" for records, "reference" for object references.
std::string to_string(const DType& type);

// The inverse, for every spelling that to_string() makes save "struct"; also takes bare names ("float32", "int8",
// "bool"). Throws Unsupported.
DType parse_dtype(const std::string& text);

// Reverses the bytes of `elements` elements in place: each scalar of a Complex or Struct on its own. No-op for one-byte
// and variable-length kinds. The bytes then are those of the same type with the other byte order.
void swap_bytes(const DType& type, std::byte* data, int64_t elements);

// The same type, little-endian throughout.
DType little_endian(const DType& type);
bool any_big_endian(const DType& type);

}  // namespace lamella
