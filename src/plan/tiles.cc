#include "plan/tiles.h"

#include <filesystem>

namespace lamella::plan {
TileFile::TileFile(Run& run, const CopyPlan& plan, int64_t array)
    : path_(run.scratch_folder + "/tiles-" + std::to_string(array) + ".h5") {
  const auto sink = array::create_sink(path_, {array::SinkFormat::Hdf5, false, false, false, false});
  sink->create_group("", {});
  Journal journal(path_ + ".journal", false);
  Run inner{*sink, journal, run.threads, run.meter, run.memory, run.scratch_folder};
  const auto writer = sink->create_array("tiles", plan.spec, {});
  run_copy(inner, plan, *writer, 0);
  sink->commit();
  expr_ = lazy::source(array::open(path_).root.group->child("tiles").array);
}

TileFile::~TileFile() {
  std::error_code ignored;  // the whole folder goes at the end
  std::filesystem::remove(path_, ignored);
  std::filesystem::remove(path_ + ".journal", ignored);
}

bool TileFile::fits(const Run& run, const CopyPlan& plan) {
  std::error_code error;
  const auto space = std::filesystem::space(run.scratch_folder, error);
  return error || static_cast<int64_t>(space.available) / 10 * 9 > plan.decoded_bytes();
}

}  // namespace lamella::plan
