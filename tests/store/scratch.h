#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"

namespace lamella::store {

// A folder of its own for one test, gone with it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lamella_store_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline ConstBytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string text_of(ConstBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline std::string random_text(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

inline std::string read_path(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_path(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The kind of the Error that `body` throws; nothing but an Error may come out.
template <class Body>
ErrorKind kind_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.kind();
  }
  throw std::runtime_error("no error was thrown");
}

}  // namespace lamella::store
