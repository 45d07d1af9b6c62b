#include "anndata/info.h"

#include <algorithm>

#include "anndata/element.h"
#include "base/error.h"
#include "base/memory.h"

namespace lamella::anndata {
namespace {

Json describe_array(const array::Array& array) {
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
  const int64_t decoded = spec.null_space ? 0 : checked_mul(count(spec.shape), spec.type.size);
  const int64_t stored = array.stored_bytes();
  out["stored_bytes"] = stored;
  // The length of strings is not known without reading them.
  if (!spec.type.has_references_to_heap()) {
    out["decoded_bytes"] = decoded;
    if (stored > 0) out["ratio"] = static_cast<double>(decoded) / static_cast<double>(stored);
  }
  return out;
}

Json describe(const array::Node& node, const std::string& path);

Json describe_group(const array::Group& group, const std::string& path) {
  Json out;
  out["kind"] = "group";
  const Element element = classify({nullptr, std::shared_ptr<const array::Group>(std::shared_ptr<void>(), &group)});
  if (!element.type.empty()) out["encoding"] = element.type;
  for (const char* name : {"shape", "h5sparse_shape"}) {
    if (const array::Attribute* shape = group.attributes().find(name)) out["shape"] = shape->value;
  }
  Json children = Json::array();
  int64_t stored = 0, decoded = 0;
  for (const std::string& name : group.children()) {
    const std::string child_path = path + "/" + name;
    Json child;
    try {
      child = describe(group.child(name), child_path);
    } catch (const Error& error) {
      child = {{"path", child_path}, {"error", error.what()}};
    }
    stored += child.value("stored_bytes", int64_t{0});
    decoded += child.value("decoded_bytes", int64_t{0});
    children.push_back(std::move(child));
  }
  out["stored_bytes"] = stored;
  out["decoded_bytes"] = decoded;
  out["children"] = std::move(children);
  return out;
}

Json describe(const array::Node& node, const std::string& path) {
  Json out;
  out["path"] = path.empty() ? "/" : path;
  if (!node) {
    out["error"] = "a link that leads nowhere";
    return out;
  }
  out.update(node.array ? describe_array(*node.array) : describe_group(*node.group, path));
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
  const auto stored = node["stored_bytes"].get<double>();
  const auto decoded = node.value("decoded_bytes", 0.0);
  if (decoded > 0) {
    line[7] = format_bytes(static_cast<int64_t>(decoded));
    char ratio[16] = "";
    if (stored > 0) std::snprintf(ratio, sizeof(ratio), "  %.1f×", decoded / stored);
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
  Json out = describe(node, path);
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
