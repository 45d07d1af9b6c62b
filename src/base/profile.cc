#include "base/profile.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/memory.h"
#include "base/threads.h"

namespace lamella {
namespace {

constexpr std::array kNames = {"read", "decode", "transform", "encode", "write", "sync", "wait"};

struct Sum {
  std::atomic<int64_t> nanoseconds{0};
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> bytes{0};
};

// Plain atomics without destructors: they are read when the process ends.
std::array<Sum, kNames.size()> sums;
std::atomic<int64_t> began{0};
std::atomic<bool> shown{false};
thread_local Timed* current = nullptr;

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void print_at_end() {
  if (!shown) std::fputs(Profile::to_table().c_str(), stderr);
}

}  // namespace

std::atomic<int> Profile::state_{-1};

bool Profile::look_at_environment() {
  const char* text = std::getenv("LAMELLA_PROFILE");
  const bool wanted = text != nullptr && *text != '\0' && std::string(text) != "0";
  if (wanted) enable();
  else state_.store(0, std::memory_order_relaxed);
  return wanted;
}

void Profile::enable() {
  int64_t unset = 0;
  if (began.compare_exchange_strong(unset, now())) std::atexit(print_at_end);
  state_.store(1, std::memory_order_relaxed);
}

void Profile::mark_shown() { shown = true; }

void Profile::add(Stage stage, int64_t nanoseconds, int64_t bytes) {
  Sum& sum = sums[static_cast<size_t>(stage)];
  sum.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  sum.calls.fetch_add(1, std::memory_order_relaxed);
  sum.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

Json Profile::to_json() {
  Json stages = Json::array();
  for (size_t i = 0; i < kNames.size(); ++i) {
    const double seconds = static_cast<double>(sums[i].nanoseconds) * 1e-9;
    const int64_t bytes = sums[i].bytes;
    stages.push_back({{"stage", kNames[i]},
                      {"seconds", seconds},
                      {"calls", sums[i].calls.load()},
                      {"bytes", bytes},
                      {"bytes_per_second", seconds > 0 ? static_cast<double>(bytes) / seconds : 0.0}});
  }
  return {{"seconds", static_cast<double>(now() - began) * 1e-9},
          {"threads", available_processors()},
          {"stages", std::move(stages)}};
}

std::string Profile::to_table() {
  const Json profile = to_json();
  const double wall = profile["seconds"];
  char line[128];
  std::string out = "stage        seconds      %      calls        bytes         rate\n";
  double total = 0;
  for (const Json& stage : profile["stages"]) {
    const double seconds = stage["seconds"];
    total += seconds;
    const std::string rate = format_bytes(static_cast<int64_t>(stage["bytes_per_second"].get<double>())) + "/s";
    const bool sized = stage["bytes"].get<int64_t>() > 0;
    std::snprintf(line, sizeof(line), "%-10s %9.3f %6.1f %10lld %12s %12s\n", stage["stage"].get<std::string>().c_str(),
                  seconds, 100 * seconds / std::max(wall, 1e-9), stage["calls"].get<long long>(),
                  sized ? format_bytes(stage["bytes"]).c_str() : "-", sized ? rate.c_str() : "-");
    out += line;
  }
  std::snprintf(line, sizeof(line), "together   %9.3f %6.1f of %.3f s, all threads added up; %d processors\n", total,
                100 * total / std::max(wall, 1e-9), wall, profile["threads"].get<int>());
  return out + line;
}

void Timed::begin(Stage stage, int64_t bytes) {
  const bool in_codec = current != nullptr && (current->stage_ == Stage::Decode || current->stage_ == Stage::Encode);
  if (stage == Stage::Transform && in_codec) {  // what a codec copies and casts is the codec's
    on_ = false;
    return;
  }
  stage_ = stage;
  bytes_ = bytes;
  outer_ = current;
  current = this;
  begin_ = Clock::now();
}

void Timed::end() {
  const Clock::duration whole = Clock::now() - begin_;
  current = outer_;
  if (outer_ != nullptr) outer_->inner_ += whole;
  Profile::add(stage_, std::chrono::duration_cast<std::chrono::nanoseconds>(whole - inner_).count(), bytes_);
}

}  // namespace lamella
