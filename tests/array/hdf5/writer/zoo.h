#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "array/sink.h"
#include "base/convert.h"
#include "base/strided.h"

namespace lamella::array {

// What a run has appended so far, and where it is to be killed: a journal's part in the tests.
struct Progress {
  std::vector<Placement> done;
  size_t next = 0;
  size_t stop = SIZE_MAX;
};
struct Stopped {};

// Value number i of every numeric array: small, so that each type holds it, and with runs that compress.
inline int64_t zoo_value(int64_t i) { return i / 3 * 37 % 101; }

// Writes an array of each kind that HDF5 has, with values that compare.py knows by the same rules. What it wrote is in
// `expected` afterwards: decoded bytes, with StringRefs into memory that lives as long as the Zoo.
class Zoo {
 public:
  Zoo(Sink& sink, Progress& progress) : sink_(sink), progress_(progress) {}

  void write();
  void write_plugins();  // filters that readers need plug-ins for
  void write_limits();   // many chunks, many members, large attributes

  struct Written {
    ArraySpec spec;
    std::vector<std::byte> data;
  };
  std::map<std::string, Written> expected;

 private:
  void group(const std::string& path, const Attributes& attributes = {}) { sink_.create_group(path, attributes); }
  void array(const std::string& path, ArraySpec spec, const Attributes& attributes = {});
  void append(ArrayWriter& writer, const std::vector<std::byte>& data);
  void write_runs(ArrayWriter& writer, const std::vector<std::byte>& data);
  std::vector<std::byte> values(const DType& type, int64_t elements);
  void put(const DType& type, int64_t i, std::byte* out);

  void write_types();
  void write_layouts();
  void write_attributes();

