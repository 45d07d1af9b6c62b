#pragma once

#include <sys/stat.h>

#include <list>
#include <memory>
#include <string>

namespace lamella::store {

// An open descriptor of the operating system; closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A file that is read now and then. At most 64 of all of them hold a descriptor, those that were used last, so that a
// thousand stores may be open at once; the others open again when they are read. Thread-safe.
class PooledFile {
 public:
  // Takes over `fd`, which was opened at `path`. Throws Io when it cannot be inspected.
  PooledFile(int fd, const std::string& path);
  ~PooledFile();
  PooledFile(const PooledFile&) = delete;
  PooledFile& operator=(const PooledFile&) = delete;

  const struct stat& status() const { return status_; }  // at opening

  // For the time of a read. Throws Corrupt when another file lies at the path by now.
  std::shared_ptr<const Descriptor> lease();

 private:
  friend struct DescriptorPool;
  std::string path_;  // absolute
  struct stat status_ {};
  std::shared_ptr<const Descriptor> descriptor_;  // null: closed to make room
  std::list<PooledFile*>::iterator place_;
};

}  // namespace lamella::store
