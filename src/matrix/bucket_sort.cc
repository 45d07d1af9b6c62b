#include "matrix/bucket_sort.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/memory.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kMajorBytes = 20;        // indptr, number of the bucket, and a cursor while a bucket is sorted
constexpr int64_t kLeastBuffer = 4 << 10;  // of a bucket while entries are dealt out
constexpr int64_t kMostBuffer = 1 << 20;
constexpr int64_t kPiece = 1 << 16;  // entries of a lone major that are read at a time

// A record: minor index, major from the start of its bucket (u32), value.
template <int64_t kValue>
void put_records(const EntryBlock& block, const std::vector<uint32_t>& bucket_of,
                 const std::vector<int64_t>& first_major, int64_t index_size, int64_t value_size,
                 std::vector<std::byte*>& places, const std::function<void(uint32_t)>& full,
                 const std::vector<std::byte*>& ends) {
  const int64_t bytes = kValue > 0 ? kValue : value_size;
  for (int64_t i = 0; i < block.n; ++i) {
    const uint32_t bucket = bucket_of[static_cast<size_t>(block.major[i])];
    std::byte* to = places[bucket];
    const auto major = static_cast<uint32_t>(block.major[i] - first_major[bucket]);
    if (index_size == 4) std::memcpy(to, &block.minor[i], 4);
    else std::memcpy(to, &block.minor[i], 8);
    std::memcpy(to + index_size, &major, 4);
    std::memcpy(to + index_size + 4, block.data + i * bytes, static_cast<size_t>(bytes));
    places[bucket] = to + index_size + 4 + bytes;
    if (places[bucket] == ends[bucket]) full(bucket);
  }
}

}  // namespace

BucketSort::BucketSort(SparsePtr source, Layout wanted)
    : OrderedEntries(source->layout() == wanted ? source->major() : source->minor(),
                     source->layout() == wanted ? source->minor() : source->major(), source->type()),
      source_(std::move(source)),
      swaps_(source_->layout() != wanted) {}

BucketSort::~BucketSort() {
  if (!spill_path_.empty()) unlink(spill_path_.c_str());
}

int64_t BucketSort::needed_bytes() const { return base_bytes() + (int64_t{8} << 20); }

int64_t BucketSort::base_bytes() const { return source_->working_bytes() + majors_ * kMajorBytes; }

void BucketSort::for_each(bool with_data, const SortResources& resources, const Sparse::Body& body) const {
  const Reading reading{resources.threads, (resources.memory - base_bytes()) / 4};
  source_->visit_all(with_data, reading, [&](const EntryBlock& block) {
    resources.check();
    body(swaps_ ? EntryBlock{block.n, block.minor, block.major, block.data} : block);
  });
}

void BucketSort::prepare(const SortResources& resources) {
  if (needed_bytes() > resources.memory) {
    throw Error(ErrorKind::OutOfBudget, "bringing the matrix into its new order needs " + format_bytes(needed_bytes()) +
                                            ", " + format_bytes(resources.memory) + " are left; give more --memory");
  }
  count(resources);
  const int64_t left = resources.memory - base_bytes();
  // A loaded bucket is there twice: as records and sorted.
  most_loaded_ = std::max<int64_t>(left / 2 / (2 * record_bytes()), 1);
  cut(most_loaded_);
  deal(resources);
}

void BucketSort::count(const SortResources& resources) {
  indptr_.assign(static_cast<size_t>(majors_) + 1, 0);
  for_each(false, resources, [&](const EntryBlock& block) {
    for (int64_t i = 0; i < block.n; ++i) ++indptr_[static_cast<size_t>(block.major[i]) + 1];
  });
  finish_counting();
}

