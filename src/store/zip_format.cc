#include "store/zip_format.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "store/store.h"

namespace lamella::store {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50, kCentral = 0x02014b50,
                   kLocal = 0x04034b50;
constexpr int64_t kEndSize = 22, kLocatorSize = 20, kLocalSize = 30;

[[noreturn]] void broken(const ReadFile& file, const std::string& what) {
  throw Error(ErrorKind::Corrupt, file.name() + ": broken zip: " + what);
}

struct Directory {
  int64_t position = 0, size = 0, count = 0;
};

// The end record stands last, behind it only a comment of up to 64 KiB.
Directory find_directory(const ReadFile& file) {
  const int64_t tail = std::min<int64_t>(file.size(), kEndSize + 65535 + kLocatorSize);
  const int64_t start = file.size() - tail;
  const Buffer bytes = file.read(start, tail);
  for (int64_t at = tail - kEndSize; at >= 0; --at) {
    ByteReader reader(bytes.bytes(), start);
    reader.seek(at);
    if (reader.u32() != kEnd) continue;
    reader.skip(6);
    Directory out;
    out.count = reader.u16();
    out.size = reader.u32();
    out.position = reader.u32();
    const bool wide = out.count == 0xffff || out.size == 0xffffffff || out.position == 0xffffffff;
    if (!wide || at < kLocatorSize) return out;
    reader.seek(at - kLocatorSize);
    if (reader.u32() != kEnd64Locator) return out;
    reader.skip(4);
    const auto end64 = static_cast<int64_t>(reader.u64());
    const Buffer record = file.read(end64, 56);
    ByteReader wide_reader(record.bytes(), end64);
    if (wide_reader.u32() != kEnd64) broken(file, "no zip64 end record at " + std::to_string(end64));
    wide_reader.seek(32);
    out.count = static_cast<int64_t>(wide_reader.u64());
    out.size = static_cast<int64_t>(wide_reader.u64());
    out.position = static_cast<int64_t>(wide_reader.u64());
    return out;
  }
  broken(file, "no end of the central directory; the file was cut off");
}

// Numbers that did not fit in 32 bits stand in extra field 1, in this order.
void take_zip64(ConstBytes extra, ZipMember& member) {
  ByteReader reader(extra);
  while (reader.remaining() >= 4) {
    const uint16_t tag = reader.u16();
    ByteReader field(reader.take(reader.u16()));
    if (tag != 1) continue;
    for (int64_t* number : {&member.size, &member.stored, &member.header}) {
      if (*number == 0xffffffff) *number = static_cast<int64_t>(field.u64());
    }
  }
}

}  // namespace

std::map<std::string, ZipMember> read_zip_directory(const ReadFile& file) {
  const Directory directory = find_directory(file);
  const Buffer bytes = file.read(directory.position, directory.size);
  ByteReader reader(bytes.bytes(), directory.position);
  std::map<std::string, ZipMember> members;
  if (directory.count < 0) broken(file, "a negative number of members");
  for (int64_t i = 0; i < directory.count; ++i) {
    if (reader.u32() != kCentral) broken(file, "no central header at member " + std::to_string(i));
    ZipMember member;
    reader.skip(4);
    member.encrypted = (reader.u16() & 1) != 0;
    member.method = reader.u16();
    reader.skip(4);
    member.crc = reader.u32();
    member.stored = reader.u32();
    member.size = reader.u32();
    const int64_t name_size = reader.u16(), extra_size = reader.u16(), comment_size = reader.u16();
    reader.skip(8);
    member.header = reader.u32();
    const ConstBytes name_bytes = reader.take(name_size);
    std::string name(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
    take_zip64(reader.take(extra_size), member);
    reader.skip(comment_size);
    if (member.header < 0 || member.stored < 0 || member.size < 0 || member.header > file.size() ||
        member.stored > file.size()) {
      broken(file, "member '" + name + "' lies outside of the file");
    }
    std::replace(name.begin(), name.end(), '\\', '/');
    if (is_key(name)) members[name] = member;
  }
  return members;
}

int64_t zip_data_position(const ReadFile& file, const ZipMember& member) {
  const Buffer header = file.read(member.header, kLocalSize);
  ByteReader reader(header.bytes(), member.header);
  if (reader.u32() != kLocal) broken(file, "no local header at " + std::to_string(member.header));
  reader.seek(26);
  const int64_t name_size = reader.u16();
  const int64_t extra_size = reader.u16();
  return member.header + kLocalSize + name_size + extra_size;
}

}  // namespace lamella::store
