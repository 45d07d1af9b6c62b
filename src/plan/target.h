#pragma once

#include <string>

#include "base/json.h"

namespace lamella::plan {

// The private place beside a target in which it is built: a folder ".NAME.lamella-partial" that holds the data, the
// journal, spill files and what identifies the run. Locked while in use. Removed when destroyed unless committed or
// kept.
class Target {
 public:
  // `identity` tells runs apart: a partial target is gone on with only if it has the same one and was left by this boot
  // of the machine (before the commit nothing is synced). Throws Exists when the target is there and may not be
  // replaced, or when somebody else is writing it.
  Target(const std::string& path, Json identity, bool overwrite, bool resume);
  ~Target();
  Target(const Target&) = delete;

  bool resumed() const { return resumed_; }
  const Json& identity() const { return identity_; }  // of the first run, when resumed
  std::string data_path() const { return folder_ + "/data"; }
  std::string journal_path() const { return folder_ + "/journal"; }
  const std::string& scratch_folder() const { return folder_; }

  // Puts the finished, synced data in the target's place: at no moment is neither the old nor the new one there.
  void commit();

  // Leaves the folder for a later --resume even though this run failed.
  void keep() { keep_ = true; }

 private:
  void lock();

  std::string path_;
  std::string folder_;
  Json identity_;
  bool overwrite_;
  bool resumed_ = false;
  bool keep_ = false;
  int lock_ = -1;
};

// Size and time of change of a file, or of the metadata documents of a folder: differs when the input was changed.
Json input_identity(const std::string& path);

}  // namespace lamella::plan
