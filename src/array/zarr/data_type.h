#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/heap.h"
#include "base/json.h"

namespace lamella::array::zarr {

// Element types as the two versions spell them. Reading throws Unsupported or Corrupt; writing throws Unsupported for
// what the version cannot express. Types of v3 are little-endian in memory.
DType read_type_v2(const Json& dtype, const Json& filters);  // "|O" is told apart by its filter
DType read_type_v3(const Json& data_type);
Json write_type_v2(const DType& type);
Json write_type_v3(const DType& type);

// One element from the metadata's fill value, in all of its spellings; null and "not written" are zeros. Texts that it
// points to belong to `texts`.
std::vector<std::byte> read_fill(const Json& fill, const DType& type, Heap& texts);
Json write_fill(const std::vector<std::byte>& fill, const DType& type, int version);

std::string encode_base64(const std::vector<std::byte>& bytes);
std::vector<std::byte> decode_base64(const std::string& text);

}  // namespace lamella::array::zarr