void BucketSort::cut(int64_t most_entries) {
  for (int64_t major = 0; major < majors_;) {
    Bucket bucket{major, major + 1, indptr_[static_cast<size_t>(major)], 0};
    const int64_t limit = bucket.begin + most_entries;
    const auto end = std::upper_bound(indptr_.begin() + major + 1, indptr_.end(), limit) - indptr_.begin() - 1;
    bucket.end_major = std::max<int64_t>(static_cast<int64_t>(end), major + 1);
    bucket.end_major = std::min(bucket.end_major, major + UINT32_MAX);
    bucket.end = indptr_[static_cast<size_t>(bucket.end_major)];
    buckets_.push_back(bucket);
    major = bucket.end_major;
  }
}

// Second pass: every record to the next free place of its bucket.
void BucketSort::deal(const SortResources& resources) {
  if (nnz() == 0) return;
  const int64_t record = record_bytes();
  const size_t n = buckets_.size();
  std::vector<uint32_t> bucket_of(static_cast<size_t>(majors_));
  std::vector<int64_t> first_major(n), written(n);
  for (size_t b = 0; b < n; ++b) {
    first_major[b] = buckets_[b].first_major;
    written[b] = buckets_[b].begin * record;
    std::fill(bucket_of.begin() + buckets_[b].first_major, bucket_of.begin() + buckets_[b].end_major,
              static_cast<uint32_t>(b));
  }
  const bool spills = n > 1;
  std::unique_ptr<store::WriteFile> file;
  Buffer buffers;
  std::vector<std::byte*> starts(n), places(n), ends(n);
  if (spills) {
    const int64_t left = resources.memory - base_bytes();
    const int64_t each =
        std::clamp<int64_t>(left / 2 / static_cast<int64_t>(n), kLeastBuffer, kMostBuffer) / record * record;
    buffers = Buffer(each * static_cast<int64_t>(n));
    for (size_t b = 0; b < n; ++b) {
      starts[b] = places[b] = buffers.data() + each * static_cast<int64_t>(b);
      ends[b] = starts[b] + each;
    }
    spill_path_ = resources.scratch_folder + "/spill";
    file = store::create_local(spill_path_);
  } else {
    in_memory_ = Buffer(nnz() * record);
    starts[0] = places[0] = in_memory_.data();
    ends[0] = in_memory_.data() + in_memory_.size();
  }
  auto flush = [&](uint32_t b) {
    if (!spills || places[b] == starts[b]) return;
    file->write_at(written[b], {starts[b], static_cast<size_t>(places[b] - starts[b])});
    written[b] += places[b] - starts[b];
    places[b] = starts[b];
  };
  for_each(true, resources, [&](const EntryBlock& block) {
    const auto put = value_type_.size == 4   ? put_records<4>
                     : value_type_.size == 8 ? put_records<8>
                     : value_type_.size == 1 ? put_records<1>
                     : value_type_.size == 2 ? put_records<2>
                                             : put_records<0>;
    put(block, bucket_of, first_major, index_size_, value_type_.size, places, flush, ends);
  });
  for (size_t b = 0; b < n; ++b) flush(static_cast<uint32_t>(b));
  if (!spills) return;
  file.reset();
  spill_ = store::open_local(spill_path_);
}

const std::byte* BucketSort::records_of(const Bucket& bucket, Buffer& owner) const {
  if (!spill_) return in_memory_.data();
  owner = spill_->read(bucket.begin * record_bytes(), (bucket.end - bucket.begin) * record_bytes());
  return owner.data();
}

