#pragma once

#include <mutex>
#include <optional>

#include "array/array.h"
#include "array/hdf5/chunk_index.h"
#include "array/hdf5/object_header.h"

namespace lamella::array::hdf5 {

// A dataset. The chunk index is walked at the first need of it.
class Dataset final : public Array {
 public:
  ChunkExtent locate(const Shape& chunk) const override;
  int64_t stored_bytes() const override;
  int64_t stored_chunks() const override;

 protected:
  void resolve(std::byte* decoded, int64_t elements, Heap& heap) const override;

 private:
  struct Parts;
  friend std::shared_ptr<const Array> open_dataset(std::shared_ptr<const Container>, const ObjectHeader&,
                                                   const std::string&);
  Dataset(std::shared_ptr<const Container> container, Parts parts, Attributes attributes, std::string name);
  const ChunkIndex& index() const;

  std::shared_ptr<const Container> container_;
  Layout layout_;
  bool filtered_;
  std::shared_ptr<const store::ReadFile> compact_;
  mutable std::once_flag indexed_;
  mutable std::optional<ChunkIndex> index_;
};

// `name` is "file: /element". Throws Unsupported by that name for what is not read.
std::shared_ptr<const Array> open_dataset(std::shared_ptr<const Container> container, const ObjectHeader& header,
                                          const std::string& name);

}  // namespace lamella::array::hdf5
