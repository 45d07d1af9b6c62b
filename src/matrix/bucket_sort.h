#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "matrix/entry_stream.h"
#include "store/file.h"

namespace lamella::matrix {

// What a sort may use. `check` is called now and then and may throw to stop it.
struct SortResources {
  int64_t memory = 0;  // resident bytes, all in all
  ThreadPool& threads;
  std::string scratch_folder;
  std::function<void()> check;
};

// Brings the entries of a stream into the order of their majors, keeping the stream's order within each, in bounded
// memory: the majors are counted, cut into buckets whose entries fit in memory, and all entries dealt out to their
// buckets, in a file if there is more than one. After prepare() the entries are read as if they lay there in order. One
// thread at a time.
class BucketSort {
 public:
  BucketSort(std::unique_ptr<EntryStream> entries, int64_t majors, int64_t minors, DType value_type);
  ~BucketSort();

  void prepare(const SortResources& resources);

  int64_t nnz() const { return indptr_.back(); }
  const std::vector<int64_t>& indptr() const { return indptr_; }  // majors + 1
  const DType& value_type() const { return value_type_; }
  // scipy's choice: 32 bits unless a dimension or the number of entries needs more. `nnz` must be known.
  DType index_type() const { return DType::int_(index_size_); }

  // Entries [begin, end) in order: indices in index_type(), values. Ascending ranges are cheapest.
  void read(int64_t begin, int64_t end, std::byte* indices, std::byte* data);

  // Least memory that prepare() works with.
  int64_t needed_bytes() const;

 private:
  struct Bucket {
    int64_t first_major = 0, end_major = 0;
    int64_t begin = 0, end = 0;  // entries
  };
  int64_t record_bytes() const { return index_size_ + 4 + value_type_.size; }
  void count(const SortResources& resources);
  void cut(int64_t most_entries);
  void deal(const SortResources& resources);
  void load(const Bucket& bucket);
  void read_lone_major(int64_t begin, int64_t end, std::byte* indices, std::byte* data) const;
  const std::byte* records_of(const Bucket& bucket, Buffer& owner) const;

  std::unique_ptr<EntryStream> entries_;
  int64_t majors_, minors_;
  DType value_type_;
  int64_t index_size_ = 4;
  int64_t most_loaded_ = 0;  // entries of a bucket that may be loaded whole
  std::vector<int64_t> indptr_;
  std::vector<Bucket> buckets_;
  Buffer in_memory_;  // the records, when there is one bucket
  std::string spill_path_;
  std::shared_ptr<const store::ReadFile> spill_;
  const Bucket* loaded_ = nullptr;
  Buffer sorted_indices_, sorted_data_;
};

}  // namespace lamella::matrix
