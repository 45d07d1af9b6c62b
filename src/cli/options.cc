#include "options.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/profile.h"

namespace lamella::cli {

int64_t CommonOptions::memory_bytes() const { return memory.empty() ? 0 : parse_bytes(memory); }

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_option(
      "--memory", options.memory,
      "Most resident memory of the whole process, e.g. 512MiB; default: a quarter of what is free, at least 256MiB");
  app.add_option("--threads", options.threads, "Threads; default: one per processor")->check(CLI::NonNegativeNumber);
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "Print errors only");
  app.add_flag_callback("--profile", Profile::enable,
                        "Show on stderr where the time went: read, decode, transform, encode, write, sync, wait");
}

void print_json(Json result) {
  if (Profile::on() && result.is_object()) {
    result["profile"] = Profile::to_json();
    Profile::mark_shown();
  }
  std::printf("%s\n", dump_json(result).c_str());
}

std::vector<int64_t> parse_shape(const std::string& text, const std::string& option) {
  std::vector<int64_t> shape;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    size_t used = 0;
    int64_t length = -1;
    try {
      length = std::stoll(part, &used);
    } catch (const std::exception&) {
    }
    if (length < 0 || used != part.size()) {
      throw Error(ErrorKind::Invalid, option + " '" + text + "': write lengths separated by commas, e.g. 1000,200");
    }
    shape.push_back(length);
    begin = end + 1;
  }
  return shape;
}

}  // namespace lamella::cli
