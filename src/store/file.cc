#include "store/file.h"

#include <cstring>

#include "base/error.h"

namespace lamella::store {
namespace {

class SlicedFile : public ReadFile {
 public:
  SlicedFile(std::shared_ptr<const ReadFile> file, int64_t position, int64_t size, std::string name)
      : file_(std::move(file)), position_(position), size_(size), name_(std::move(name)) {}

  int64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }
  void read_at(int64_t position, Bytes out) const override {
    check_range(position, static_cast<int64_t>(out.size()));
    file_->read_at(position_ + position, out);
  }

 private:
  std::shared_ptr<const ReadFile> file_;
  int64_t position_;
  int64_t size_;
  std::string name_;
};

class MemoryFile : public ReadFile {
 public:
  MemoryFile(std::vector<std::byte> bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}

  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  const std::string& name() const override { return name_; }
  void read_at(int64_t position, Bytes out) const override {
    check_range(position, static_cast<int64_t>(out.size()));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + position, out.size());
  }

 private:
  std::vector<std::byte> bytes_;
  std::string name_;
};

}  // namespace

void ReadFile::read_many(const std::vector<Piece>& pieces) const {
  for (const Piece& piece : pieces) read_at(piece.position, piece.out);
}

Buffer ReadFile::read(int64_t position, int64_t size) const {
  check_range(position, size);  // before memory is taken
  Buffer out(size);
  read_at(position, out.bytes());
  return out;
}

void ReadFile::check_range(int64_t position, int64_t bytes) const {
  if (position >= 0 && bytes >= 0 && bytes <= size() && position <= size() - bytes) return;
  throw Error(ErrorKind::Corrupt, name() + ": ends at byte " + std::to_string(size()) + "; " + std::to_string(bytes) +
                                      " bytes from byte " + std::to_string(position) + " on are wanted");
}

std::shared_ptr<const ReadFile> slice_file(std::shared_ptr<const ReadFile> file, int64_t position, int64_t size,
                                           std::string name) {
  return std::make_shared<SlicedFile>(std::move(file), position, size, std::move(name));
}

std::shared_ptr<const ReadFile> memory_file(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<MemoryFile>(std::move(bytes), std::move(name));
}

}  // namespace lamella::store
