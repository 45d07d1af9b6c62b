#include <algorithm>
#include <cstring>

#include "anndata/recipe_maker.h"
#include "base/error.h"

namespace lamella::anndata {
namespace {

using array::SinkFormat;

constexpr int64_t kMostRecords = int64_t{256}
                                 << 20;  // bytes of a record array that is read to find how long its strings are

// Code points of UTF-8 text; a broken byte counts as one.
std::vector<uint32_t> code_points(const StringRef& text) {
  std::vector<uint32_t> out;
  for (int64_t i = 0; i < text.size;) {
    const auto lead = static_cast<unsigned char>(text.data[i]);
    const int64_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (int64_t k = 1; k < length && i + k < text.size; ++k)
      code = code << 6 | (static_cast<unsigned char>(text.data[i + k]) & 63);
    out.push_back(code);
    i += length;
  }
  return out;
}

StringRef ref_at(const std::byte* at) {
  StringRef ref;
  std::memcpy(&ref, at, sizeof(ref));
  return ref;
}

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
        longest = std::max(longest, code_points(ref_at(raw.data() + i * from.size + field.offset)).size());
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
        const std::vector<uint32_t> codes = code_points(text);
        if (!codes.empty()) std::memcpy(to, codes.data(), codes.size() * 4);
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
  const DType& from = records->type();
  const int64_t n = count(records->shape());
  std::vector<Field> fields;
  int64_t size = 0;
  for (const Field& field : *from.fields) {
    Field to = field;
    to.offset = size;
    if (field.type.kind == TypeKind::Unicode || field.type.kind == TypeKind::Bytes) to.type = DType::string();
    size += to.type.size * count(to.shape);
    fields.push_back(std::move(to));
  }
  auto heap = std::make_shared<Heap>();
  auto out = std::make_shared<Buffer>(n * size);
  for (size_t f = 0; f < fields.size(); ++f) {
    const lazy::ExprPtr column = lazy::cast(lazy::field(records, fields[f].name), fields[f].type);
    const Buffer values = column->read_all(*heap);
    const int64_t bytes = fields[f].type.size * count(fields[f].shape);
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(out->data() + i * size + fields[f].offset, values.data() + i * bytes, static_cast<size_t>(bytes));
  }
  struct Owner {
    std::shared_ptr<Buffer> data;
    std::shared_ptr<Heap> heap;
  };
  const std::byte* data = out->data();
  return lazy::in_memory(records->shape(), DType::record(fields, size), data,
                         std::make_shared<Owner>(Owner{out, heap}));
}

bool has_field(const DType& type, std::initializer_list<TypeKind> kinds) {
  return std::any_of(type.fields->begin(), type.fields->end(), [&](const Field& field) {
    return std::find(kinds.begin(), kinds.end(), field.type.kind) != kinds.end();
  });
}

// The encoding that anndata gives to what says nothing of itself.
array::Attributes implied_encoding(const lazy::Expr& values) {
  const TypeKind kind = values.type().kind;
  const bool text = kind == TypeKind::String || kind == TypeKind::VlenBytes;
  if (kind == TypeKind::Struct) return encoding("rec-array", "0.2.0");
  if (values.shape().empty()) return text ? encoding("string", "0.2.0") : encoding("numeric-scalar", "0.2.0");
  return text ? encoding("string-array", "0.2.0") : encoding("array", "0.2.0");
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

void RecipeMaker::add_values(const std::string& path, lazy::ExprPtr values) {
  plan::ArrayItem item;
  item.path = path;
  item.attributes = implied_encoding(*values);
  item.small = values->shape().empty() || values->type().kind == TypeKind::Struct;
  item.source = for_target(std::move(values), options_.target);
  recipe_.items.push_back(std::move(item));
}

void RecipeMaker::add_array(const std::string& path, const std::shared_ptr<const array::Array>& array, bool encoded) {
  plan::ArrayItem item;
  item.path = path;
  item.attributes = array->attributes();
  if (item.attributes.string("encoding-type") == "null" || array->spec().null_space) {
    item.null_space = true;
    recipe_.items.push_back(std::move(item));
    return;
  }
  // The matrices of an AnnData, not every array that has two axes: an embedding stays dense.
  const bool is_matrix = path == "X" || path == "raw/X" || path.rfind("layers/", 0) == 0;
  if (encoded && is_matrix && add_as_sparse(path, array)) return;
  const bool says = item.attributes.string("encoding-type").has_value();
  lazy::ExprPtr values = lazy::source(array);
  if (encoded && !says && values->type().kind == TypeKind::Bytes) {
    // Before 0.7 text had a fixed length, and a scalar was an array of one.
    values = lazy::cast(values, DType::string());
    if (values->shape() == Shape{1}) values = lazy::reshape(values, {});
  }
  // Text in records had a fixed length as well; which records are of that time is told by their missing encoding.
  if (encoded && !says && values->type().kind == TypeKind::Struct && has_field(values->type(), {TypeKind::Bytes}))
    values = options_.target == SinkFormat::Hdf5 ? with_strings(values) : with_fixed_text(values);
  if (encoded && !says) {
    for (const auto& [name, attribute] : implied_encoding(*values)) item.attributes.set(name, attribute);
  }
  const DType before = values->type();
  try {
    item.source = for_target(values, options_.target);
  } catch (Error& error) {
    throw error.prefix(array->name());
  }
  item.small = item.source->shape().empty() || item.source->type().kind == TypeKind::Struct;
  item.like = array->spec();
  // A string array may have been text of fixed length, and the other way round.
  if (item.source->type().kind == TypeKind::Struct && !item.source->source()) item.like.reset();
  recipe_.items.push_back(std::move(item));
}

}  // namespace lamella::anndata