  Sink& sink_;
  Progress& progress_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

inline DType zoo_enumeration() {
  DType type = DType::int_(2);
  type.enumerators = std::make_shared<const std::vector<std::pair<std::string, int64_t>>>(
      std::vector<std::pair<std::string, int64_t>>{{"NONE", 0}, {"SOME", 37}, {"LESS", -5}});
  return type;
}

// Padded, nested, with an array and a string in it.
inline DType zoo_record() {
  const DType inner =
      DType::record({{"x", 0, DType::float_(4), {}}, {"y", 4, DType::make(TypeKind::Int, 2, true), {}}}, 6);
  return DType::record({{"a", 0, DType::int_(1), {}},
                        {"inner", 4, inner, {}},
                        {"grid", 10, DType::uint(2), {2, 3}},
                        {"text", 24, DType::string(), {}},
                        {"fixed", 40, DType::make(TypeKind::Bytes, 5), {}}},
                       48);
}

// More axes than the first form of a compound has room for, and arrays within arrays.
inline DType zoo_deep_record() {
  const DType inner = DType::record({{"m", 0, DType::uint(1), {3}}}, 3);
  return DType::record({{"a", 0, DType::int_(1), {}},
                        {"deep", 2, DType::uint(2), {2, 1, 2, 1, 2, 1}},
                        {"inner", 18, inner, {2}},
                        {"one", 24, inner, {}}},
                       28);
}

inline std::string zoo_text(int64_t i) {
  const int64_t n = zoo_value(i);
  if (n % 5 == 0) return "";
  return (n % 2 == 0 ? "gr\xc3\xbcn " : "red ") + std::to_string(n) + std::string(static_cast<size_t>(n % 7 * n), '.');
}

inline Attribute typed(Json value, DType type, Shape shape) {
  return {std::move(value), std::move(type), std::move(shape), false};
}

inline ArraySpec contiguous_spec(const DType& type, Shape shape) {
  ArraySpec spec;
  spec.type = type;
  spec.shape = std::move(shape);
  return spec;
}

inline ArraySpec chunked_spec(const DType& type, Shape shape, Shape chunks, const std::string& codecs) {
  ArraySpec spec = contiguous_spec(type, std::move(shape));
  spec.chunks = std::move(chunks);
  spec.codecs = {{"bytes", Json::object()}};
  for (const codec::CodecSpec& codec : codec::parse_codecs(codecs)) spec.codecs.push_back(codec);
  return spec;
}

inline void Zoo::put(const DType& type, int64_t i, std::byte* out) {
  switch (type.kind) {
    case TypeKind::Bytes:
    case TypeKind::Raw: {
      const std::string text = std::to_string(zoo_value(i));
      std::memcpy(out, text.data(), std::min(text.size(), static_cast<size_t>(type.size)));
      return;
    }
    case TypeKind::String:
    case TypeKind::VlenBytes: {
      texts_.push_back(std::make_unique<std::string>(zoo_text(i)));
      const StringRef ref{texts_.back()->data(), static_cast<int64_t>(texts_.back()->size())};
      std::memcpy(out, &ref, sizeof(ref));
      return;
    }
    case TypeKind::Struct:
      for (const Field& field : *type.fields) {
        for (int64_t k = 0; k < count(field.shape); ++k)
          put(field.type, i + k, out + field.offset + k * field.type.size);
      }
      return;
    default: {
      const int64_t value = zoo_value(i);
      convert_elements(DType::int_(8), reinterpret_cast<const std::byte*>(&value), type, out, 1);
    }
  }
}

inline std::vector<std::byte> Zoo::values(const DType& type, int64_t elements) {
  std::vector<std::byte> data(static_cast<size_t>(elements * type.size));
  for (int64_t i = 0; i < elements; ++i) put(type, i, data.data() + i * type.size);
  return data;
}

inline void Zoo::append(ArrayWriter& writer, const std::vector<std::byte>& data) {
  const ArraySpec& spec = writer.spec();
  const Grid grid = spec.grid();
  const std::vector<std::byte> fill = spec.fill_element();
  const ConstView all = ConstView::c_order(data.data(), spec.shape, spec.type.size);
  for (int64_t i = 0; i < grid.size(); ++i) {
    const Shape index = grid.index(i);
    if (progress_.next < progress_.done.size()) {
      writer.restore(index, progress_.done[progress_.next++]);
      continue;
    }
    if (progress_.next++ == progress_.stop) throw Stopped();
    Buffer chunk(count(grid.chunk) * spec.type.size);
    const View view = View::c_order(chunk.data(), grid.chunk, spec.type.size);
    fill_elements(view, fill.data(), spec.type.size);
    const Box box = grid.box(index);
    copy_elements(view.sub(Box::whole(box.shape)), all.sub(box), spec.type.size);
    progress_.done.push_back(writer.append(index, writer.encode(chunk.bytes())));
  }
}

// In two runs.
inline void Zoo::write_runs(ArrayWriter& writer, const std::vector<std::byte>& data) {
  const int64_t item = writer.spec().type.size;
  const auto n = static_cast<int64_t>(data.size()) / item;
  for (const auto& [begin, end] : {std::pair{int64_t{0}, n / 2}, std::pair{n / 2, n}}) {
    const bool earlier = progress_.next < progress_.done.size();
    if (!earlier && progress_.next == progress_.stop) throw Stopped();
    ++progress_.next;
    if (!earlier) progress_.done.push_back({});
    if (earlier && !writer.spec().type.has_references_to_heap()) continue;
    writer.write_run(begin, {data.data() + begin * item, static_cast<size_t>((end - begin) * item)});
  }
}

inline void Zoo::array(const std::string& path, ArraySpec spec, const Attributes& attributes) {
  sink_.check_array(path, spec, attributes);
  const auto writer = sink_.create_array(path, spec, attributes);
  std::vector<std::byte> data;
  if (!spec.null_space) {
    data = values(spec.type, count(spec.shape));
    if (spec.contiguous()) write_runs(*writer, data);
    else append(*writer, data);
  }
  writer->finish();
  expected[path] = {writer->spec(), std::move(data)};
}

inline void Zoo::write_types() {
  group("types");
  for (const char* name :
       {"|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8",  "|u1", "<u2", ">u2",  "<u4",  ">u4", "<u8", ">u8",
        "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<f16", "<c8", ">c8", "<c16", "<c32", "|b1", "|S3", "|V4"}) {
    array("types/" + std::string(name), contiguous_spec(parse_dtype(name), {7}));
    array("types/chunked " + std::string(name), chunked_spec(parse_dtype(name), {7}, {3}, "gzip"));
  }
  array("types/enum", contiguous_spec(zoo_enumeration(), {4}));
  array("types/strings", contiguous_spec(DType::string(), {300}));
  array("types/chunked strings", chunked_spec(DType::string(), {20, 17}, {6, 5}, "gzip"));
  array("types/plain chunked strings", chunked_spec(DType::string(), {300}, {70}, "none"));
  array("types/vlen bytes", contiguous_spec(DType::vlen_bytes(), {9}));
  array("types/record", contiguous_spec(zoo_record(), {5}));
  array("types/chunked record", chunked_spec(zoo_record(), {5}, {2}, "shuffle,gzip:6"));
  array("types/deep record", contiguous_spec(zoo_deep_record(), {5}));
  array("types/scalar", contiguous_spec(DType::float_(8), {}));
  array("types/scalar string", contiguous_spec(DType::string(), {}));
  ArraySpec null = contiguous_spec(DType::float_(4), {});
  null.null_space = true;
  array("types/null", null);
}

inline void Zoo::write_layouts() {
  group("layouts");
  const DType type = DType::int_(4);
  array("layouts/matrix", contiguous_spec(type, {17, 11}));
  array("layouts/gzip", chunked_spec(type, {17, 11}, {5, 4}, "gzip:4"));
  array("layouts/shuffle", chunked_spec(type, {9, 8, 7}, {2, 3, 4}, "shuffle,gzip:1"));
  array("layouts/none", chunked_spec(type, {17, 11}, {5, 4}, "none"));
  array("layouts/fletcher32", chunked_spec(type, {17, 11}, {5, 4}, "gzip,fletcher32"));
  array("layouts/lzf", chunked_spec(type, {500}, {100}, "lzf"));
  array("layouts/lzf of little", chunked_spec(type, {5}, {2}, "lzf"));
  array("layouts/shuffled lzf of little", chunked_spec(type, {5}, {2}, "shuffle,lzf"));
  array("layouts/empty", contiguous_spec(type, {0}));
  array("layouts/empty wide", contiguous_spec(type, {3, 0}));
  array("layouts/empty chunked", chunked_spec(type, {0, 3}, {1, 3}, "gzip"));
  ArraySpec spec = chunked_spec(type, {10}, {4}, "gzip");
  spec.max_shape = {-1};
  array("layouts/unlimited", spec);
  spec = chunked_spec(type, {3, 4}, {2, 8}, "none");
  spec.max_shape = {-1, 8};
  array("layouts/limited", spec);
  spec = chunked_spec(type, {12}, {3}, "gzip");
  spec.fill.resize(4);
  put(type, 3, spec.fill.data());  // that of the whole second chunk
  array("layouts/filled", spec);
  array("layouts/large chunk", chunked_spec(type, {3}, {100}, "gzip"));
  array("layouts/deep", chunked_spec(type, Shape(32, 1), Shape(32, 1), "none"));
  array("layouts/deep contiguous", contiguous_spec(type, Shape(32, 1)));
}

inline void Zoo::write_attributes() {
  Attributes attributes;
  attributes.set("text", Json("gr\xc3\xbcn"));
  attributes.set("empty text", Json(""));
  attributes.set("texts", Json({"a", "", "ccc"}));
  attributes.set("yes", Json(true));
  attributes.set("int", Json(-3));
  attributes.set("large", Json(~uint64_t{0}));
  attributes.set("float", Json(0.5));
  attributes.set("none", Json(Json::array()));
  attributes.set("matrix", Json({{1, 2, 3}, {4, 5, 6}}));
  attributes.set("mixed", Json({1, 2.5}));
  attributes.set(
      "gr\xc3\xb6\xc3\x9f"
      "e",
      Json(1));
  attributes.set("null", Attribute{nullptr, DType::float_(8), {}, true});
  attributes.set("big-endian", typed({1, 2}, DType::make(TypeKind::Int, 2, true), {2}));
  attributes.set("half", typed(1.5, DType::float_(2), {}));
  attributes.set("complex", typed({{1, 2}, {3, -4}}, DType::make(TypeKind::Complex, 16), {2}));
  attributes.set("fixed", typed("abc", DType::make(TypeKind::Bytes, 5), {}));
  attributes.set("opaque", typed("a\xc3\xbf", DType::make(TypeKind::Raw, 2), {}));
  attributes.set("enum", typed(37, zoo_enumeration(), {}));
  attributes.set("no rows", typed(Json::array(), DType::int_(4), {0, 3}));
  attributes.set("record", typed(Json{{"a", 1},
                                      {"inner", {{"x", 0.5}, {"y", 2}}},
                                      {"grid", {{1, 2, 3}, {4, 5, 6}}},
                                      {"text", "t"},
                                      {"fixed", "f"}},
                                 zoo_record(), {}));
  const DType reference = DType::make(TypeKind::Reference, 8);
  attributes.set("reference", typed("/attributes/member", reference, {}));
  attributes.set("references", typed({"/types", "/", "", "attributes"}, reference, {4}));
  group("attributes", attributes);
  attributes = {};
  attributes.set("back", typed("/attributes", reference, {}));
  array("attributes/member", contiguous_spec(DType::int_(1), {2}), attributes);
}

inline void Zoo::write() {
  Attributes attributes;
  attributes.set("encoding-type", Json("zoo"));
  group("", attributes);
  write_types();
  write_attributes();
  write_layouts();
  group("groups");
  group("groups/empty");
  group("groups/\xc3\xa4");
  std::string path = "groups/deep";
  for (int depth = 0; depth < 40; ++depth, path += "/g") group(path);
}

inline void Zoo::write_plugins() {
  group("");
  for (const char* codec : {"zstd", "blosc:lz4:5:shuffle", "blosc:zstd:3:bitshuffle", "lz4", "bitshuffle:lz4"}) {
    array(codec, chunked_spec(DType::int_(4), {500, 8}, {100, 5}, codec));
  }
}

inline void Zoo::write_limits() {
  group("");
  array("chunks", chunked_spec(DType::int_(2), {5000}, {1}, "none"));
  array("square", chunked_spec(DType::int_(2), {90, 90}, {1, 1}, "none"));
  group("members");
  for (int i = 0; i < 1000; ++i) array("members/m" + std::to_string(i), contiguous_spec(DType::int_(1), {}));
  Json names = Json::array();
  for (int i = 0; i < 20000; ++i) names.push_back("column " + std::to_string(i));
  Attributes attributes;
  attributes.set("small", Json(1));
  attributes.set("column-order", names);
  attributes.set(
      "gr\xc3\xb6\xc3\x9f"
      "e",
      Json("x"));
  attributes.set("self", typed("/wide", DType::make(TypeKind::Reference, 8), {}));
  group("wide", attributes);
  array("wide/member", contiguous_spec(DType::int_(1), {2}), attributes);
  attributes = {};
  for (int i = 0; i < 6000; ++i) attributes.set("a" + std::to_string(i), Json(i));
  group("many", attributes);
}

}  // namespace lamella::array
