#include "anndata/target_text.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "lazy/map.h"
#include "matrix/values.h"

namespace lamella::anndata {
namespace {

using array::SinkFormat;

constexpr int64_t kMostRecords = int64_t{256}
                                 << 20;  // bytes of a record array that is read to find how long its strings are

StringRef ref_at(const std::byte* at) {
  StringRef ref;
  std::memcpy(&ref, at, sizeof(ref));
  return ref;
}

std::string_view view_of(const StringRef& text) { return {text.data, static_cast<size_t>(text.size)}; }

// Records with strings, for Zarr: the strings become text of fixed length, long enough for the longest. Reads
// everything.
lazy::ExprPtr with_fixed_text(const lazy::ExprPtr& records) {
  const int64_t n = count(records->shape());
  const DType& from = records->type();
  if (n * from.size > kMostRecords)
    throw Error(ErrorKind::Unsupported, "a record array with strings of more than 256 MiB cannot be stored in Zarr");
  Heap heap;
  const Buffer raw = records->read_all(heap);
  std::vector<Field> fields;
  int64_t size = 0;
  for (const Field& field : *from.fields) {
    Field to = field;
    to.offset = size;
    if (field.type.is_vlen()) {
      size_t longest = 1;
      for (int64_t i = 0; i < n; ++i)
        longest = std::max(longest, code_points(view_of(ref_at(raw.data() + i * from.size + field.offset))).size());
      to.type = DType::make(TypeKind::Unicode, static_cast<int64_t>(longest) * 4);
    } else if (field.type.kind == TypeKind::Bytes) {
      to.type = DType::make(TypeKind::Unicode, field.type.size * 4);
    } else {
      to.type = little_endian(field.type);
    }
    size += to.type.size * count(to.shape);
    fields.push_back(std::move(to));
  }
  const DType type = DType::record(fields, size);
  Buffer out(n * size);
  std::fill_n(out.data(), out.size(), std::byte{0});
  for (int64_t i = 0; i < n; ++i) {
    for (size_t f = 0; f < fields.size(); ++f) {
      const Field& source = (*from.fields)[f];
      const std::byte* in = raw.data() + i * from.size + source.offset;
      std::byte* to = out.data() + i * size + fields[f].offset;
      if (source.type.is_vlen() || source.type.kind == TypeKind::Bytes) {
        const StringRef text = source.type.is_vlen()
                                   ? ref_at(in)
                                   : StringRef{reinterpret_cast<const char*>(in),
                                               static_cast<int64_t>(strnlen(reinterpret_cast<const char*>(in),
                                                                            static_cast<size_t>(source.type.size)))};
        const std::vector<uint32_t> codes = code_points(view_of(text));
        std::memcpy(to, codes.data(), codes.size() * 4);
      } else {
        const int64_t parts = count(source.shape);
        std::memcpy(to, in, static_cast<size_t>(source.type.size * parts));
        if (any_big_endian(source.type)) swap_bytes(source.type, to, parts);
      }
    }
  }
  return lazy::in_memory(records->shape(), type, std::move(out));
}

// Records with text of fixed length, for HDF5: anndata has strings there.
lazy::ExprPtr with_strings(const lazy::ExprPtr& records) {
  std::vector<std::pair<std::string, lazy::ExprPtr>> fields;
  for (const Field& field : *records->type().fields) {
    const bool text = field.type.kind == TypeKind::Unicode || field.type.kind == TypeKind::Bytes;
    const lazy::ExprPtr column = lazy::field(records, field.name);
    fields.emplace_back(field.name, text ? lazy::cast(column, DType::string()) : column);
  }
  return lazy::records(fields);
}

bool has_field(const DType& type, std::initializer_list<TypeKind> kinds) {
  return std::any_of(type.fields->begin(), type.fields->end(), [&](const Field& field) {
    return std::find(kinds.begin(), kinds.end(), field.type.kind) != kinds.end();
  });
}

}  // namespace

lazy::ExprPtr for_target(lazy::ExprPtr values, SinkFormat target) {
  const DType& type = values->type();
  const bool hdf5 = target == SinkFormat::Hdf5;
  if (type.kind == TypeKind::Struct) {
    if (!hdf5 && has_field(type, {TypeKind::String, TypeKind::VlenBytes})) return with_fixed_text(values);
    if (hdf5 && has_field(type, {TypeKind::Unicode})) return with_strings(values);
  }
  if (hdf5 && type.kind == TypeKind::Unicode) return lazy::cast(values, DType::string());
  if (target == SinkFormat::Zarr3 && any_big_endian(type)) return lazy::cast(values, little_endian(type));
  return values;
}

matrix::SparsePtr for_target(matrix::SparsePtr sparse, SinkFormat target) {
  const auto parts = sparse->parts();
  if (!parts) {
    const bool swaps = target == SinkFormat::Zarr3 && any_big_endian(sparse->type());
    return swaps ? matrix::cast(sparse, little_endian(sparse->type())) : sparse;
  }
  const lazy::ExprPtr data = for_target(parts->data, target), indices = for_target(parts->indices, target),
                      indptr = for_target(parts->indptr, target);
  if (data == parts->data && indices == parts->indices && indptr == parts->indptr) return sparse;
  return matrix::make_sparse(sparse->layout(), sparse->shape(), data, indices, indptr, sparse->name());
}

}  // namespace lamella::anndata
