#include "anndata/info.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"

namespace lamella::anndata {
namespace {

constexpr int64_t kMostLevels = 256;

struct Sizes {
  int64_t stored = 0;
  int64_t decoded = 0;     // of what tells it: the length of strings is not known without reading them
  int64_t comparable = 0;  // stored bytes of just that

  void operator+=(const Sizes& other) {
    stored += other.stored;
    decoded += other.decoded;
    comparable += other.comparable;
  }
};

void tell_ratio(const Sizes& sizes, Json& out) {
  if (sizes.comparable > 0 && sizes.decoded > 0)
    out["ratio"] = static_cast<double>(sizes.decoded) / static_cast<double>(sizes.comparable);
}

Json describe_array(const array::Array& array, Sizes& sizes) {
  const array::ArraySpec& spec = array.spec();
  Json out;
  out["kind"] = "array";
  const auto encoding = array.attributes().string("encoding-type");
  if (encoding) out["encoding"] = *encoding;
  out["shape"] = spec.shape;
  out["dtype"] = spec.null_space ? "null" : to_string(spec.type);
  if (spec.type.kind == TypeKind::Struct) {
    for (const Field& field : *spec.type.fields) out["fields"].push_back({field.name, to_string(field.type)});
  }
  if (!spec.chunks.empty()) out["chunks"] = spec.chunks;
  if (!spec.shards.empty()) out["shards"] = spec.shards;
  out["codec"] = spec.contiguous() ? "none" : codec::to_string(spec.codecs);
  sizes.stored = array.stored_bytes();
  out["stored_bytes"] = sizes.stored;
  if (!spec.type.has_references_to_heap()) {
    sizes.decoded = spec.null_space ? 0 : checked_mul(count(spec.shape), spec.type.size);
    sizes.comparable = sizes.stored;
    out["decoded_bytes"] = sizes.decoded;
    tell_ratio(sizes, out);
  }
  return out;
}

Json describe(const array::Node& node, const std::string& path, Sizes& sizes);

Json describe_group(const array::Group& group, const std::string& path, Sizes& sizes) {
  if (std::count(path.begin(), path.end(), '/') > kMostLevels)
    throw Error(ErrorKind::Corrupt, group.name() + ": groups nested deeper than 256 levels");
  Json out;
  out["kind"] = "group";
  const auto encoding = group.attributes().string("encoding-type");
  if (encoding) out["encoding"] = *encoding;
  for (const char* name : {"shape", "h5sparse_shape"}) {
    if (const array::Attribute* shape = group.attributes().find(name)) out["shape"] = shape->value;
  }
  Json children = Json::array();
  for (const std::string& name : group.children()) {
    const std::string child_path = path + "/" + name;
    Sizes of_child;
    try {
      children.push_back(describe(group.child(name), child_path, of_child));
      sizes += of_child;
    } catch (const Error& error) {
      children.push_back({{"path", child_path}, {"error", error.what()}});
    }
  }
  out["stored_bytes"] = sizes.stored;
  out["decoded_bytes"] = sizes.decoded;
  tell_ratio(sizes, out);
  out["children"] = std::move(children);
  return out;
}

Json describe(const array::Node& node, const std::string& path, Sizes& sizes) {
  Json out;
  out["path"] = path.empty() ? "/" : path;
  if (!node) {
    out["error"] = "a link that leads nowhere";
    return out;
  }
  out.update(node.array ? describe_array(*node.array, sizes) : describe_group(*node.group, path, sizes));
  return out;
}

std::string shape_text(const Json& shape) {
  std::string out;
  for (const Json& length : shape)
    out += (out.empty() ? "" : " × ") +
           (length.is_number_integer() ? std::to_string(length.get<int64_t>()) : length.dump());
  return out.empty() ? "scalar" : out;
}

// Columns of one line; the first is the tree.
using Line = std::vector<std::string>;

void add_lines(const Json& node, int depth, std::vector<Line>& lines) {
  const std::string path = node["path"];
  const std::string name = depth == 0 ? path : path.substr(path.rfind('/') + 1);
  Line line(8);
  line[0] = std::string(static_cast<size_t>(depth) * 2, ' ') + name;
  if (node.contains("error")) {
    line[1] = "! " + node["error"].get<std::string>();
    lines.push_back(line);
    return;
  }
  line[1] = node.value("encoding", node["kind"] == "group" ? std::string("group") : std::string("array"));
  if (node.contains("shape")) line[2] = shape_text(node["shape"]);
  if (node["kind"] == "array") {
    line[3] = node["dtype"];
    if (node.contains("chunks") && !node["chunks"].empty()) line[4] = shape_text(node["chunks"]);
    if (node.contains("shards")) line[4] += " in " + shape_text(node["shards"]);
    line[5] = node["codec"];
  }
  line[6] = format_bytes(node["stored_bytes"].get<int64_t>());
  if (const auto decoded = node.value("decoded_bytes", int64_t{0}); decoded > 0) {
    line[7] = format_bytes(decoded);
    char ratio[32] = "";
    if (node.contains("ratio")) std::snprintf(ratio, sizeof(ratio), "  %.1f×", node["ratio"].get<double>());
    line[7] += ratio;
  }
  lines.push_back(line);
  if (!node.contains("children")) return;
  for (const Json& child : node["children"]) add_lines(child, depth + 1, lines);
}

// Characters, not bytes.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Json describe_tree(const array::Opened& opened, const std::string& element) {
  array::Node node = opened.root;
  std::string path;
  if (element.find_first_not_of('/') != std::string::npos) {
    if (!opened.root.group)
      throw Error(ErrorKind::NotFound,
                  opened.root.array->name() + ": is a single array and has no element '" + element + "'");
    node = opened.root.group->at(element);
    path = element[0] == '/' ? element : "/" + element;
    while (path.back() == '/') path.pop_back();
  }
  Sizes sizes;
  Json out = describe(node, path, sizes);
  out["format"] = opened.format;
  return out;
}

std::string render_tree(const Json& tree) {
  std::vector<Line> lines = {{"element", "encoding", "shape", "dtype", "chunks", "codec", "stored", "decoded"}};
  add_lines(tree, 0, lines);
  std::vector<size_t> widths(8, 0);
  for (const Line& line : lines) {
    if (line[1].rfind("! ", 0) == 0) {
      widths[0] = std::max(widths[0], width(line[0]));
      continue;
    }
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string out;
  for (const Line& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] > width(line[i]) ? widths[i] - width(line[i]) : 0, ' ');
      // Sizes stand to the right, under each other.
      text += i == 6 ? padding + line[i] : line[i] + padding;
      text += "  ";
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  }
  return out;
}

}  // namespace lamella::anndata
