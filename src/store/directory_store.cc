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
#include "store/store.h"

namespace lamella::store {
namespace {

constexpr size_t kMaxOpen = 64;                     // growing values whose files are kept open
constexpr const char* kTemporary = ".lamella-new";  // ending of a value that is being written

bool is_temporary(const std::string& name) {
  const std::string ending = kTemporary;
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

class DirectoryStore : public Store {
 public:
  explicit DirectoryStore(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  }

  const std::string& name() const override { return path_; }

  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    struct stat status;
    const std::string path = path_of(key);
    if (stat(path.c_str(), &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return nullptr;
      throw_errno(errno, "open", path);
    }
    return S_ISDIR(status.st_mode) ? nullptr : open_local(path);
  }

  std::optional<int64_t> size_of(const std::string& key) const override {
    struct stat status;
    if (stat(path_of(key).c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return std::nullopt;
    return status.st_size;
  }

  std::vector<std::string> list(const std::string& prefix) const override {
    const std::string path = prefix.empty() ? path_ : path_of(prefix);
    std::vector<std::string> names;
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr) {
      if (errno == ENOENT || errno == ENOTDIR) return names;
      throw_errno(errno, "list", path);
    }
    while (const dirent* entry = readdir(folder)) {
      std::string name = entry->d_name;
      if (name == "." || name == ".." || is_temporary(name)) continue;
      bool is_folder = entry->d_type == DT_DIR;
      if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        struct stat status;
        is_folder = stat((path + "/" + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      }
      names.push_back(is_folder ? name + "/" : name);
    }
    closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
  }

  void write(const std::string& key, ConstBytes value) override {
    const std::string path = path_of(key);
    make_parents(path);
    const std::string fresh = path + kTemporary;
    create_local(fresh)->write_at(0, value);
    if (rename(fresh.c_str(), path.c_str()) != 0) throw_errno(errno, "write", path);
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

  // One call for the whole file system: far cheaper than one for each of a hundred thousand chunks.
  void finish() override {
    std::lock_guard lock(mutex_);
    open_.clear();
    recent_.clear();
    const int fd = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) throw_errno(errno, "sync", path_);
    const int status = syncfs(fd);
    const int error = errno;
    close(fd);
    if (status != 0) throw_errno(error, "sync", path_);
  }

 private:
  std::string path_of(const std::string& key) const {
    check_key(key);
    return path_ + "/" + key;
  }

  void make_parents(const std::string& path) {
    const std::string parent = path.substr(0, path.rfind('/'));
    std::lock_guard lock(parents_mutex_);
    if (!made_.insert(parent).second) return;
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) throw_errno(error.value(), "create", parent);
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
    recent_.push_front(key);
    return *(open_[key] = Growing{reopen_local(path), recent_.begin()}).file;
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
  std::set<std::string> made_;
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
