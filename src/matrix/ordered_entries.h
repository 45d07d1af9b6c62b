#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "matrix/matrix.h"

namespace lamella::matrix {

// What bringing entries into order may use. `check` is called now and then and may throw to stop it.
struct SortResources {
  int64_t memory = 0;  // resident bytes, all in all
  ThreadPool& threads;
  std::string scratch_folder;
  std::function<void()> check;
};

// The entries of a matrix in the order of a layout, read by their number. One thread at a time.
class OrderedEntries {
 public:
  virtual ~OrderedEntries() = default;

  // Counts the entries, and brings them into order if they are in another.
  virtual void prepare(const SortResources& resources) = 0;

  // After prepare():
  int64_t nnz() const { return indptr_.back(); }
  const std::vector<int64_t>& indptr() const { return indptr_; }  // majors + 1
  const DType& value_type() const { return value_type_; }
  DType index_type() const { return DType::int_(index_size_); }
  // Entries [begin, end) in order: indices in index_type(), values. Ascending ranges are cheapest.
  virtual void read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) = 0;

  // Do they come in another order?
  virtual bool sorts() const = 0;

  // Least memory that prepare() works with.
  virtual int64_t needed_bytes() const = 0;

 protected:
  OrderedEntries(int64_t majors, int64_t minors, DType value_type)
      : majors_(majors), minors_(minors), value_type_(std::move(value_type)) {}
  // From the counts of the majors, which stand one place behind.
  void finish_counting();

  int64_t majors_, minors_;
  DType value_type_;
  int64_t index_size_ = 4;
  std::vector<int64_t> indptr_;
};

// By the shortest way: as the entries come, where the source has the wanted layout, else through a BucketSort. A dense
// matrix gives the entries that are not zero.
std::unique_ptr<OrderedEntries> ordered_entries(const Matrix& source, Layout wanted);

}  // namespace lamella::matrix
