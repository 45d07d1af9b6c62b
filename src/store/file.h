#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"

namespace lamella::store {

// An opened run of bytes that does not change. All methods are thread-safe and positional: there is no cursor.
class ReadFile {
 public:
  virtual ~ReadFile() = default;
  virtual int64_t size() const = 0;
  virtual const std::string& name() const = 0;  // for messages

  // Fills `out` from `position`. Throws Corrupt when the file ends before.
  virtual void read_at(int64_t position, Bytes out) const = 0;

  // Several reads at once; neighbours may be joined. Default: one after the other.
  struct Piece {
    int64_t position;
    Bytes out;
  };
  virtual void read_many(const std::vector<Piece>& pieces) const;

  Buffer read(int64_t position, int64_t size) const;

 protected:
  // Throws Corrupt unless [position, position + bytes) lies within the file. Both may be any number from a file.
  void check_range(int64_t position, int64_t bytes) const;
};

// A file under construction. write_at is thread-safe for disjoint ranges; append is not.
class WriteFile {
 public:
  virtual ~WriteFile() = default;
  virtual const std::string& name() const = 0;
  virtual int64_t size() const = 0;
  virtual void write_at(int64_t position, ConstBytes bytes) = 0;
  int64_t append(ConstBytes bytes) {  // the position where they went
    const int64_t at = size();
    write_at(at, bytes);
    return at;
  }
  virtual void truncate(int64_t size) = 0;
  virtual void sync() = 0;  // data are on the device when this returns
};

// Files of the local file system. Descriptors are close-on-exec. NotFound and Io name the path.
std::shared_ptr<const ReadFile> open_local(const std::string& path);
std::shared_ptr<const ReadFile> find_local(const std::string& path);  // null when no file has this name
std::unique_ptr<WriteFile> create_local(const std::string& path);     // truncates
std::unique_ptr<WriteFile> reopen_local(const std::string& path);     // keeps what is there

// A part of another file, as a file of its own.
std::shared_ptr<const ReadFile> slice_file(std::shared_ptr<const ReadFile> file, int64_t position, int64_t size,
                                           std::string name);

// Bytes in memory.
std::shared_ptr<const ReadFile> memory_file(std::vector<std::byte> bytes, std::string name);

}  // namespace lamella::store