// Counting sort by major; stable, as the records of a bucket lie in the order of the stream.
void BucketSort::load(const Bucket& bucket) {
  if (loaded_ == &bucket) return;
  loaded_ = nullptr;
  const int64_t n = bucket.end - bucket.begin, value = value_type_.size;
  sorted_indices_ = Buffer();
  sorted_data_ = Buffer();
  Buffer owner;
  const std::byte* record = records_of(bucket, owner);
  sorted_indices_ = Buffer(n * index_size_);
  sorted_data_ = Buffer(n * value);
  std::vector<int64_t> next(indptr_.begin() + bucket.first_major, indptr_.begin() + bucket.end_major);
  for (int64_t i = 0; i < n; ++i, record += record_bytes()) {
    uint32_t major;
    std::memcpy(&major, record + index_size_, 4);
    const int64_t place = next[major]++ - bucket.begin;
    std::memcpy(sorted_indices_.data() + place * index_size_, record, static_cast<size_t>(index_size_));
    std::memcpy(sorted_data_.data() + place * value, record + index_size_ + 4, static_cast<size_t>(value));
  }
  if (source_->scattered()) sort_minors(bucket);
  loaded_ = &bucket;
}

// Where the source came in no order at all.
void BucketSort::sort_minors(const Bucket& bucket) {
  const int64_t value = value_type_.size;
  std::vector<int64_t> order;
  std::vector<std::byte> indices, data;
  const auto minor = [&](int64_t at) {
    int64_t out = 0;
    std::memcpy(&out, sorted_indices_.data() + at * index_size_, static_cast<size_t>(index_size_));
    return out;
  };
  for (int64_t major = bucket.first_major; major < bucket.end_major; ++major) {
    const int64_t begin = indptr_[static_cast<size_t>(major)] - bucket.begin;
    const int64_t n = indptr_[static_cast<size_t>(major) + 1] - bucket.begin - begin;
    order.resize(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), begin);
    const auto before = [&](int64_t a, int64_t b) { return minor(a) < minor(b); };
    if (std::is_sorted(order.begin(), order.end(), before)) continue;
    std::stable_sort(order.begin(), order.end(), before);
    indices.clear();
    data.clear();
    for (int64_t at : order) {
      indices.insert(indices.end(), sorted_indices_.data() + at * index_size_,
                     sorted_indices_.data() + (at + 1) * index_size_);
      data.insert(data.end(), sorted_data_.data() + at * value, sorted_data_.data() + (at + 1) * value);
    }
    std::copy(indices.begin(), indices.end(), sorted_indices_.data() + begin * index_size_);
    std::copy(data.begin(), data.end(), sorted_data_.data() + begin * value);
  }
}

// A single major is in order already, so nothing needs to be there whole.
void BucketSort::read_lone_major(int64_t begin, int64_t end, std::byte* indices, std::byte* data) const {
  for (int64_t at = begin; at < end; at += kPiece) {
    const int64_t n = std::min(kPiece, end - at);
    const Buffer records = spill_->read(at * record_bytes(), n * record_bytes());
    for (int64_t i = 0; i < n; ++i) {
      const std::byte* record = records.data() + i * record_bytes();
      std::memcpy(indices + (at - begin + i) * index_size_, record, static_cast<size_t>(index_size_));
      std::memcpy(data + (at - begin + i) * value_type_.size, record + index_size_ + 4,
                  static_cast<size_t>(value_type_.size));
    }
  }
}

void BucketSort::read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) {
  auto bucket =
      std::upper_bound(buckets_.begin(), buckets_.end(), begin, [](int64_t at, const Bucket& b) { return at < b.end; });
  for (int64_t at = begin; at < end; ++bucket) {
    const int64_t stop = std::min(end, bucket->end);
    if (stop <= at) continue;
    std::byte* to_indices = indices + (at - begin) * index_size_;
    std::byte* to_data = data + (at - begin) * value_type_.size;
    if (spill_ && bucket->end - bucket->begin > most_loaded_) {
      read_lone_major(at, stop, to_indices, to_data);
    } else {
      load(*bucket);
      std::memcpy(to_indices, sorted_indices_.data() + (at - bucket->begin) * index_size_,
                  static_cast<size_t>((stop - at) * index_size_));
      std::memcpy(to_data, sorted_data_.data() + (at - bucket->begin) * value_type_.size,
                  static_cast<size_t>((stop - at) * value_type_.size));
    }
    at = stop;
  }
}

}  // namespace lamella::matrix
