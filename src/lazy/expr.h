#pragma once

#include <memory>
#include <string>
#include <vector>

#include "array/array.h"

namespace lamella::lazy {

class Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// An N-d array that is computed block by block when it is read. Immutable and thread-safe. Making one touches no data.
class Expr {
 public:
  virtual ~Expr() = default;

  const Shape& shape() const { return shape_; }
  const DType& type() const { return type_; }

  // Computes `region` into `to` (shape of the region). Variable-length bytes live as long as `heap`.
  virtual void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const = 0;

  // The array behind this, when this is the whole of one array and nothing is done to it: its encoded chunks may then
  // be passed through undecoded. Null otherwise.
  virtual const array::Array* source() const { return nullptr; }

  // The pieces in which reading is cheapest (chunks of the source; empty when any region costs the same).
  virtual Shape grain() const { return {}; }

  // Resident bytes that reading takes beside the destination, for each thread that takes part.
  virtual int64_t working_bytes() const { return 0; }

  // Stored bytes that lie behind the whole, for estimates.
  virtual int64_t stored_bytes() const { return 0; }

  Buffer read_all(Heap& heap) const;  // row-major; for what is known to be small

 protected:
  Expr(Shape shape, DType type) : shape_(std::move(shape)), type_(std::move(type)) {}

 private:
  Shape shape_;
  DType type_;
};

ExprPtr source(std::shared_ptr<const array::Array> array);

// Elements that lie in memory, row-major. `owner` keeps `data` (and what its StringRefs point to) alive.
ExprPtr in_memory(Shape shape, DType type, const std::byte* data, std::shared_ptr<const void> owner);
ExprPtr in_memory(Shape shape, DType type, Buffer data);  // no variable-length elements
ExprPtr strings(const std::vector<std::string>& values);  // 1-d, String
ExprPtr string_scalar(const std::string& value);          // rank 0, String

// The same element everywhere; nothing is stored.
ExprPtr fill(Shape shape, DType type, std::vector<std::byte> element);

// Element by element to another type, as numpy's astype: numbers to numbers (floats truncate to integers, out of range
// is unspecified as there; complex to real is refused), byte order, Bytes and Unicode to String, Bytes to Unicode.
// Throws Unsupported for other pairs.
ExprPtr cast(ExprPtr expr, DType type);

// One field of a Struct; a sub-array field appends its axes. Reads the records and picks.
ExprPtr field(ExprPtr records, const std::string& name);

// A rectangle of another; offset + shape inside of it.
ExprPtr slice(ExprPtr expr, Box region);

// The same elements, row-major, under another shape of equal count. Only for what is small or 1-d: reads whole runs.
ExprPtr reshape(ExprPtr expr, Shape shape);

}  // namespace lamella::lazy
