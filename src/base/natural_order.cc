#include "base/natural_order.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace lamella {
namespace {

struct Parts {
  uint32_t letter;
  uint32_t parts[3];  // 0 where there are fewer
};
constexpr Parts kLatin[] = {
#include "base/latin_parts.inc"
};

// Letters and marks apart, so that "Ä" stands beside "A".
std::string decomposed(std::string_view text) {
  std::string out;
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  for (uint32_t code : code_points(text)) {
    const auto* found = std::lower_bound(std::begin(kLatin), std::end(kLatin), code,
                                         [](const Parts& parts, uint32_t letter) { return parts.letter < letter; });
    if (found == std::end(kLatin) || found->letter != code) {
      append_utf8(out, code);
      continue;
    }
    for (uint32_t part : found->parts) {
      if (part != 0) append_utf8(out, part);
    }
  }
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Cuts the next run off: of digits, or of anything else.
std::string_view take_run(std::string_view& text, bool digits) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n]) == digits) ++n;
  const std::string_view run = text.substr(0, n);
  text.remove_prefix(n);
  return run;
}

int compare_numbers(std::string_view a, std::string_view b) {
  while (!a.empty() && a.front() == '0') a.remove_prefix(1);
  while (!b.empty() && b.front() == '0') b.remove_prefix(1);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

// Text and numbers take turns, text first, if only an empty one.
bool natural_less(std::string_view text_a, std::string_view text_b) {
  const std::string whole_a = decomposed(text_a), whole_b = decomposed(text_b);
  std::string_view a = whole_a, b = whole_b;
  for (bool digits = false;; digits = !digits) {
    if (a.empty() || b.empty()) return a.empty() && !b.empty();
    const std::string_view run_a = take_run(a, digits), run_b = take_run(b, digits);
    const int order = digits ? compare_numbers(run_a, run_b) : run_a.compare(run_b);
    if (order != 0) return order < 0;
  }
}

}  // namespace lamella
