#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "store/store.h"

namespace lamella::store {

// What a reader asked of a store. May be read while others count.
struct Requests {
  std::atomic<int64_t> opens{0}, reads{0}, bytes{0};
};

// Counts what passes through to another store; each read may wait first, as on a network. Read-only.
class CountingStore : public Store {
 public:
  explicit CountingStore(std::shared_ptr<const Store> store, std::chrono::microseconds latency = {})
      : store_(std::move(store)), latency_(latency), requests_(std::make_shared<Requests>()) {}

  const Requests& requests() const { return *requests_; }

  const std::string& name() const override { return store_->name(); }
  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    ++requests_->opens;
    auto file = store_->open(key);
    return file ? std::make_shared<CountingFile>(std::move(file), latency_, requests_) : nullptr;
  }
  std::optional<int64_t> size_of(const std::string& key) const override { return store_->size_of(key); }
  std::vector<std::string> list(const std::string& prefix) const override { return store_->list(prefix); }

 private:
  class CountingFile : public ReadFile {
   public:
    CountingFile(std::shared_ptr<const ReadFile> file, std::chrono::microseconds latency,
                 std::shared_ptr<Requests> requests)
        : file_(std::move(file)), latency_(latency), requests_(std::move(requests)) {}

    int64_t size() const override { return file_->size(); }
    const std::string& name() const override { return file_->name(); }
    void read_at(int64_t position, Bytes out) const override {
      count(static_cast<int64_t>(out.size()));
      file_->read_at(position, out);
    }
    void read_many(const std::vector<Piece>& pieces) const override {
      int64_t bytes = 0;
      for (const Piece& piece : pieces) bytes += static_cast<int64_t>(piece.out.size());
      count(bytes);
      file_->read_many(pieces);
    }

   private:
    void count(int64_t bytes) const {
      if (latency_.count() > 0) std::this_thread::sleep_for(latency_);
      ++requests_->reads;
      requests_->bytes += bytes;
    }

    std::shared_ptr<const ReadFile> file_;
    std::chrono::microseconds latency_;
    std::shared_ptr<Requests> requests_;
  };

  std::shared_ptr<const Store> store_;
  std::chrono::microseconds latency_;
  std::shared_ptr<Requests> requests_;
};

}  // namespace lamella::store
