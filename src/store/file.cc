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
    const auto bytes = static_cast<int64_t>(out.size());
    if (position < 0 || bytes > size_ || position > size_ - bytes) {
      throw Error(ErrorKind::Corrupt, name_ + ": ends at byte " + std::to_string(size_) + ", bytes up to " +
                                          std::to_string(position + bytes) + " are wanted");
    }
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
    const auto bytes = static_cast<int64_t>(out.size());
    if (position < 0 || bytes > size() || position > size() - bytes) {
      throw Error(ErrorKind::Corrupt, name_ + ": ends at byte " + std::to_string(size()) + ", bytes up to " +
                                          std::to_string(position + bytes) + " are wanted");
    }
    if (bytes > 0) std::memcpy(out.data(), bytes_.data() + position, out.size());
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
  // Checked before memory is taken: sizes come from files.
  if (size < 0 || position < 0 || size > this->size() || position > this->size() - size) {
    throw Error(ErrorKind::Corrupt, name() + ": ends at byte " + std::to_string(this->size()) + ", " +
                                        std::to_string(size) + " bytes from " + std::to_string(position) +
                                        " on are wanted");
  }
  Buffer out(size);
  read_at(position, out.bytes());
  return out;
}

std::shared_ptr<const ReadFile> slice_file(std::shared_ptr<const ReadFile> file, int64_t position, int64_t size,
                                           std::string name) {
  return std::make_shared<SlicedFile>(std::move(file), position, size, std::move(name));
}

std::shared_ptr<const ReadFile> memory_file(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<MemoryFile>(std::move(bytes), std::move(name));
}

}  // namespace lamella::store
