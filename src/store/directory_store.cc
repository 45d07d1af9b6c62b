#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/profile.h"
#include "store/store.h"

namespace lamella::store {
namespace {

constexpr size_t kMaxOpen = 64;                     // growing values whose files are kept open
constexpr size_t kMaxMade = 4096;                   // folders that are known to be there
constexpr size_t kMostSyncedSingly = 256;           // files and folders
constexpr const char* kTemporary = ".lamella-new";  // ending of a value that is being written

bool is_temporary(const std::string& name) {
  const std::string ending = kTemporary;
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// The next entry that belongs to the store; null at the end.
const dirent* next(const Folder& folder, const std::string& path) {
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr && errno != 0) throw_errno(errno, "list", path);
    if (entry == nullptr) return nullptr;
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && !is_temporary(name)) return entry;
  }
}

// What cannot be looked into is listed, so that opening it tells why.
bool holds_something(const std::string& path) {
  const Folder folder(opendir(path.c_str()));
  return !folder || next(folder, path) != nullptr;
}

class DirectoryStore : public Store {
 public:
  explicit DirectoryStore(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  }

  const std::string& name() const override { return path_; }

  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    const Timed timed(Stage::Read);  // opening is a part of reading: a chunk may be a file
    return find_local(path_of(key));
  }

  std::optional<int64_t> size_of(const std::string& key) const override {
    struct stat status;
    const std::string path = path_of(key);
    if (stat(path.c_str(), &status) != 0) {
      // Anything else is no absence: a chunk that may not be read must not pass for one that is not there.
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      throw_errno(errno, "open", path);
    }
    if (S_ISDIR(status.st_mode)) return std::nullopt;
    return status.st_size;
  }

  std::vector<std::string> list(const std::string& prefix) const override {
    const std::string path = prefix.empty() ? path_ : path_of(prefix);
    std::vector<std::string> names;
    const Folder folder(opendir(path.c_str()));
    if (!folder) {
      if (errno == ENOENT || errno == ENOTDIR) return names;
      throw_errno(errno, "list", path);
    }
    while (const dirent* entry = next(folder, path)) {
      std::string name = entry->d_name;
      bool is_folder = entry->d_type == DT_DIR;
      if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        struct stat status;
        is_folder = stat((path + "/" + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      }
      if (!is_folder) names.push_back(std::move(name));
      else if (holds_something(path + "/" + name)) names.push_back(name + "/");
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void write(const std::string& key, ConstBytes value) override {
    const Timed timed(Stage::Write);  // the bytes are counted where they are written
    const std::string path = path_of(key);
    make_parents(path);
    {
      std::lock_guard lock(mutex_);
      close_growing(key);  // its file is about to lose its name
    }
    const std::string fresh = path + kTemporary;
    try {
      create_local(fresh)->write_at(0, value);
      if (rename(fresh.c_str(), path.c_str()) != 0) throw_errno(errno, "write", path);
    } catch (...) {
      unlink(fresh.c_str());
      throw;
    }
  }

  void append(const std::string& key, ConstBytes bytes) override {
    std::lock_guard lock(mutex_);
    growing(key).append(bytes);
  }

  void truncate(const std::string& key, int64_t size) override {
    std::lock_guard lock(mutex_);
    if (size > 0) {
      growing(key).truncate(size);
      return;
    }
    close_growing(key);
    if (unlink(path_of(key).c_str()) != 0 && errno != ENOENT) throw_errno(errno, "remove", path_of(key));
  }

  // Few files one by one, with their folders. For many, one call for the whole file system is far cheaper, though it
  // waits for what others have written, too.
  void finish() override {
    std::lock_guard lock(mutex_);
    open_.clear();
    recent_.clear();
    const Timed timed(Stage::Sync);
    std::vector<std::string> paths{path_};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      paths.push_back(entry.path().string());
      if (paths.size() > kMostSyncedSingly) return sync_with(syncfs, path_);
    }
    for (const std::string& path : paths) sync_with(fsync, path);
  }

 private:
  static void sync_with(int (*sync)(int), const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw_errno(errno, "sync", path);
    const int status = sync(fd);
    const int error = errno;
    close(fd);
    if (status != 0) throw_errno(error, "sync", path);
  }

  std::string path_of(const std::string& key) const {
    check_key(key);
    return path_ + "/" + key;
  }

  void make_parents(const std::string& path) {
    const std::string parent = path.substr(0, path.rfind('/'));
    std::lock_guard lock(parents_mutex_);
    if (made_.count(parent) > 0) return;
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) throw_errno(error.value(), "create", parent);
    if (made_.size() >= kMaxMade) made_.clear();
    made_.insert(parent);
  }

  WriteFile& growing(const std::string& key) {
    const auto found = open_.find(key);
    if (found != open_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.place);
      return *found->second.file;
    }
    if (open_.size() >= kMaxOpen) {
      open_.erase(recent_.back());
      recent_.pop_back();
    }
    const std::string path = path_of(key);
    make_parents(path);
    auto file = reopen_local(path);
    recent_.push_front(key);
    return *(open_[key] = Growing{std::move(file), recent_.begin()}).file;
  }

  void close_growing(const std::string& key) {
    const auto found = open_.find(key);
    if (found == open_.end()) return;
    recent_.erase(found->second.place);
    open_.erase(found);
  }

  struct Growing {
    std::unique_ptr<WriteFile> file;
    std::list<std::string>::iterator place;
  };

  std::string path_;
  std::mutex mutex_;
  std::map<std::string, Growing> open_;
  std::list<std::string> recent_;
  std::mutex parents_mutex_;
  std::set<std::string> made_;  // a cache: cleared when it is full
};

}  // namespace

std::shared_ptr<Store> open_directory(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw_errno(errno, "open", path);
  if (!S_ISDIR(status.st_mode)) throw Error(ErrorKind::Invalid, path + ": is no directory");
  return std::make_shared<DirectoryStore>(path);
}

std::shared_ptr<Store> create_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) throw_errno(errno, "create", path);
  return open_directory(path);
}

}  // namespace lamella::store
