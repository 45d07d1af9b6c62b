#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/file.h"

namespace lamella::store {

// The records of a zip archive as PKWARE's application note numbers them (4.3.7 local header, 4.3.12 central
// directory).
struct ZipMember {
  int64_t header = 0;  // position of the local header
  int64_t stored = 0;  // bytes in the archive
  int64_t size = 0;    // bytes of the value
  uint32_t crc = 0;
  uint16_t method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
};

// Reads the central directory, zip64 included. Of members with one name the last counts; folders and names that are no
// keys ("../a", "/a") are left out.
std::map<std::string, ZipMember> read_zip_directory(const ReadFile& file);

// Position of a member's first byte: behind its local header, whose lengths may differ from the central ones.
int64_t zip_data_position(const ReadFile& file, const ZipMember& member);

}  // namespace lamella::store
