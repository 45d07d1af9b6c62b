#include "array/attributes.h"

#include <algorithm>

namespace lamella::array {

const Attribute* Attributes::find(const std::string& name) const {
  const auto it = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == name; });
  if (it == items_.end()) return nullptr;
  it->second.check();
  return &it->second;
}

std::optional<std::string> Attributes::string(const std::string& name) const {
  const Attribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  const Json& value = attribute->value;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && value.size() == 1 && value[0].is_string()) return value[0].get<std::string>();
  return std::nullopt;
}

void Attributes::set(const std::string& name, Attribute value) {
  const auto it = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == name; });
  if (it == items_.end()) {
    items_.emplace_back(name, std::move(value));
  } else {
    it->second = std::move(value);
  }
}

void Attributes::erase(const std::string& name) {
  std::erase_if(items_, [&](const auto& item) { return item.first == name; });
}

}  // namespace lamella::array
