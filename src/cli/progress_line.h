#pragma once

#include <chrono>
#include <string>

#include "base/progress.h"

namespace lamella::cli {

// One line on stderr that is rewritten in place: element, share, rate, time left. Silent where stderr is no terminal.
class ProgressLine : public Progress {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() override;
  void advance(int64_t done, int64_t total, const std::string& element) override;

 private:
  bool active_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace lamella::cli
