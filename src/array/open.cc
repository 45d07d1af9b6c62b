#include "array/zarr/open.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "array/array.h"
#include "array/hdf5/file.h"
#include "array/hdf5/writer/sink.h"
#include "array/sink.h"
#include "array/zarr/sink.h"
#include "base/error.h"
#include "store/store.h"

namespace lamella::array {
namespace {

// The HDF5 signature stands at 0, or behind a user block at 512, 1024, 2048, …
bool is_hdf5(const store::ReadFile& file) {
  static constexpr unsigned char kSignature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::byte head[8];
  for (int64_t at = 0; at + 8 <= file.size(); at = at == 0 ? 512 : at * 2) {
    file.read_at(at, head);
    if (std::memcmp(head, kSignature, 8) == 0) return true;
  }
  return false;
}

bool is_zip(const store::ReadFile& file) {
  std::byte head[4];
  if (file.size() < 22) return false;
  file.read_at(0, head);
  return std::memcmp(head, "PK\x03\x04", 4) == 0 || std::memcmp(head, "PK\x05\x06", 4) == 0;
}

Opened open_zarr(std::shared_ptr<store::Store> store) {
  Node root = zarr::open_root(std::move(store));
  return {root, "zarr" + std::to_string(zarr::version(root))};
}

}  // namespace

Opened open(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw_errno(errno, "open", path);
  if (S_ISDIR(status.st_mode)) return open_zarr(store::open_directory(path));
  std::shared_ptr<const store::ReadFile> file = store::open_local(path);
  if (is_hdf5(*file)) return {Node{nullptr, hdf5::open_file(file)}, "hdf5"};
  if (is_zip(*file)) return open_zarr(store::open_zip(path));
  throw Error(file->size() == 0 ? ErrorKind::Corrupt : ErrorKind::Unsupported,
              path + (file->size() == 0 ? ": is empty" : ": is neither HDF5 nor a Zarr directory nor a zip of one"));
}

std::unique_ptr<Sink> create_sink(const std::string& path, const SinkOptions& options) {
  if (options.format == SinkFormat::Hdf5) return hdf5::create_hdf5_sink(path, options.resume, options.durable);
  auto store = options.zip ? store::create_zip(path) : store::create_directory(path);
  return zarr::create_zarr_sink(std::move(store), options.format == SinkFormat::Zarr2 ? 2 : 3, options.resume,
                                options.consolidate);
}

}  // namespace lamella::array
