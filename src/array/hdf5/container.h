#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "array/hdf5/superblock.h"
#include "base/buffer.h"
#include "base/byte_reader.h"
#include "store/file.h"

namespace lamella::array::hdf5 {

// A structure of the file in memory, with the place where it came from.
struct Block {
  Buffer buffer;
  int64_t position = 0;  // absolute, for messages

  ByteReader reader() const { return ByteReader(buffer.bytes(), position); }
};

// An opened HDF5 file: the bytes, and how wide its addresses are. Immutable, thread-safe. All addresses are relative to
// the superblock, as the file has them.
class Container {
 public:
  explicit Container(std::shared_ptr<const store::ReadFile> file);

  const std::shared_ptr<const store::ReadFile>& file() const { return file_; }
  const Superblock& super() const { return super_; }
  const std::string& name() const { return file_->name(); }
  int64_t size() const { return file_->size() - super_.base; }  // addresses lie below
  int64_t absolute(int64_t address) const { return super_.base + address; }

  // A block that must lie in the file. `what` names the structure in the Corrupt error.
  Block read(int64_t address, int64_t size, const char* what) const;
  // The same for as many bytes as there are up to `most`, `least` being needed.
  Block read_some(int64_t address, int64_t least, int64_t most, const char* what) const;
  // A block that starts with a four-letter signature.
  Block read_signed(int64_t address, int64_t size, const char* signature, const char* what) const;
  void check_signature(const Block& block, const char* signature, const char* what) const;
  // The last four bytes of the first `size` are the checksum of what stands before. Throws Corrupt.
  void check_sum(const Block& block, int64_t size, const char* what) const;

  int64_t take_address(ByteReader& in) const;  // kUndefined when all ones
  int64_t take_length(ByteReader& in) const;
  [[noreturn]] void corrupt(const std::string& what, int64_t address, const std::string& fault) const;

  // Path ("/a/b") of the object whose header is at `address`; empty when no path leads there. Walks the whole tree at
  // the first call.
  std::string path_of(int64_t address) const;

 private:
  static constexpr int64_t kPage = 4096;
  static constexpr size_t kPages = 16;
  struct Page {
    int64_t number = -1;  // position in the file / kPage
    Buffer bytes;
  };
  bool read_small(int64_t position, Bytes out) const;

  std::shared_ptr<const store::ReadFile> file_;
  Superblock super_;
  mutable std::mutex pages_mutex_;
  mutable std::array<Page, kPages> pages_;  // read last: structures are small and stand together
  mutable size_t next_page_ = 0;
  mutable std::once_flag walked_;
  mutable std::unordered_map<int64_t, std::string> paths_;
};

// Stops a walk over structures that point to each other: each may be visited once, so no more bytes than the file has.
class WalkLimit {
 public:
  WalkLimit(const Container& container, const char* what)
      : container_(container), what_(what), left_(container.size() + 4096) {}
  void spend(int64_t bytes, int64_t address) {
    left_ -= bytes;
    if (left_ < 0) container_.corrupt(what_, address, "its parts refer to each other in a loop");
  }

 private:
  const Container& container_;
  const char* what_;
  int64_t left_;
};

}  // namespace lamella::array::hdf5
