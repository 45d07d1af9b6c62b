#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/error.h"
#include "base/profile.h"
#include "store/descriptor_pool.h"
#include "store/file.h"

namespace lamella::store {
namespace {

constexpr int64_t kJoinGap = int64_t{16} << 10;  // reading this much for nothing is cheaper than another call
constexpr size_t kMaxVectors = 256;

struct stat inspect(int fd, const std::string& path) {
  struct stat status;
  if (fstat(fd, &status) != 0) throw_errno(errno, "inspect", path);
  return status;
}

class LocalReadFile : public ReadFile {
 public:
  LocalReadFile(int fd, std::string path) : file_(fd, path), path_(std::move(path)) {}

  bool is_folder() const { return S_ISDIR(file_.status().st_mode); }
  int64_t size() const override { return file_.status().st_size; }
  const std::string& name() const override { return path_; }

  void read_at(int64_t position, Bytes out) const override {
    const Timed timed(Stage::Read, static_cast<int64_t>(out.size()));
    check_range(position, static_cast<int64_t>(out.size()));
    const auto descriptor = file_.lease();
    for (size_t done = 0; done < out.size();) {
      const ssize_t n =
          pread(descriptor->get(), out.data() + done, out.size() - done, position + static_cast<int64_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_errno(errno, "read", path_);
      if (n == 0) shrunk();
      done += static_cast<size_t>(n);
    }
  }

  void read_many(const std::vector<Piece>& pieces) const override {
    Timed timed(Stage::Read);
    for (const Piece& piece : pieces) {
      check_range(piece.position, static_cast<int64_t>(piece.out.size()));
      timed.add_bytes(static_cast<int64_t>(piece.out.size()));
    }
    for (size_t begin = 0; begin < pieces.size();) begin = read_group(pieces, begin);
  }

 private:
  // Pieces that follow each other with small gaps, in one call; what lies in the gaps goes to waste.
  size_t read_group(const std::vector<Piece>& pieces, size_t begin) const {
    std::byte waste[kJoinGap];
    std::vector<iovec> vectors;
    int64_t at = pieces[begin].position;
    size_t end = begin;
    for (; end < pieces.size() && vectors.size() + 2 <= kMaxVectors; ++end) {
      const int64_t gap = pieces[end].position - at;
      if (gap < 0 || gap > kJoinGap) break;
      if (gap > 0) vectors.push_back({waste, static_cast<size_t>(gap)});
      vectors.push_back({pieces[end].out.data(), pieces[end].out.size()});
      at = pieces[end].position + static_cast<int64_t>(pieces[end].out.size());
    }
    read_vectors(vectors, pieces[begin].position);
    return end;
  }

  void read_vectors(std::vector<iovec>& vectors, int64_t position) const {
    const auto descriptor = file_.lease();
    for (size_t first = 0;;) {
      while (first < vectors.size() && vectors[first].iov_len == 0) ++first;
      if (first == vectors.size()) return;
      ssize_t n = preadv(descriptor->get(), vectors.data() + first, static_cast<int>(vectors.size() - first), position);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_errno(errno, "read", path_);
      if (n == 0) shrunk();
      position += n;
      while (first < vectors.size() && static_cast<size_t>(n) >= vectors[first].iov_len) {
        n -= static_cast<ssize_t>(vectors[first++].iov_len);
      }
      if (first < vectors.size()) {
        vectors[first].iov_base = static_cast<char*>(vectors[first].iov_base) + n;
        vectors[first].iov_len -= static_cast<size_t>(n);
      }
    }
  }

  [[noreturn]] void shrunk() const {
    throw Error(ErrorKind::Corrupt, path_ + ": is shorter than the " + std::to_string(size()) +
                                        " bytes that it had when it was opened; somebody changes it");
  }

  mutable PooledFile file_;
  std::string path_;
};

class LocalWriteFile : public WriteFile {
 public:
  LocalWriteFile(int fd, std::string path) : fd_(fd), path_(std::move(path)), size_(inspect(fd, path_).st_size) {}

  const std::string& name() const override { return path_; }
  int64_t size() const override { return size_; }

  void write_at(int64_t position, ConstBytes bytes) override {
    const Timed timed(Stage::Write, static_cast<int64_t>(bytes.size()));
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, position + static_cast<int64_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_errno(errno, "write", path_);
      done += static_cast<size_t>(n);
    }
    const int64_t end = position + static_cast<int64_t>(bytes.size());
    int64_t size = size_.load();
    while (size < end && !size_.compare_exchange_weak(size, end)) {
    }
  }

  void truncate(int64_t size) override {
    if (ftruncate(fd_.get(), size) != 0) throw_errno(errno, "resize", path_);
    size_ = size;
  }

  void sync() override {
    const Timed timed(Stage::Sync);
    if (fdatasync(fd_.get()) != 0) throw_errno(errno, "sync", path_);
  }

 private:
  Descriptor fd_;
  std::string path_;
  std::atomic<int64_t> size_;
};

std::unique_ptr<WriteFile> open_for_writing(const std::string& path, int flags, const char* doing) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0666);
  if (fd < 0) throw_errno(errno, doing, path);
  return std::make_unique<LocalWriteFile>(fd, path);
}

}  // namespace

std::shared_ptr<const ReadFile> open_local(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_errno(errno, "open", path);
  return std::make_shared<LocalReadFile>(fd, path);
}

// Opened without a look before: a chunk may be a file, and each call counts.
std::shared_ptr<const ReadFile> find_local(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Anything else is no absence: a chunk that may not be read must not pass for one that is not there.
  if (fd < 0 && errno != ENOENT && errno != ENOTDIR) throw_errno(errno, "open", path);
  if (fd < 0) return nullptr;
  auto file = std::make_shared<LocalReadFile>(fd, path);
  return file->is_folder() ? nullptr : file;
}

std::unique_ptr<WriteFile> create_local(const std::string& path) {
  return open_for_writing(path, O_CREAT | O_TRUNC, "create");
}
std::unique_ptr<WriteFile> reopen_local(const std::string& path) { return open_for_writing(path, O_CREAT, "open"); }

}  // namespace lamella::store
