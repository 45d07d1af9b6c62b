// The command-line program. Exit status: 0 done, 1 the work failed, 2 the command was wrong.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/json.h"
#include "options.h"

namespace {

// Small allocations must not grow beside the budget: two arenas for all threads, freed pages given back at once.
void tame_malloc() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // not below: blosc takes some 300 kB for each chunk, and fresh pages are slow
}

int report(const lamella::Error& error) {
  std::fprintf(stderr, "lamella: %s\n", error.what());
  return error.kind() == lamella::ErrorKind::Invalid ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tame_malloc();
  CLI::App app{"lamella: AnnData stores and chunked arrays, out of core", "lamella"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "lamella " LAMELLA_VERSION);
  lamella::cli::add_info(app);
  lamella::cli::add_convert(app);
  lamella::cli::add_concat(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
  } catch (const lamella::Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    std::fputs("lamella: the system has no more memory; give a smaller --memory\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lamella: internal error: %s\n", error.what());
    return 1;
  }
}
