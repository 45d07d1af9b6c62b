#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "array/array.h"

namespace lamella::array {

// What encode() hands to append(). `heap` holds variable-length bytes that the format keeps apart from the chunk
// (HDF5).
struct EncodedChunk {
  Buffer bytes;
  uint32_t skip_codecs = 0;
  bool absent = false;  // all fill: nothing is stored
  std::vector<std::byte> heap;
};

// Where append() put a chunk: what a journal keeps so that a killed run can go on.
struct Placement {
  int64_t position = -1;  // -1: absent
  int64_t size = 0;
  uint32_t skip_codecs = 0;
};

// An array under construction. Each chunk (or byte, if contiguous) is written exactly once.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  const ArraySpec& spec() const { return spec_; }

  // Thread-safe. `decoded` is a whole chunk (spec().chunks elements, row-major, padded with fill at the edges).
  virtual EncodedChunk encode(ConstBytes decoded) const = 0;

  // One call at a time for the whole sink, in an order that the caller keeps from run to run: it decides the bytes.
  virtual Placement append(const Shape& chunk, EncodedChunk encoded) = 0;

  // Instead of append() for a chunk that an earlier, killed run appended. In the same order.
  virtual void restore(const Shape& chunk, const Placement& placement) = 0;

  // Contiguous storage only, thread-safe: a region that is one run in row-major order.
  virtual void write_run(int64_t first_element, ConstBytes decoded) = 0;

  // After the last chunk: shard indexes, lengths. Called once, in the order of creation of the arrays.
  virtual void finish() = 0;

  // Bytes that the writer itself keeps per chunk in memory until the commit.
  virtual int64_t index_bytes_per_chunk() const { return 16; }

 protected:
  explicit ArrayWriter(ArraySpec spec) : spec_(std::move(spec)) {}
  ArraySpec spec_;
};

// A store under construction. The caller makes groups and arrays parents first, then appends, then commits. Nothing can
// be opened as a valid store before commit(). The path is a private one beside the target: renaming it is the caller's.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual const std::string& name() const = 0;

  // path "" is the root group, "a/b" below. Throws Unsupported by element name for what the format cannot express.
  virtual void create_group(const std::string& path, const Attributes& attributes) = 0;
  virtual std::unique_ptr<ArrayWriter> create_array(const std::string& path, const ArraySpec& spec,
                                                    const Attributes& attributes) = 0;

  // Checks without writing what the two above would refuse.
  virtual void check_group(const std::string& path, const Attributes& attributes) const = 0;
  virtual void check_array(const std::string& path, const ArraySpec& spec, const Attributes& attributes) const = 0;

  // May chunks of different shards of one array be appended alternately? (Zip: no.)
  virtual bool interleaves_shards() const { return true; }
  // May two arrays be appended to alternately?
  virtual bool interleaves_arrays() const { return true; }

  // All metadata, then sync. The store is whole when this returns.
  virtual void commit() = 0;
};

enum class SinkFormat { Hdf5, Zarr2, Zarr3 };

struct SinkOptions {
  SinkFormat format = SinkFormat::Zarr3;
  bool zip = false;     // Zarr only
  bool resume = false;  // go on with what lies at the path; the caller calls create_* and restore() as in the first run
  bool consolidate = true;  // Zarr: write consolidated metadata at the root
  bool durable = true;      // HDF5; false: a scratch file, commit() does not wait for the device
};
std::unique_ptr<Sink> create_sink(const std::string& path, const SinkOptions& options);

}  // namespace lamella::array
