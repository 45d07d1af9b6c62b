#include "codec/config.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lamella::codec {

ConfigReader::ConfigReader(std::string_view codec, const Json& config) : codec_(codec), config_(config) {
  if (!config.is_object())
    throw Error(ErrorKind::Invalid, "codec \"" + codec_ + "\": its configuration must be an object");
}

void ConfigReader::fail(std::string_view key, const std::string& wanted) const {
  throw Error(ErrorKind::Invalid, "codec \"" + codec_ + "\": \"" + std::string(key) + "\" must be " + wanted);
}

const Json* ConfigReader::find(std::string_view key) {
  taken_.emplace_back(key);
  const auto it = config_.find(taken_.back());
  return it == config_.end() ? nullptr : &*it;
}

const Json& ConfigReader::value(std::string_view key) {
  const Json* found = find(key);
  if (found == nullptr) fail(key, "given");
  return *found;
}

int64_t ConfigReader::integer(std::string_view key, std::optional<int64_t> fallback, int64_t low, int64_t high) {
  const Json* found = find(key);
  if (found == nullptr || found->is_null()) {
    if (!fallback) fail(key, "given");
    return *fallback;
  }
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() || found->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  if (!fits) fail(key, "an integer");
  const int64_t number = found->get<int64_t>();
  if (number < low || number > high) {
    fail(key, "from " + std::to_string(low) + " to " + std::to_string(high) + ", not " + std::to_string(number));
  }
  return number;
}

double ConfigReader::number(std::string_view key, std::optional<double> fallback) {
  const Json* found = find(key);
  if (found == nullptr) {
    if (!fallback) fail(key, "given");
    return *fallback;
  }
  if (found->is_number()) return found->get<double>();
  if (*found == "NaN") return std::nan("");
  if (*found == "Infinity") return HUGE_VAL;
  if (*found == "-Infinity") return -HUGE_VAL;
  fail(key, "a number");
}

bool ConfigReader::boolean(std::string_view key, bool fallback) {
  const Json* found = find(key);
  if (found == nullptr || found->is_null()) return fallback;
  if (!found->is_boolean()) fail(key, "true or false");
  return found->get<bool>();
}

std::string ConfigReader::text(std::string_view key, std::optional<std::string> fallback,
                               std::initializer_list<std::string_view> allowed) {
  const Json* found = find(key);
  if (found == nullptr || found->is_null()) {
    if (!fallback) fail(key, "given");
    return *fallback;
  }
  if (!found->is_string()) fail(key, "a string");
  const std::string text = found->get<std::string>();
  if (allowed.size() == 0 || std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return text;
  std::string wanted = "one of";
  for (std::string_view name : allowed) wanted += " " + std::string(name);
  fail(key, wanted + ", not \"" + text + "\"");
}

std::vector<int64_t> ConfigReader::integers(std::string_view key) {
  const Json& list = value(key);
  if (!list.is_array()) fail(key, "a list of integers");
  std::vector<int64_t> out;
  for (const Json& item : list) {
    if (!item.is_number_integer()) fail(key, "a list of integers");
    out.push_back(item.get<int64_t>());
  }
  return out;
}

void ConfigReader::finish() const {
  for (const auto& member : config_.items()) {
    if (std::find(taken_.begin(), taken_.end(), member.key()) != taken_.end()) continue;
    throw Error(ErrorKind::Unsupported, "codec \"" + codec_ + "\": its member \"" + member.key() + "\" is not known");
  }
}

}  // namespace lamella::codec
