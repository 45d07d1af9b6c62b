// Zarr documents and shards that nobody made. The input is one document up to the first zero byte, the bytes of each
// chunk or shard after it; it is tried as an array or group of both versions.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "array/zarr/open.h"
#include "base/error.h"

namespace lamella::array {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 20;

// Every key but the documents' leads to the same bytes.
class Everywhere : public store::Store {
 public:
  Everywhere(const char* document, ConstBytes text, ConstBytes value)
      : document_(document), text_(text), value_(value) {}

  const std::string& name() const override { return name_; }
  std::shared_ptr<const store::ReadFile> open(const std::string& key) const override {
    if (key == document_) return file(text_, key);
    const bool metadata = key.find(".z") != std::string::npos || key.find("zarr.json") != std::string::npos;
    return metadata ? nullptr : file(value_, key);
  }
  std::vector<std::string> list(const std::string& prefix) const override {
    return prefix.empty() ? std::vector<std::string>{document_, "0"} : std::vector<std::string>();
  }

 private:
  static std::shared_ptr<const store::ReadFile> file(ConstBytes bytes, const std::string& key) {
    return store::memory_file({bytes.begin(), bytes.end()}, key);
  }

  std::string name_ = "fuzz";
  std::string document_;
  ConstBytes text_, value_;
};

void read(const char* document, ConstBytes text, ConstBytes value) {
  try {
    const Node root = zarr::open_root(std::make_shared<Everywhere>(document, text, value));
    if (!root.array) return;
    const ArraySpec& spec = root.array->spec();
    const int64_t item = std::max<int64_t>(spec.type.size, 1);
    if (checked_mul(count(spec.chunks), item) > kMostBytes || checked_mul(count(spec.shape), item) > kMostBytes) return;
    if (spec.grid().size() > 1000) return;
    Heap heap;
    root.array->read_all(heap);
    root.array->stored_bytes();
    root.array->stored_chunks();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Bug) std::abort();
  }
}

}  // namespace
}  // namespace lamella::array

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto end = static_cast<size_t>(std::find(bytes.begin(), bytes.end(), std::byte{0}) - bytes.begin());
  const auto text = bytes.first(end), value = bytes.subspan(std::min(end + 1, size));
  lamella::array::read("zarr.json", text, value);
  lamella::array::read(".zarray", text, value);
  lamella::array::read(".zgroup", text, value);
  return 0;
}
