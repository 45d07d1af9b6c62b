#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace lamella {

// What went wrong, in the terms of a caller who decides what to do next. Each kind is one Python exception class.
enum class ErrorKind {
  NotFound,     // no such file, element or key
  Exists,       // the target is there already and may not be replaced
  Invalid,      // the caller asked for something that makes no sense
  Corrupt,      // foreign bytes disobey their format
  Unsupported,  // well-formed, but outside of what Lamella reads or writes
  OutOfBudget,  // cannot be done within the memory that was granted
  Io,           // the operating system refused
  Cancelled,    // the user asked to stop
  Bug,          // an invariant of Lamella itself does not hold
};

std::string_view to_string(ErrorKind kind);

// The only exception that Lamella throws. The message names the place from the outside in: "store: element: chunk:
// fault".
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }

  // Puts a place before the message. Called at few spots only: open, read of a chunk, run of a task.
  Error& prefix(std::string_view place);

 private:
  ErrorKind kind_;
  std::string message_;
};

// Throws Io with the text of `errno_value`; disk-full and permission errors say what to do.
[[noreturn]] void throw_errno(int errno_value, const std::string& doing, const std::string& path);

}  // namespace lamella
