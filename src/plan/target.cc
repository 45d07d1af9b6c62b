#include "plan/target.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/profile.h"

namespace lamella::plan {
namespace {

namespace fs = std::filesystem;

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string folder_for(const std::string& path) {
  const fs::path target(path);
  return (target.parent_path() / ("." + target.filename().string() + ".lamella-partial")).string();
}

void sync_folder(const std::string& path) {
  const int fd = open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const Timed timed(Stage::Sync);
  fsync(fd);
  close(fd);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw_errno(errno, "write", path);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What an earlier run wrote about itself; null when it was killed while it wrote that.
Json read_description(const std::string& path) {
  try {
    return parse_json(read_file(path), path);
  } catch (const Error&) {
    return nullptr;
  }
}

Json stat_identity(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return nullptr;
  return Json::array({status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ino});
}

}  // namespace

Target::Target(const std::string& path, Json identity, bool overwrite, bool resume)
    : path_(without_slash(path)), folder_(folder_for(path_)), identity_(std::move(identity)), overwrite_(overwrite) {
  if (!overwrite && fs::exists(fs::symlink_status(path_))) {
    throw Error(ErrorKind::Exists, path_ + ": is there already; give another name or --overwrite");
  }
  if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_errno(errno, "write", path_);
  lock();
  identity_["boot"] = boot_id();
  const std::string described = folder_ + "/run.json";
  if (resume && fs::exists(described)) {
    const Json earlier = read_description(described);
    Json comparable = identity_;
    // The budget decides the order of chunks, so the first run's stays in force.
    if (earlier.contains("memory")) comparable["memory"] = earlier["memory"];
    resumed_ = earlier == comparable;
    if (resumed_) identity_ = earlier;
  }
  if (resumed_) return;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename() != "lock") fs::remove_all(entry.path());
  }
  write_file(described, dump_json(identity_));
}

void Target::lock() {
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw_errno(errno, "write", path_);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock_);
    lock_ = -1;
    throw Error(ErrorKind::Exists, path_ + ": another process is writing it");
  }  // a file system without locks: go on, as there is nobody to ask
}

Target::~Target() {
  if (lock_ < 0) return;
  std::error_code ignored;
  if (!keep_) fs::remove_all(folder_, ignored);
  close(lock_);
}

void Target::commit() {
  const std::string data = data_path();
  const std::string parent = fs::path(path_).parent_path().string();
  if (renameat2(AT_FDCWD, data.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) return sync_folder(parent);
  if (errno == EEXIST || errno == ENOTEMPTY) {
    if (!overwrite_)
      throw Error(ErrorKind::Exists, path_ + ": appeared while it was being written; nothing was replaced");
    if (renameat2(AT_FDCWD, data.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return sync_folder(parent);
  }
  // A file system without the exchange: a plain rename replaces files, a folder is moved aside first.
  if (fs::is_directory(fs::symlink_status(path_))) {
    if (rename(path_.c_str(), (folder_ + "/old").c_str()) != 0) throw_errno(errno, "replace", path_);
  }
  if (rename(data.c_str(), path_.c_str()) != 0) throw_errno(errno, "replace", path_);
  sync_folder(parent);
}

Json input_identity(const std::string& path) {
  if (!fs::is_directory(path)) return stat_identity(path);
  Json out = Json::object();
  for (const char* name : {"", "zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata"}) {
    const Json one = stat_identity((fs::path(path) / name).string());
    if (!one.is_null()) out[name] = one;
  }
  return out;
}

}  // namespace lamella::plan
