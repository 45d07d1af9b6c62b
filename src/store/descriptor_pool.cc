#include "store/descriptor_pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>

#include "base/error.h"

namespace lamella::store {

Descriptor::~Descriptor() { close(fd_); }

// The files that hold a descriptor, the one that was used last in front.
struct DescriptorPool {
  static constexpr size_t kMost = 64;
  std::mutex mutex;
  std::list<PooledFile*> used;

  static DescriptorPool& instance() {
    static DescriptorPool* pool = [] {
      auto* made = new DescriptorPool;  // outlives all files
      // A child must not inherit the mutex from a thread that it does not have.
      pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                     [] { instance().mutex.unlock(); });
      return made;
    }();
    return *pool;
  }

  // With the mutex held.
  void hold(PooledFile& file, int fd) {
    while (used.size() >= kMost) {
      used.back()->descriptor_.reset();
      used.pop_back();
    }
    file.descriptor_ = std::make_shared<const Descriptor>(fd);
    file.place_ = used.insert(used.begin(), &file);
  }
};

PooledFile::PooledFile(int fd, const std::string& path) {
  auto& pool = DescriptorPool::instance();
  if (fstat(fd, &status_) != 0) {
    const int code = errno;
    close(fd);
    throw_errno(code, "inspect", path);
  }
  std::error_code ignored;
  path_ = std::filesystem::absolute(path, ignored).string();
  if (path_.empty()) path_ = path;
  std::lock_guard lock(pool.mutex);
  pool.hold(*this, fd);
}

PooledFile::~PooledFile() {
  auto& pool = DescriptorPool::instance();
  std::lock_guard lock(pool.mutex);
  if (descriptor_) pool.used.erase(place_);
}

std::shared_ptr<const Descriptor> PooledFile::lease() {
  auto& pool = DescriptorPool::instance();
  std::lock_guard lock(pool.mutex);
  if (descriptor_) {
    pool.used.splice(pool.used.begin(), pool.used, place_);
    return descriptor_;
  }
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_errno(errno, "open", path_);
  struct stat now {};
  const bool same = fstat(fd, &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino &&
                    now.st_size == status_.st_size && now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec;
  if (!same) {
    close(fd);
    throw Error(ErrorKind::Corrupt, path_ + ": was changed after it was opened; open it again");
  }
  pool.hold(*this, fd);
  return descriptor_;
}

}  // namespace lamella::store
