#include "matrix/ordered_entries.h"

#include "base/error.h"
#include "base/memory.h"
#include "matrix/bucket_sort.h"
#include "matrix/entry_run.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kSlices = int64_t{1} << 16;  // majors that are counted between two checks

// As they come from the source.
class StraightEntries final : public OrderedEntries {
 public:
  explicit StraightEntries(SparsePtr source)
      : OrderedEntries(source->major(), source->minor(), source->type()), source_(std::move(source)) {}

  void prepare(const SortResources& resources) override {
    if (needed_bytes() > resources.memory) {
      throw Error(ErrorKind::OutOfBudget, "the matrix needs " + format_bytes(needed_bytes()) + ", " +
                                              format_bytes(resources.memory) + " are left; give more --memory");
    }
    threads_ = &resources.threads;
    memory_ = resources.memory - needed_bytes() + kLeast + source_->working_bytes();
    indptr_.assign(1, 0);
    for (int64_t begin = 0; begin < majors_; begin += kSlices) {
      resources.check();
      const auto some = source_->counts(begin, std::min(begin + kSlices, majors_), {*threads_, memory_});
      indptr_.insert(indptr_.end(), some.begin(), some.end());
    }
    finish_counting();
  }

  void read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) override {
    read_run(*source_, indptr_, begin, end, index_size_, indices, data, {*threads_, memory_});
  }

  bool sorts() const override { return false; }
  int64_t needed_bytes() const override { return source_->working_bytes() + majors_ * 8 + kLeast; }

 private:
  static constexpr int64_t kLeast = int64_t{4} << 20;
  SparsePtr source_;
  ThreadPool* threads_ = nullptr;
  int64_t memory_ = kLeast;
};

}  // namespace

void OrderedEntries::finish_counting() {
  for (size_t i = 1; i < indptr_.size(); ++i) indptr_[i] = checked_add(indptr_[i], indptr_[i - 1]);
  index_size_ = lamella::matrix::index_type(majors_, minors_, nnz()).size;
}

std::unique_ptr<OrderedEntries> ordered_entries(const Matrix& source, Layout wanted) {
  SparsePtr sparse = source.sparse ? source.sparse : nonzeros(source.dense);
  if (sparse->layout() == wanted && !sparse->scattered()) return std::make_unique<StraightEntries>(std::move(sparse));
  return std::make_unique<BucketSort>(std::move(sparse), wanted);
}

}  // namespace lamella::matrix
