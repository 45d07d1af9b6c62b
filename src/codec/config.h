#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace lamella::codec {

// Takes the members of a codec's configuration one by one. Wrong types and values out of range throw Invalid naming
// codec and member; finish() throws Unsupported for a member that nobody took, since it may change what the bytes mean.
class ConfigReader {
 public:
  ConfigReader(std::string_view codec, const Json& config);

  bool has(std::string_view key) const { return config_.contains(std::string(key)); }
  // No fallback: the member must be there.
  int64_t integer(std::string_view key, std::optional<int64_t> fallback,
                  int64_t low = std::numeric_limits<int64_t>::min(),
                  int64_t high = std::numeric_limits<int64_t>::max());
  double number(std::string_view key, std::optional<double> fallback);  // also "NaN", "Infinity", "-Infinity"
  bool boolean(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::optional<std::string> fallback,
                   std::initializer_list<std::string_view> allowed = {});
  std::vector<int64_t> integers(std::string_view key);
  const Json& value(std::string_view key);
  void finish() const;

  [[noreturn]] void fail(std::string_view key, const std::string& wanted) const;

 private:
  const Json* find(std::string_view key);

  std::string codec_;
  const Json& config_;
  std::vector<std::string> taken_;
};

}  // namespace lamella::codec
