// Any bytes either read or throw lamella::Error: no crash, no hang, no memory beyond what the file can justify.
#include <cstdint>

#include "../array/hdf5/walk.h"
#include "array/hdf5/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lamella;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  try {
    const auto root = array::hdf5::open_file(store::memory_file({begin, begin + size}, "fuzz.h5"));
    int left = 500;
    array::read_everything(*root, int64_t{1} << 22, left, [](const Error&) {});
  } catch (const Error&) {
  }
  return 0;
}
