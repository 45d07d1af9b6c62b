#include "matrix/bucket_sort.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "matrix/entry_run.h"

namespace lamella::matrix {
namespace {

constexpr int64_t kMostMajors = int64_t{1} << 16;  // of a bucket: as kMajorSize bytes can number
constexpr int64_t kMajorBytes = 20;        // indptr, number of the bucket, and a cursor while a bucket is sorted
constexpr int64_t kLeastBuffer = 4 << 10;  // of a bucket while entries are dealt out
constexpr int64_t kMostBuffer = 256 << 10;
constexpr int64_t kBucketEntries = 512 << 10;  // sorting larger ones misses the caches

// As many threads of the pool as are wanted.
class SomeThreads {
 public:
  SomeThreads(ThreadPool& all, int64_t wanted) : few_(static_cast<int>(wanted)), all_(all) {}
  ThreadPool& pool() { return few_.size() == all_.size() ? all_ : few_; }

 private:
  ThreadPool few_;
  ThreadPool& all_;
};

}  // namespace

// Deals the entries of one share out to all buckets. A record: minor, major from the start of its bucket (u16), value.
class BucketSort::Dealer {
 public:
  Dealer(BucketSort& sort, const std::vector<uint32_t>& bucket_of, store::WriteFile* file, int64_t share,
         int64_t buffer_bytes)
      : sort_(sort), bucket_of_(bucket_of), file_(file), share_(share), piles_(sort.buckets_.size()) {
    buffer_bytes_ = std::max<int64_t>(buffer_bytes / sort.record_bytes(), 1) * sort.record_bytes();
    for (size_t b = 0; b < piles_.size(); ++b) piles_[b].first_major = sort.buckets_[b].first_major;
  }

  void take(const EntryBlock& block) {
    const int64_t size = sort_.value_type_.size;
    if (size == 4) put<4>(block);
    else if (size == 8) put<8>(block);
    else put<0>(block);
  }

  void finish() {
    for (size_t b = 0; b < piles_.size(); ++b) flush(b, true);
  }

 private:
  struct Pile {
    std::byte *next = nullptr, *end = nullptr;
    int64_t first_major = 0;
    Buffer buffer;
  };

  template <int64_t kValue>
  void put(const EntryBlock& block) {
    const int64_t bytes = kValue > 0 ? kValue : sort_.value_type_.size, index = sort_.index_size_;
    for (int64_t i = 0; i < block.n; ++i) {
      const uint32_t bucket = bucket_of_[static_cast<size_t>(block.major[i])];
      Pile& pile = piles_[bucket];
      if (pile.next == pile.end) flush(bucket, false);
      const auto major = static_cast<uint16_t>(block.major[i] - pile.first_major);
      if (index == 4) std::memcpy(pile.next, &block.minor[i], 4);
      else std::memcpy(pile.next, &block.minor[i], 8);
      std::memcpy(pile.next + index, &major, kMajorSize);
      std::memcpy(pile.next + index + kMajorSize, block.data + i * bytes, static_cast<size_t>(bytes));
      pile.next += index + kMajorSize + bytes;
    }
  }

  // Puts away what lies on a pile and begins a new one, unless it was the last.
  void flush(size_t bucket, bool last) {
    Pile& pile = piles_[bucket];
    const int64_t bytes = pile.next - pile.buffer.data();
    if (bytes > 0) {
      Extent extent{0, bytes, {}};
      if (file_ != nullptr) {
        extent.position = sort_.spill_end_.fetch_add(bytes);
        file_->write_at(extent.position, pile.buffer.bytes().first(static_cast<size_t>(bytes)));
      } else {
        extent.kept =
            last ? Buffer::copy_of(pile.buffer.bytes().first(static_cast<size_t>(bytes))) : std::move(pile.buffer);
      }
      sort_.extents_of(sort_.buckets_[bucket])[share_].push_back(std::move(extent));
    }
    if (last) pile.buffer = Buffer();
    else if (pile.buffer.empty()) pile.buffer = Buffer(buffer_bytes_);
    pile.next = pile.buffer.data();
    pile.end = pile.next + pile.buffer.size();
  }

