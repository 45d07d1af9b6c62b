#pragma once

#include <string>

#include "plan/copy.h"

namespace lamella::plan {

// The intermediate file of a copy: uncompressed tiles in HDF5, in the scratch folder of the run, gone with this object.
// Neither synced nor resumed.
class TileFile {
 public:
  // Fills it by `plan`, for array number `array`.
  TileFile(Run& run, const CopyPlan& plan, int64_t array);
  ~TileFile();
  TileFile(const TileFile&) = delete;

  const lazy::ExprPtr& expr() const { return expr_; }

  // Is there room for it? Where there is none, the source is read again and again.
  static bool fits(const Run& run, const CopyPlan& plan);

 private:
  std::string path_;
  lazy::ExprPtr expr_;
};

}  // namespace lamella::plan
