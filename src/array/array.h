#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/attributes.h"
#include "base/buffer.h"
#include "base/dtype.h"
#include "base/heap.h"
#include "base/shape.h"
#include "base/strided.h"
#include "base/threads.h"
#include "codec/codec.h"
#include "store/file.h"

namespace lamella::array {

// What an array is, whatever the format.
struct ArraySpec {
  Shape shape;
  DType type;
  Shape chunks;                 // unit of decoding; all ones or more, of the rank of `shape`. Contiguous storage: empty
  Shape shards;                 // unit of writing, a multiple of `chunks`; empty: a chunk is its own unit
  codec::CodecList codecs;      // of one chunk, canonical; empty for contiguous storage
  std::vector<std::byte> fill;  // one element of `type`; empty means zeros
  std::shared_ptr<const void> fill_owner;                   // keeps what StringRefs in `fill` point to
  std::vector<std::optional<std::string>> dimension_names;  // Zarr v3; usually empty
  bool null_space = false;                                  // HDF5's null dataspace: no element, shape empty
  Shape max_shape;                                          // HDF5 maxshape, -1 unlimited; empty: as `shape`

  bool contiguous() const { return codecs.empty(); }  // chunked storage has at least a codec that makes bytes
  Grid grid() const { return {shape, contiguous() ? shape : chunks}; }
  std::vector<std::byte> fill_element() const;  // never empty
};

// Where the bytes of a chunk lie. No file: the chunk is absent and reads as the fill value.
struct ChunkExtent {
  std::shared_ptr<const store::ReadFile> file;
  int64_t position = 0;
  int64_t size = 0;
  uint32_t skip_codecs = 0;  // bit i: the i-th bytes→bytes codec was not applied (HDF5 filter mask)
};

// An opened array. Immutable and thread-safe. A format implements the four small virtuals; reading is here
// (array/read.cc).
class Array {
 public:
  Array(ArraySpec spec, Attributes attributes, std::string name);
  virtual ~Array();

  const ArraySpec& spec() const { return spec_; }
  const Attributes& attributes() const { return attributes_; }
  const std::string& name() const { return name_; }  // "file: /element", for messages

  // Decodes `region` (inside the array) into `to`, whose shape is the region's. Each chunk is decoded once, straight
  // into the destination where it lies in one run; chunks are shared out over `threads`. Bytes of variable-length
  // elements live as long as `heap`. Throws Corrupt naming the chunk.
  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads = ThreadPool::shared()) const;

  // The same into new memory, row-major. For arrays that are known to be small.
  Buffer read_all(Heap& heap) const;

  // Where a chunk lies; `chunk` indexes spec().grid(). Contiguous storage: the whole, chunk (0, …, 0).
  virtual ChunkExtent locate(const Shape& chunk) const = 0;

  // Bytes on disk, all chunks together. May walk the index.
  virtual int64_t stored_bytes() const = 0;

  // Number of chunks present.
  virtual int64_t stored_chunks() const = 0;

  // Resident bytes of the most that reading one chunk takes beside the destination: encoded, decoded, scratch.
  int64_t chunk_working_bytes() const;

  const codec::Pipeline* pipeline() const { return pipeline_.get(); }  // null for contiguous storage

 protected:
  // Turns stored elements into decoded ones, in place, where the type needs the file for it: HDF5's variable-length
  // elements are references into heaps of the file. `decoded` holds `elements` elements of spec().type.size.
  virtual void resolve(std::byte* decoded, int64_t elements, Heap& heap) const;

 private:
  void read_contiguous(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const;
  void read_chunk(const Shape& chunk, const Box& region, const View& to, Heap& heap) const;

  ArraySpec spec_;
  Attributes attributes_;
  std::string name_;
  std::unique_ptr<codec::Pipeline> pipeline_;
};

class Group;

// A child of a group: exactly one of the two is set.
struct Node {
  std::shared_ptr<const Array> array;
  std::shared_ptr<const Group> group;

  explicit operator bool() const { return array || group; }
  const Attributes& attributes() const;
};

// An opened group. Immutable and thread-safe; children are opened when asked for.
class Group {
 public:
  virtual ~Group() = default;
  virtual const Attributes& attributes() const = 0;
  virtual const std::string& name() const = 0;            // "file: /element"
  virtual std::vector<std::string> children() const = 0;  // names in stored order
  // Empty Node when there is none. A few that were asked for last are kept open.
  Node child(const std::string& name) const;

  Node at(const std::string& path) const;  // "a/b/c"; "" is an error. Throws NotFound, naming the nearest that exists

 protected:
  virtual Node open_child(const std::string& name) const = 0;

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Node> opened_;  // a few, each asked for again and again
};

// What lies at a path of the file system, by its contents: HDF5 file, Zarr directory, Zarr zip.
struct Opened {
  Node root;
  std::string format;  // "hdf5", "zarr2", "zarr3"
};
Opened open(const std::string& path);

}  // namespace lamella::array