  BucketSort& sort_;
  const std::vector<uint32_t>& bucket_of_;
  store::WriteFile* file_;
  int64_t share_;
  int64_t buffer_bytes_;
  std::vector<Pile> piles_;
};

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

void BucketSort::prepare(const SortResources& resources) {
  if (needed_bytes() > resources.memory) {
    throw Error(ErrorKind::OutOfBudget, "bringing the matrix into its new order needs " + format_bytes(needed_bytes()) +
                                            ", " + format_bytes(resources.memory) + " are left; give more --memory");
  }
  threads_ = &resources.threads;
  shares_ = share_count(*source_, resources.threads);
  const int64_t memory = resources.memory - majors_ * kMajorBytes;
  count(resources, memory);
  spills_ = nnz() * record_bytes() > memory / 2;
  // What is sorted lies there beside the records that it comes from.
  most_sorted_ = std::max<int64_t>(memory / 4 / (2 * record_bytes()), 1);
  const int64_t for_all_threads = std::max<int64_t>(nnz() / (int64_t{4} * resources.threads.size()), 64 << 10);
  cut(std::min({most_sorted_ / resources.threads.size() + 1, kBucketEntries, for_all_threads}));
  deal(resources, memory);
}

void BucketSort::count(const SortResources& resources, int64_t memory) {
  indptr_.assign(static_cast<size_t>(majors_) + 1, 0);
  const int64_t counters = memory / 4 / (majors_ * 8 + 1);
  const int64_t workers = std::max<int64_t>(std::min(visitors(*source_, *threads_, memory / 2), counters), 1);
  SomeThreads some(*threads_, workers);
  std::mutex mutex;
  some.pool().parallel_for(shares_, [&](int64_t share) {
    std::vector<int64_t> own(workers > 1 ? static_cast<size_t>(majors_) : 0);
    int64_t* counts = workers > 1 ? own.data() : indptr_.data() + 1;
    const Reading reading{some.pool(), memory / 4 / workers};
    source_->visit_share(share, shares_, false, reading, [&](const EntryBlock& block) {
      resources.check();
      const int64_t* majors = swaps_ ? block.minor : block.major;
      for (int64_t i = 0; i < block.n; ++i) ++counts[majors[i]];
    });
    std::lock_guard lock(mutex);
    for (size_t major = 0; major < own.size(); ++major) indptr_[major + 1] += own[major];
  });
  finish_counting();
}

void BucketSort::cut(int64_t most_entries) {
  for (int64_t major = 0; major < majors_;) {
    Bucket bucket{major, major + 1, indptr_[static_cast<size_t>(major)], 0};
    const int64_t limit = bucket.begin + most_entries;
    const auto end = std::upper_bound(indptr_.begin() + major + 1, indptr_.end(), limit) - indptr_.begin() - 1;
    bucket.end_major = std::max<int64_t>(static_cast<int64_t>(end), major + 1);
    bucket.end_major = std::min(bucket.end_major, major + kMostMajors);
    bucket.end = indptr_[static_cast<size_t>(bucket.end_major)];
    buckets_.push_back(bucket);
    major = bucket.end_major;
  }
  extents_.resize(buckets_.size() * static_cast<size_t>(shares_));
}

// Second pass: every record to its bucket.
void BucketSort::deal(const SortResources& resources, int64_t memory) {
  if (nnz() == 0) return;
  std::vector<uint32_t> bucket_of(static_cast<size_t>(majors_));
  for (size_t b = 0; b < buckets_.size(); ++b)
    std::fill(bucket_of.begin() + buckets_[b].first_major, bucket_of.begin() + buckets_[b].end_major,
              static_cast<uint32_t>(b));
  std::unique_ptr<store::WriteFile> file;
  if (spills_) {
    spill_path_ = resources.scratch_folder + "/spill";
    file = store::create_local(spill_path_);
  }
  const auto buckets = static_cast<int64_t>(buckets_.size());
  const int64_t workers =
      std::clamp<int64_t>(memory / 4 / (buckets * kLeastBuffer), 1, visitors(*source_, *threads_, memory / 4));
  const int64_t buffer = std::clamp<int64_t>(memory / 4 / workers / buckets, kLeastBuffer, kMostBuffer);
  SomeThreads some(*threads_, workers);
  some.pool().parallel_for(shares_, [&](int64_t share) {
    Dealer dealer(*this, bucket_of, file.get(), share, buffer);
    const Reading reading{some.pool(), memory / 8 / workers};
    source_->visit_share(share, shares_, true, reading, [&](const EntryBlock& block) {
      resources.check();
      dealer.take(swaps_ ? EntryBlock{block.n, block.minor, block.major, block.data} : block);
    });
    dealer.finish();
  });
  file.reset();
  if (spills_) spill_ = store::open_local(spill_path_);
}

std::vector<BucketSort::Extents>::iterator BucketSort::extents_of(const Bucket& bucket) {
  return extents_.begin() + (&bucket - buckets_.data()) * shares_;
}

// Calls body(records, first, n) with the records of a bucket in the order of the source, numbered as entries are:
// those [begin, end) and some beside them.
template <class Body>
void BucketSort::for_each_run(const Bucket& bucket, int64_t begin, int64_t end, const Body& body) {
  Buffer read;
  int64_t at = bucket.begin;
  for (auto share = extents_of(bucket); share != extents_of(bucket) + shares_; ++share) {
    for (const Extent& extent : *share) {
      const int64_t first = at, n = extent.bytes / record_bytes();
      at += n;
      if (at <= begin || first >= end) continue;
      if (spills_) {
        if (read.size() < extent.bytes) read = Buffer(extent.bytes);
        spill_->read_at(extent.position, read.bytes().first(static_cast<size_t>(extent.bytes)));
      }
      body(spills_ ? read.data() : extent.kept.data(), first, n);
    }
  }
}

// Counting sort by major; stable, as the records of a bucket come in the order of the source.
void BucketSort::sort(Sorted& sorted) {
  const Bucket& bucket = *sorted.bucket;
  const int64_t value = value_type_.size, width = record_bytes();
  sorted.indices = Buffer(bucket.size() * index_size_);
  sorted.data = Buffer(bucket.size() * value);
  std::vector<int64_t> next(indptr_.begin() + bucket.first_major, indptr_.begin() + bucket.end_major);
  for_each_run(bucket, bucket.begin, bucket.end, [&](const std::byte* record, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i, record += width) {
      uint16_t major;
      std::memcpy(&major, record + index_size_, kMajorSize);
      const int64_t place = next[major]++ - bucket.begin;
      if (index_size_ == 4) std::memcpy(sorted.indices.data() + place * 4, record, 4);
      else std::memcpy(sorted.indices.data() + place * 8, record, 8);
      if (value == 4) std::memcpy(sorted.data.data() + place * 4, record + index_size_ + kMajorSize, 4);
      else
        std::memcpy(sorted.data.data() + place * value, record + index_size_ + kMajorSize, static_cast<size_t>(value));
    }
  });
  if (source_->scattered()) sort_minors(sorted);
}

