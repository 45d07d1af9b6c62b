#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "matrix/ordered_entries.h"
#include "store/file.h"

namespace lamella::matrix {

// Brings the entries of a matrix into the order of another layout, or of its own where visit() would be dear, in
// bounded memory: the majors are counted and cut into buckets of neighbours, all entries are dealt out to their
// buckets, and each bucket is sorted when it is read. Records of a bucket are kept by the share of the source that they
// come from, so shares are dealt out side by side and the order of the source is not lost. They go to a file when they
// do not fit. The result does not depend on threads or memory.
class BucketSort final : public OrderedEntries {
 public:
  BucketSort(SparsePtr source, Layout wanted);
  ~BucketSort() override;

  void prepare(const SortResources& resources) override;
  void read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) override;
  bool sorts() const override { return true; }
  int64_t needed_bytes() const override;

 private:
  struct Bucket {
    int64_t first_major = 0, end_major = 0;
    int64_t begin = 0, end = 0;  // entries
    int64_t size() const { return end - begin; }
  };
  // Some records of one bucket and one share, in the order of the source.
  struct Extent {
    int64_t position = 0, bytes = 0;  // in the file
    Buffer kept;                      // or here
  };
  using Extents = std::vector<Extent>;
  // A bucket in order.
  struct Sorted {
    const Bucket* bucket = nullptr;
    Buffer indices, data;
  };
  class Dealer;

  static constexpr int64_t kMajorSize = 2;
  int64_t record_bytes() const { return index_size_ + kMajorSize + value_type_.size; }
  int64_t base_bytes() const;
  void count(const SortResources& resources, int64_t memory);
  void cut(int64_t most_entries);
  void deal(const SortResources& resources, int64_t memory);
  std::vector<Extents>::iterator extents_of(const Bucket& bucket);  // one for each share
  template <class Body>
  void for_each_run(const Bucket& bucket, int64_t begin, int64_t end, const Body& body);
  void sort(Sorted& sorted);
  void sort_minors(Sorted& sorted) const;
  const Sorted& load(std::vector<Bucket>::const_iterator bucket);
  void read_lone_major(const Bucket& bucket, int64_t begin, int64_t end, std::byte* indices, std::byte* data);

  SparsePtr source_;
  bool swaps_;  // majors of the source are the minors here
  ThreadPool* threads_ = nullptr;
  int64_t shares_ = 1;
  int64_t most_sorted_ = 0;  // entries that may lie there sorted at a time
  std::vector<Bucket> buckets_;
  std::vector<Extents> extents_;  // of bucket 0 in every share, of bucket 1 …
  bool spills_ = false;
  std::string spill_path_;
  std::atomic<int64_t> spill_end_ = 0;
  std::shared_ptr<const store::ReadFile> spill_;
  std::vector<Sorted> sorted_;
};

}  // namespace lamella::matrix
