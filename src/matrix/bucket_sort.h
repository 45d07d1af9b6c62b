#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "matrix/ordered_entries.h"
#include "store/file.h"

namespace lamella::matrix {

// Brings the entries of a matrix into the order of another layout, or of its own where visit() would be dear, in
// bounded memory: the majors are counted, cut into buckets whose entries fit in memory, and all entries dealt out to
// their buckets, in a file if there is more than one. After prepare() the entries are read as if they lay there in
// order. One thread at a time.
class BucketSort final : public OrderedEntries {
 public:
  BucketSort(SparsePtr source, Layout wanted);
  ~BucketSort() override;

  void prepare(const SortResources& resources) override;
  void read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) override;
  int64_t needed_bytes() const override;

 private:
  struct Bucket {
    int64_t first_major = 0, end_major = 0;
    int64_t begin = 0, end = 0;  // entries
  };
  int64_t record_bytes() const { return index_size_ + 4 + value_type_.size; }
  void for_each(bool with_data, const SortResources& resources, const Sparse::Body& body) const;
  void count(const SortResources& resources);
  void cut(int64_t most_entries);
  void deal(const SortResources& resources);
  void load(const Bucket& bucket);
  void sort_minors(const Bucket& bucket);
  int64_t base_bytes() const;
  void read_lone_major(int64_t begin, int64_t end, std::byte* indices, std::byte* data) const;
  const std::byte* records_of(const Bucket& bucket, Buffer& owner) const;

  SparsePtr source_;
  bool swaps_;               // majors of the source are the minors here
  int64_t most_loaded_ = 0;  // entries of a bucket that may be loaded whole
  std::vector<Bucket> buckets_;
  Buffer in_memory_;  // the records, when there is one bucket
  std::string spill_path_;
  std::shared_ptr<const store::ReadFile> spill_;
  const Bucket* loaded_ = nullptr;
  Buffer sorted_indices_, sorted_data_;
};

}  // namespace lamella::matrix