// Where the source came in no order at all.
void BucketSort::sort_minors(Sorted& sorted) const {
  const int64_t value = value_type_.size;
  std::vector<int64_t> order;
  std::vector<std::byte> indices, data;
  const auto minor = [&](int64_t at) {
    int64_t out = 0;
    std::memcpy(&out, sorted.indices.data() + at * index_size_, static_cast<size_t>(index_size_));
    return out;
  };
  for (int64_t major = sorted.bucket->first_major; major < sorted.bucket->end_major; ++major) {
    const int64_t begin = indptr_[static_cast<size_t>(major)] - sorted.bucket->begin;
    const int64_t n = indptr_[static_cast<size_t>(major) + 1] - sorted.bucket->begin - begin;
    order.resize(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), begin);
    const auto before = [&](int64_t a, int64_t b) { return minor(a) < minor(b); };
    if (std::is_sorted(order.begin(), order.end(), before)) continue;
    std::stable_sort(order.begin(), order.end(), before);
    indices.clear();
    data.clear();
    for (int64_t at : order) {
      indices.insert(indices.end(), sorted.indices.data() + at * index_size_,
                     sorted.indices.data() + (at + 1) * index_size_);
      data.insert(data.end(), sorted.data.data() + at * value, sorted.data.data() + (at + 1) * value);
    }
    std::copy(indices.begin(), indices.end(), sorted.indices.data() + begin * index_size_);
    std::copy(data.begin(), data.end(), sorted.data.data() + begin * value);
  }
}

// Sorted, together with those that follow: one for each thread, as far as they fit.
const BucketSort::Sorted& BucketSort::load(std::vector<Bucket>::const_iterator bucket) {
  for (const Sorted& sorted : sorted_) {
    if (sorted.bucket == &*bucket) return sorted;
  }
  sorted_.clear();
  int64_t entries = 0;
  for (auto next = bucket; next != buckets_.cend(); ++next) {
    entries += next->size();
    const bool enough = static_cast<int>(sorted_.size()) == threads_->size() || entries > most_sorted_;
    if (enough && !sorted_.empty()) break;
    sorted_.push_back({&*next, {}, {}});
  }
  threads_->parallel_for(static_cast<int64_t>(sorted_.size()),
                         [&](int64_t i) { sort(sorted_[static_cast<size_t>(i)]); });
  return sorted_.front();
}

// Too long to be there whole. It is in order already where the source was.
void BucketSort::read_lone_major(const Bucket& bucket, int64_t begin, int64_t end, std::byte* indices,
                                 std::byte* data) {
  const int64_t value = value_type_.size;
  for_each_run(bucket, begin, end, [&](const std::byte* records, int64_t first, int64_t n) {
    for (int64_t i = std::max(begin, first); i < std::min(end, first + n); ++i) {
      const std::byte* record = records + (i - first) * record_bytes();
      std::memcpy(indices + (i - begin) * index_size_, record, static_cast<size_t>(index_size_));
      std::memcpy(data + (i - begin) * value, record + index_size_ + kMajorSize, static_cast<size_t>(value));
    }
  });
}

void BucketSort::read(int64_t begin, int64_t end, std::byte* indices, std::byte* data) {
  auto bucket = std::upper_bound(buckets_.cbegin(), buckets_.cend(), begin,
                                 [](int64_t at, const Bucket& b) { return at < b.end; });
  for (int64_t at = begin; at < end; ++bucket) {
    const int64_t stop = std::min(end, bucket->end), n = stop - at, value = value_type_.size;
    if (n <= 0) continue;
    std::byte* to_indices = indices + (at - begin) * index_size_;
    std::byte* to_data = data + (at - begin) * value;
    if (bucket->size() > most_sorted_) {
      read_lone_major(*bucket, at, stop, to_indices, to_data);
    } else {
      const Sorted& sorted = load(bucket);
      const int64_t from = at - bucket->begin;
      std::memcpy(to_indices, sorted.indices.data() + from * index_size_, static_cast<size_t>(n * index_size_));
      std::memcpy(to_data, sorted.data.data() + from * value, static_cast<size_t>(n * value));
    }
    at = stop;
  }
}

}  // namespace lamella::matrix
