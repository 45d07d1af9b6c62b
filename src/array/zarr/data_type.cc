#include "array/zarr/data_type.h"

#include <algorithm>

#include "base/error.h"

namespace lamella::array::zarr {
namespace {

constexpr int kMaxDepth = 16;

[[noreturn]] void unsupported(const Json& type) {
  throw Error(ErrorKind::Unsupported, "data type " + type.dump() + " is not supported");
}

// Records are packed: each field begins where the last one ends.
class RecordBuilder {
 public:
  void add(const std::string& name, const DType& type, Shape shape) {
    const int64_t bytes = checked_mul(count(shape), type.size);
    fields_.push_back({name, size_, type, std::move(shape)});
    size_ = checked_add(size_, bytes);
  }
  DType finish() { return DType::record(std::move(fields_), size_); }

 private:
  std::vector<Field> fields_;
  int64_t size_ = 0;
};

DType read_v2(const Json& dtype, int depth) {
  if (depth > kMaxDepth) unsupported("a record nested too deeply");
  if (dtype.is_string()) {
    const auto& text = dtype.get_ref<const std::string&>();
    if (text.find_first_of("<>|") != 0) unsupported(dtype);  // bare names are no spelling of v2
    return parse_dtype(text);
  }
  if (!dtype.is_array() || dtype.empty()) unsupported(dtype);
  RecordBuilder record;
  for (const Json& field : dtype) {
    if (!field.is_array() || field.size() < 2 || field.size() > 3 || !field[0].is_string()) unsupported(dtype);
    Shape shape;
    if (field.size() == 3) shape = field[2].is_array() ? field[2].get<Shape>() : Shape{field[2].get<int64_t>()};
    if (std::any_of(shape.begin(), shape.end(), [](int64_t length) { return length < 0; })) unsupported(dtype);
    record.add(field[0].get<std::string>(), read_v2(field[1], depth + 1), std::move(shape));
  }
  return record.finish();
}

int64_t length_bytes(const Json& configuration, const Json& type) {
  const auto length = configuration.find("length_bytes");
  if (length == configuration.end() || !length->is_number_integer() || length->get<int64_t>() < 0 ||
      length->get<int64_t>() > INT32_MAX)
    unsupported(type);
  return length->get<int64_t>();
}

DType read_v3(const Json& type, int depth);

DType read_struct(const Json& configuration, int depth) {
  RecordBuilder record;
  for (const Json& field : configuration.at("fields")) {
    // An object with name and data_type; before zarr 3.1 a pair.
    const bool pair = field.is_array() && field.size() == 2;
    record.add((pair ? field[0] : field.at("name")).get<std::string>(),
               read_v3(pair ? field[1] : field.at("data_type"), depth + 1), {});
  }
  return record.finish();
}

DType read_named(const std::string& name, const Json& configuration, const Json& type, int depth) {
  if (name == "string") return DType::string();
  if (name == "bytes" || name == "variable_length_bytes") return DType::vlen_bytes();
  if (name == "fixed_length_utf32") return DType::make(TypeKind::Unicode, length_bytes(configuration, type));
  if (name == "null_terminated_bytes") return DType::make(TypeKind::Bytes, length_bytes(configuration, type));
  if (name == "raw_bytes") return DType::make(TypeKind::Raw, length_bytes(configuration, type));
  if (name == "struct" || name == "structured") return read_struct(configuration, depth);
  if (name == "numpy.datetime64" || name == "numpy.timedelta64") {
    DType out = DType::make(name == "numpy.datetime64" ? TypeKind::DateTime : TypeKind::TimeDelta, 8);
    const int64_t factor = configuration.value("scale_factor", int64_t{1});
    if (factor < 1 || factor > INT32_MAX) unsupported(type);
    out.unit = (factor == 1 ? "" : std::to_string(factor)) + configuration.value("unit", std::string("generic"));
    return out;
  }
  if (name.size() > 1 && name[0] == 'r' && name.find_first_not_of("0123456789", 1) == std::string::npos &&
      name.size() < 10) {
    const int64_t bits = std::stoll(name.substr(1));
    if (bits % 8 != 0) unsupported(type);
    return DType::make(TypeKind::Raw, bits / 8);
  }
  static const char* const kCore[] = {"bool",   "int8",   "int16",   "int32",   "int64",   "uint8",     "uint16",
                                      "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"};
  for (const char* core : kCore) {
    if (name == core) return parse_dtype(name);
  }
  unsupported(type);
}

DType read_v3(const Json& type, int depth) {
  if (depth > kMaxDepth) unsupported("a record nested too deeply");
  if (type.is_string()) return read_named(type.get<std::string>(), Json::object(), type, depth);
  if (!type.is_object() || !type.contains("name") || !type["name"].is_string()) unsupported(type);
  const Json configuration = type.value("configuration", Json::object());
  return read_named(type["name"].get<std::string>(), configuration, type, depth);
}

[[noreturn]] void cannot_write(const DType& type, int version) {
  throw Error(ErrorKind::Unsupported,
              "elements of type " + to_string(type) + " cannot be stored in Zarr v" + std::to_string(version));
}

// "25s" → 25, "s".
std::pair<int64_t, std::string> split_unit(const std::string& unit) {
  size_t digits = 0;
  while (digits < unit.size() && unit[digits] >= '0' && unit[digits] <= '9') ++digits;
  if (digits > 10) throw Error(ErrorKind::Unsupported, "the unit '" + unit + "' of time is too long");
  return {digits == 0 ? 1 : std::stoll(unit.substr(0, digits)), unit.substr(digits)};
}

Json named(const char* name, Json configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

}  // namespace

DType read_type_v2(const Json& dtype, const Json& filters) {
  if (dtype != "|O") return read_v2(dtype, 0);
  if (filters.is_array()) {
    for (const Json& filter : filters) {
      const std::string id = filter.is_object() ? filter.value("id", std::string()) : std::string();
      if (id == "vlen-utf8") return DType::string();
      if (id == "vlen-bytes") return DType::vlen_bytes();
    }
    if (!filters.empty()) {
      throw Error(ErrorKind::Unsupported,
                  "objects encoded by " + filters.dump() + "; only vlen-utf8 and vlen-bytes are read");
    }
  }
  throw Error(ErrorKind::Corrupt, "dtype \"|O\" without a filter that says what the objects are");
}

DType read_type_v3(const Json& data_type) { return read_v3(data_type, 0); }

Json write_type_v2(const DType& type) {
  switch (type.kind) {
    case TypeKind::String:
    case TypeKind::VlenBytes: return "|O";
    case TypeKind::Reference: cannot_write(type, 2);
    case TypeKind::Struct: {
      Json out = Json::array();
      for (const Field& field : *type.fields) {
        if (field.type.is_vlen()) cannot_write(type, 2);
        Json one = Json::array({field.name, write_type_v2(field.type)});
        if (!field.shape.empty()) one.push_back(field.shape);
        out.push_back(std::move(one));
      }
      return out;
    }
    default: break;
  }
  if (type.kind == TypeKind::Float && type.size == 16) cannot_write(type, 2);
  return to_string(type);
}

Json write_type_v3(const DType& type) {
  const std::string bits = std::to_string(type.size * 8);
  switch (type.kind) {
    case TypeKind::Bool: return "bool";
    case TypeKind::Int: return "int" + bits;
    case TypeKind::UInt: return "uint" + bits;
    case TypeKind::Float:
      if (type.size == 16) cannot_write(type, 3);
      return "float" + bits;
    case TypeKind::Complex:
      if (type.size == 32) cannot_write(type, 3);
      return "complex" + bits;
    case TypeKind::Bytes: return named("null_terminated_bytes", {{"length_bytes", type.size}});
    case TypeKind::Unicode: return named("fixed_length_utf32", {{"length_bytes", type.size}});
    case TypeKind::Raw: return named("raw_bytes", {{"length_bytes", type.size}});
    case TypeKind::DateTime:
    case TypeKind::TimeDelta: {
      const auto [factor, unit] = split_unit(type.unit.empty() ? "generic" : type.unit);
      return named(type.kind == TypeKind::DateTime ? "numpy.datetime64" : "numpy.timedelta64",
                   {{"unit", unit}, {"scale_factor", factor}});
    }
    case TypeKind::String: return "string";
    case TypeKind::VlenBytes: return "variable_length_bytes";
    case TypeKind::Struct: {
      Json fields = Json::array();
      for (const Field& field : *type.fields) {
        if (field.type.is_vlen() || !field.shape.empty()) cannot_write(type, 3);
        fields.push_back({{"name", field.name}, {"data_type", write_type_v3(field.type)}});
      }
      return named("struct", {{"fields", fields}});
    }
    case TypeKind::Reference: break;
  }
  cannot_write(type, 3);
}

}  // namespace lamella::array::zarr
