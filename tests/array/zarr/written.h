#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "array/sink.h"
#include "array/zarr/sink.h"
#include "base/convert.h"
#include "base/strided.h"

namespace lamella::array {

// What a run has appended so far, and where it is to be killed: a journal's part in the tests.
struct History {
  std::vector<Placement> done;
  size_t next = 0;
  size_t stop = SIZE_MAX;
};
struct Killed {};

// A value, text included, for element i; many are zero, so that some chunks are not stored.
inline int64_t value_of(int64_t i) { return i / 40 % 3 == 0 ? 0 : i / 3 * 37 % 101; }
inline std::string text_of(int64_t i) {
  const int64_t n = value_of(i);
  return n == 0 ? "" : (n % 2 == 0 ? "gr\xc3\xbcn " : "red ") + std::to_string(n);
}

// Elements of an array, row-major. StringRefs point into `texts`.
struct Elements {
  std::vector<std::byte> bytes;
  std::vector<std::unique_ptr<std::string>> texts;
};

inline void put_value(Elements& out, const DType& type, int64_t i, std::byte* to) {
  const int64_t value = value_of(i);
  switch (type.kind) {
    case TypeKind::String:
    case TypeKind::VlenBytes: {
      out.texts.push_back(std::make_unique<std::string>(text_of(i)));
      const StringRef ref{out.texts.back()->data(), static_cast<int64_t>(out.texts.back()->size())};
      std::memcpy(to, &ref, sizeof(ref));
      return;
    }
    case TypeKind::Bytes:
    case TypeKind::Raw: {
      const std::string text = value == 0 ? "" : std::to_string(value);
      std::memcpy(to, text.data(), std::min(text.size(), static_cast<size_t>(type.size)));
      return;
    }
    case TypeKind::Unicode:
      for (int64_t k = 0; k < type.size / 4 && value != 0; ++k)
        to[4 * k + (type.big_endian ? 3 : 0)] = static_cast<std::byte>('a' + value % 20);
      return;
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: {
      convert_elements(DType::int_(8), reinterpret_cast<const std::byte*>(&value),
                       DType::make(TypeKind::Int, 8, type.big_endian), to, 1);
      return;
    }
    case TypeKind::Struct:
      for (const Field& field : *type.fields) put_value(out, field.type, i, to + field.offset);
      return;
    default: convert_elements(DType::int_(8), reinterpret_cast<const std::byte*>(&value), type, to, 1);
  }
}

inline Elements elements_of(const DType& type, int64_t n) {
  Elements out;
  out.bytes.resize(static_cast<size_t>(n * type.size));
  for (int64_t i = 0; i < n; ++i) put_value(out, type, i, out.bytes.data() + i * type.size);
  return out;
}

inline ArraySpec chunked(const DType& type, Shape shape, Shape chunks, const std::string& codecs = "zstd",
                         Shape shards = {}) {
  ArraySpec spec;
  spec.type = type;
  spec.shape = std::move(shape);
  spec.chunks = std::move(chunks);
  spec.shards = std::move(shards);
  const int64_t item = type.is_vlen() ? 1 : type.size;
  spec.codecs = {{type.kind == TypeKind::String      ? "vlen-utf8"
                  : type.kind == TypeKind::VlenBytes ? "vlen-bytes"
                                                     : "bytes",
                  Json::object()}};
  for (const codec::CodecSpec& codec : codec::parse_codecs(codecs))
    spec.codecs.push_back(codec::canonical(codec, item));
  return spec;
}

// Chunk after chunk, those of an earlier run restored.
inline void write_array(Sink& sink, const std::string& path, const ArraySpec& spec, const Attributes& attributes,
                        History& history) {
  sink.check_array(path, spec, attributes);
  const auto writer = sink.create_array(path, spec, attributes);
  const DType& type = spec.type;
  const Elements elements = elements_of(type, spec.null_space ? 0 : count(spec.shape));
  const ConstView all = ConstView::c_order(elements.bytes.data(), spec.shape, type.size);
  const Grid grid = spec.null_space ? Grid{{0}, {1}} : writer->spec().grid();
  const std::vector<std::byte> fill = writer->spec().fill_element();
  for (int64_t i = 0; i < grid.size(); ++i) {
    const Shape index = grid.index(i);
    if (history.next < history.done.size()) {
      writer->restore(index, history.done[history.next++]);
      continue;
    }
    if (history.next++ == history.stop) throw Killed();
    Buffer chunk(count(grid.chunk) * type.size);
    const View view = View::c_order(chunk.data(), grid.chunk, type.size);
    fill_elements(view, fill.data(), type.size);
    const Box box = grid.box(index);
    copy_elements(view.sub(Box::whole(box.shape)), all.sub(box), type.size);
    history.done.push_back(writer->append(index, writer->encode(chunk.bytes())));
  }
  writer->finish();
}

// An array of every type that the version has, and of every layout; what compare.py expects by the same rules.
inline std::vector<std::pair<std::string, ArraySpec>> all_arrays(int version) {
  std::vector<std::pair<std::string, ArraySpec>> out;
  std::vector<std::string> types = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
                                    "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"};
  for (const char* type : {"|S3", "|V4", "<U2", "<M8[ns]", "<m8[25s]"}) types.push_back(type);
  if (version == 2)
    for (const char* type : {">i2", ">u8", ">f4", ">c16", ">U2", ">M8[s]"}) types.push_back(type);
  for (const std::string& type : types) out.push_back({"type " + type, chunked(parse_dtype(type), {150}, {20})});
  const DType record = DType::record(
      {{"a", 0, DType::int_(4), {}}, {"b", 4, DType::float_(8), {}}, {"s", 12, parse_dtype("|S2"), {}}}, 14);
  out.push_back({"record", chunked(record, {150}, {20})});
  out.push_back({"strings", chunked(DType::string(), {15, 10}, {4, 3})});
  out.push_back({"bytes", chunked(DType::vlen_bytes(), {150}, {20})});
  const DType i4 = DType::int_(4);
  for (const char* codecs : {"none", "gzip:4", "blosc:lz4:5:shuffle", "blosc:zstd:3:bitshuffle", "zstd:5", "crc32c"}) {
    out.push_back({std::string("codec ") + codecs, chunked(i4, {17, 11}, {5, 4}, codecs)});
  }
  ArraySpec spec = chunked(i4, {17, 11}, {5, 4});
  spec.codecs.insert(spec.codecs.begin(), {"transpose", {{"order", {1, 0}}}});
  out.push_back({"transpose", spec});
  spec = chunked(i4, {17, 11}, {5, 4});
  spec.codecs[0].configuration = {{"endian", "big"}};
  out.push_back({"big", spec});
  spec = chunked(DType::float_(4), {17, 11}, {5, 4});
  const uint32_t nan = 0x7fc00000;
  spec.fill.resize(4);
  std::memcpy(spec.fill.data(), &nan, 4);
  out.push_back({"fill", spec});
  out.push_back({"empty", chunked(i4, {0, 3}, {1, 3})});
  spec = {};
  spec.type = DType::float_(8);
  out.push_back({"scalar", spec});
  spec.type = DType::string();
  out.push_back({"scalar string", spec});
  spec.type = i4;
  spec.shape = {7, 0, 3};
  out.push_back({"contiguous", spec});
  spec = {};
  spec.null_space = true;
  out.push_back({"null", spec});
  if (version == 2) return out;
  out.push_back({"sharded", chunked(i4, {17, 11}, {2, 3}, "zstd", {8, 6})});
  out.push_back({"sharded strings", chunked(DType::string(), {15, 10}, {2, 3}, "zstd", {8, 6})});
  out.push_back({"sharded bytes", chunked(DType::int_(1), {17, 11, 3}, {2, 3, 1}, "none", {8, 6, 3})});
  spec = chunked(i4, {17, 11}, {5, 4});
  spec.dimension_names = {"y", std::nullopt};
  out.push_back({"names", spec});
  return out;
}

inline void write_everything(std::shared_ptr<store::Store> store, int version, bool resume, History& history) {
  const auto sink = zarr::create_zarr_sink(std::move(store), version, resume, true);
  Attributes attributes;
  attributes.set("text", Json("gr\xc3\xbcn"));
  attributes.set("large", Json(~uint64_t{0}));
  attributes.set("map", Json{{"b", nullptr}, {"a", {1, 2.5, "x"}}});
  Attributes of_root = attributes;
  of_root.set("nan",
              Json(std::numeric_limits<double>::quiet_NaN()));  // not elsewhere: tensorstore takes strict JSON only
  sink->create_group("", of_root);
  sink->create_group("inner", {});
  for (const auto& [name, spec] : all_arrays(version)) write_array(*sink, "inner/" + name, spec, attributes, history);
  sink->commit();
}

}  // namespace lamella::array
