#include "plan/journal.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace lamella::plan {
namespace {

constexpr size_t kFields = 6;  // array, unit, position, size, skip, check

int64_t check_of(const int64_t* fields) {
  uint64_t check = 0x6c616d656c6c61;  // without a sign: it runs over
  for (size_t i = 0; i + 1 < kFields; ++i) check = check * 31 + static_cast<uint64_t>(fields[i]);
  return static_cast<int64_t>(check);
}

std::vector<Journal::Entry> load(const std::string& path) {
  std::vector<Journal::Entry> entries;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return entries;
  int64_t fields[kFields];
  while (std::fread(fields, sizeof(int64_t), kFields, file) == kFields && fields[5] == check_of(fields)) {
    entries.push_back({fields[0], fields[1], {fields[2], fields[3], static_cast<uint32_t>(fields[4])}});
  }
  std::fclose(file);
  return entries;
}

}  // namespace

Journal::Journal(const std::string& path, bool resume) : path_(path) {
  if (resume) entries_ = load(path);
  // Written anew: what is replayed is recorded again, so the file never holds an entry that nobody confirmed. Until the
  // first flush the old one stays.
  file_ = std::fopen((path + ".new").c_str(), "wb");
  if (file_ == nullptr) throw_errno(errno, "create", path);
  for (const Entry& entry : entries_) record(entry);
  flush();
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) throw_errno(errno, "create", path);
}

Journal::~Journal() { std::fclose(file_); }

std::optional<array::Placement> Journal::replay(int64_t array, int64_t unit) {
  if (!replaying()) return std::nullopt;
  const Entry& entry = entries_[next_];
  if (entry.array != array || entry.unit != unit) {
    throw Error(ErrorKind::Invalid, path_ + ": the interrupted run was another one; repeat without --resume");
  }
  ++next_;
  return entry.placement;
}

void Journal::record(const Entry& entry) {
  int64_t fields[kFields] = {
      entry.array, entry.unit, entry.placement.position, entry.placement.size, entry.placement.skip_codecs, 0};
  fields[5] = check_of(fields);
  if (std::fwrite(fields, sizeof(int64_t), kFields, file_) != kFields) throw_errno(errno, "write", path_);
}

void Journal::flush() {
  if (std::fflush(file_) != 0) throw_errno(errno, "write", path_);
}

}  // namespace lamella::plan
