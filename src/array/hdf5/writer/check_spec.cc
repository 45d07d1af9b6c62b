#include "array/hdf5/writer/array_writer.h"
#include "array/hdf5/writer/encode_messages.h"
#include "array/hdf5/writer/header_writer.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kMostChunk = (int64_t{1} << 32) - 1;
constexpr size_t kMostAxes = 32;
constexpr size_t kMostFilters = 32;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::Unsupported, what); }

bool has_reference(const DType& type) {
  if (type.kind == TypeKind::Reference) return true;
  if (type.kind != TypeKind::Struct) return false;
  for (const Field& field : *type.fields) {
    if (has_reference(field.type)) return true;
  }
  return false;
}

void check_message(const ByteWriter& message, const std::string& what) {
  if (message.size() > kMostMessage) refuse(what + " takes more than 64 kB in an HDF5 header, which is its limit");
}

void check_filters(const ArraySpec& spec) {
  const codec::CodecSpec& pack = spec.codecs[0];
  if (pack.name != "bytes" || !pack.configuration.empty()) {
    refuse("codec \"" + pack.name + "\" with " + pack.configuration.dump() + " has no form in HDF5; give --codec gzip");
  }
  if (spec.codecs.size() - 1 > kMostFilters) refuse("more than 32 filters; give --codec gzip");
  for (size_t i = 1; i < spec.codecs.size(); ++i) {
    if (!codec::has_hdf5(spec.codecs[i])) {
      refuse("codec \"" + spec.codecs[i].name + "\" has no HDF5 filter; give --codec gzip");
    }
  }
  ByteWriter message;
  put_filters(message, spec);
}

void check_chunks(const ArraySpec& spec) {
  if (spec.shape.empty()) refuse("a scalar has no chunks in HDF5");
  if (spec.chunks.size() != spec.shape.size()) {
    throw Error(ErrorKind::Invalid, "chunks of " + to_string(spec.chunks) + " for a shape of " + to_string(spec.shape));
  }
  for (int64_t length : spec.chunks) {
    if (length < 1) throw Error(ErrorKind::Invalid, "chunks of " + to_string(spec.chunks));
  }
  if (checked_mul(count(spec.chunks), spec.type.size) > kMostChunk) {
    refuse("chunks of " + to_string(spec.chunks) + " take 4 GiB or more, HDF5's limit; give smaller --chunks");
  }
  check_filters(spec);
}

}  // namespace

void check_spec(const ArraySpec& spec) {
  ByteWriter type;
  put_datatype(type, spec.type);
  check_message(type, "the type of an element");
  if (spec.null_space) return;
  if (has_reference(spec.type)) {
    refuse("object references point into the file that they stand in and cannot be copied; leave the element out");
  }
  if (spec.shape.size() > kMostAxes) refuse(std::to_string(spec.shape.size()) + " axes, HDF5 has 32 at most");
  ByteWriter fill;
  put_fill_value(fill, spec);
  check_message(fill, "the fill value");
  checked_mul(count(spec.shape), spec.type.size);
  if (!spec.contiguous()) return check_chunks(spec);
  if (!spec.chunks.empty() || !spec.shards.empty()) {
    throw Error(ErrorKind::Invalid, "chunks of " + to_string(spec.chunks) + " without a codec that makes bytes");
  }
}

}  // namespace lamella::array::hdf5
