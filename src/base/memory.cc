#include "base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/error.h"

namespace lamella {
namespace {

// A field of /proc in kB, or -1.
int64_t proc_kilobytes(const char* file, const std::string& field) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoll(line.substr(field.size() + 1));
  }
  return -1;
}

int64_t number_in(const char* file) {  // -1 when absent or "max"
  std::ifstream in(file);
  int64_t value = -1;
  return in >> value ? value : -1;
}

}  // namespace

int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  int64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t peak_resident_bytes() { return std::max<int64_t>(proc_kilobytes("/proc/self/status", "VmHWM"), 0) * 1024; }

int64_t default_memory_budget() {
  int64_t free = std::max<int64_t>(proc_kilobytes("/proc/meminfo", "MemAvailable"), 0) * 1024;
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit > 0) free = std::min(free, limit - std::max<int64_t>(number_in("/sys/fs/cgroup/memory.current"), 0));
  return std::max<int64_t>(free / 4, int64_t{256} << 20);
}

void make_resident(Bytes memory, ThreadPool& threads) {
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t kPage = 4096, kPiece = uintptr_t{4} << 20;  // whole huge pages
  const auto begin = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage, end = (begin + memory.size()) / kPage * kPage;
  if (end < first + kPiece) return;
  const uintptr_t origin = first / kPiece * kPiece;
  threads.parallel_for(static_cast<int64_t>((end - origin + kPiece - 1) / kPiece), [&](int64_t i) {
    const uintptr_t piece = origin + static_cast<uintptr_t>(i) * kPiece;
    const uintptr_t from = std::max(piece, first), to = std::min(piece + kPiece, end);
    // Kernels before 5.14 do not know it, some memory cannot have it: then the writes themselves bring the pages.
    madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
  });
#else
  (void)memory, (void)threads;
#endif
}

int64_t parse_bytes(const std::string& text) {
  size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  std::string unit;
  for (size_t i = used; i < text.size(); ++i) {
    if (text[i] != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  double factor = 1;
  if (!unit.empty() && unit != "b") {
    const size_t power = std::string("kmgtp").find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string::npos || (rest != "" && rest != "b" && rest != "ib")) value = -1;
    else factor = std::pow(rest == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  const double bytes = value * factor;
  if (!(value >= 0) || !(bytes < 9e18)) {
    throw Error(ErrorKind::Invalid, "'" + text + "' is no size in bytes; write 512MiB, 1G or 64kB");
  }
  return static_cast<int64_t>(bytes);
}

std::string format_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (std::abs(value) >= 1024 && unit < 5) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace lamella
