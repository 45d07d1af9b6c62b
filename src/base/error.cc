#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace lamella {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::NotFound: return "not found";
    case ErrorKind::Exists: return "exists";
    case ErrorKind::Invalid: return "invalid argument";
    case ErrorKind::Corrupt: return "corrupt";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::OutOfBudget: return "out of budget";
    case ErrorKind::Io: return "I/O error";
    case ErrorKind::Cancelled: return "cancelled";
    case ErrorKind::Bug: return "internal error";
  }
  return "unknown";
}

Error& Error::prefix(std::string_view place) {
  message_.insert(0, std::string(place) + ": ");
  return *this;
}

void throw_errno(int errno_value, const std::string& doing, const std::string& path) {
  ErrorKind kind = ErrorKind::Io;
  std::string hint;
  switch (errno_value) {
    case ENOENT: kind = ErrorKind::NotFound; break;
    case EEXIST: kind = ErrorKind::Exists; break;
    case ENOSPC: hint = "; free some space or choose a target on another disk"; break;
    case EDQUOT: hint = "; your quota on this file system is used up"; break;
    case EACCES:
    case EPERM: hint = "; check the permissions of the file and of its folder"; break;
    case EROFS: hint = "; choose a target elsewhere"; break;
    case EMFILE: hint = "; raise the limit of open files (ulimit -n)"; break;
    default: break;
  }
  throw Error(kind, path + ": cannot " + doing + ": " + std::strerror(errno_value) + hint);
}

}  // namespace lamella
