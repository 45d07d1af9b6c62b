#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/json.h"

namespace lamella::cli {

// What every verb takes.
struct CommonOptions {
  std::string memory;
  int threads = 0;
  bool json = false;
  bool quiet = false;

  int64_t memory_bytes() const;  // 0: not given
};

void add_common(CLI::App& app, CommonOptions& options);

// The result of a verb for --json, with a "profile" when there is one.
void print_json(Json result);

// "100,200" → {100, 200}. Throws Invalid.
std::vector<int64_t> parse_shape(const std::string& text, const std::string& option);

// Each adds its verb to the program. The callback does the work and throws lamella::Error.
void add_info(CLI::App& app);
void add_convert(CLI::App& app);
void add_concat(CLI::App& app);

}  // namespace lamella::cli
