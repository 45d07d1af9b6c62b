#pragma once

#include <string>

#include "base/error.h"

namespace lamella::codec {

// The faults that every decoder knows. The pipeline puts the name of the codec before them.
[[noreturn]] inline void throw_corrupt(const std::string& what) { throw Error(ErrorKind::Corrupt, what); }
[[noreturn]] inline void throw_too_long(int64_t expected) {
  throw_corrupt("decodes to more than the " + std::to_string(expected) + " bytes expected");
}
[[noreturn]] inline void throw_wrong_length(int64_t got, int64_t expected) {
  throw_corrupt("decodes to " + std::to_string(got) + " bytes, " + std::to_string(expected) + " expected");
}
[[noreturn]] inline void throw_too_large(int64_t bytes, int64_t limit) {
  throw Error(ErrorKind::Unsupported, "takes blocks of at most " + std::to_string(limit) + " bytes, not " +
                                          std::to_string(bytes) + "; choose smaller chunks");
}

}  // namespace lamella::codec
