// A zip of any bytes is a store or an Error: no crash, and no more memory than deflate could have packed into it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "store/store.h"

namespace lamella::store {
namespace {

void walk(const Store& store, const std::string& prefix, int depth) {
  if (depth > 20) return;
  for (const std::string& name : store.list(prefix)) {
    const std::string key = prefix.empty() ? name : prefix + "/" + name;
    try {
      if (key.back() == '/') {
        walk(store, key.substr(0, key.size() - 1), depth + 1);
      } else if (const auto value = store.read(key); !value || value->size() != store.size_of(key)) {
        std::abort();
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Bug) std::abort();
    }
  }
}

}  // namespace
}  // namespace lamella::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lamella;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  try {
    store::walk(*store::open_zip(store::memory_file({begin, begin + size}, "fuzz.zip")), "", 0);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Bug) std::abort();
  }
  return 0;
}
