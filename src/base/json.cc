#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lamella {
namespace {

constexpr int kMaxDepth = 256;

// Python's tokens are no JSON. Outside of strings they become numbers that no document holds otherwise (1e999 parses as
// an out-of-range error in nlohmann), so they travel as marker strings and are turned into doubles after parsing.
constexpr std::string_view kNan = "\x01nan", kInf = "\x01inf", kMinusInf = "\x01-inf";

// Checks the depth; are there bare tokens?
bool look_through(std::string_view text, const std::string& where) {
  int depth = 0;
  bool in_string = false, tokens = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) throw Error(ErrorKind::Corrupt, where + ": JSON nested deeper than 256 levels");
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == 'N' || c == 'I') {
      tokens = true;
    }
  }
  return tokens;
}

// Replaces the bare tokens by their markers, as JSON strings with an escaped control character.
std::string mark_tokens(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 64);
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      else if (c == '"') in_string = false;
      ++i;
    } else if (text.compare(i, 3, "NaN") == 0) {
      out += "\"\\u0001nan\"";
      i += 3;
    } else if (text.compare(i, 9, "-Infinity") == 0) {
      out += "\"\\u0001-inf\"";
      i += 9;
    } else if (text.compare(i, 8, "Infinity") == 0) {
      out += "\"\\u0001inf\"";
      i += 8;
    } else {
      if (c == '"') in_string = true;
      out += c;
      ++i;
    }
  }
  return out;
}

void unmark(Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == kNan) value = std::numeric_limits<double>::quiet_NaN();
    else if (text == kInf) value = std::numeric_limits<double>::infinity();
    else if (text == kMinusInf) value = -std::numeric_limits<double>::infinity();
  } else if (value.is_structured()) {
    for (auto& item : value) unmark(item);
  }
}

void dump(const Json& value, int indent, int depth, std::string& out);

void new_line(int indent, int depth, std::string& out) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
}

void dump_members(const Json& value, int indent, int depth, std::string& out) {
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) out += indent < 0 ? ", " : ",";
    first = false;
    new_line(indent, depth + 1, out);
    if (value.is_object()) {
      dump(it.key(), indent, depth, out);
      out += ": ";
    }
    dump(*it, indent, depth + 1, out);
  }
  new_line(indent, depth, out);
}

void dump(const Json& value, int indent, int depth, std::string& out) {
  if (value.is_structured() && !value.empty()) {
    out += value.is_object() ? '{' : '[';
    dump_members(value, indent, depth, out);
    out += value.is_object() ? '}' : ']';
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const double number = value.get<double>();
    out += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
  } else {
    out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, std::string_view without) {
  const bool tokens = look_through(text, where);
  Json::parser_callback_t wanted;
  if (!without.empty()) {
    wanted = [without](int depth, Json::parse_event_t event, Json& key) {
      return event != Json::parse_event_t::key || depth != 1 || key.get_ref<const std::string&>() != without;
    };
  }
  try {
    if (!tokens) return Json::parse(text, wanted);
    Json value = Json::parse(mark_tokens(text), wanted);
    unmark(value);
    return value;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::Corrupt, where + ": not JSON: " + error.what());
  }
}

std::string dump_json(const Json& value, int indent) {
  std::string out;
  dump(value, indent, 0, out);
  return out;
}

}  // namespace lamella
