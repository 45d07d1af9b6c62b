#include "progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/memory.h"

namespace lamella::cli {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof(text), "%lld h %02lld min", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60));
  else if (whole >= 60)
    std::snprintf(text, sizeof(text), "%lld min %02lld s", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  else std::snprintf(text, sizeof(text), "%lld s", static_cast<long long>(whole));
  return text;
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1 : 79;
}

}  // namespace

ProgressLine::ProgressLine(bool quiet)
    : active_(!quiet && isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()), last_(begin_) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::advance(int64_t done, int64_t total, const std::string& element) {
  if (!active_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200) && done < total) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  std::string line = std::to_string(total > 0 ? done * 100 / total : 100) + " %  " + format_bytes(done) + " of " +
                     format_bytes(total) + "  " + format_bytes(static_cast<int64_t>(rate)) + "/s  " + clock_text(left) +
                     " left  " + element;
  line.resize(std::min(line.size(), terminal_width()));
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace lamella::cli
