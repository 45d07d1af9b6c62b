#include "plan/run.h"

#include "base/error.h"
#include "base/profile.h"

namespace lamella::plan {

void Meter::start(const std::string& element) {
  std::lock_guard lock(mutex_);
  element_ = element.empty() ? "/" : element;
  if (cancel_ != nullptr) cancel_->check();
}

void Meter::add(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (cancel_ != nullptr) cancel_->check();
  done_ += bytes;
  if (progress_ != nullptr) progress_->advance(done_, total_, element_);
}

OrderedAppend::OrderedAppend(Run& run, array::ArrayWriter& writer, int64_t array, int64_t window)
    : run_(run), writer_(writer), array_(array), window_(window), grid_(writer.spec().grid()) {}

void OrderedAppend::put(int64_t sequence, const Shape& chunk, array::EncodedChunk encoded) {
  std::unique_lock lock(mutex_);
  const auto may_go = [&] { return failed_ || sequence < next_ + window_; };
  if (!may_go()) {
    const Timed timed(Stage::Wait);
    moved_.wait(lock, may_go);
  }
  if (failed_) throw Error(ErrorKind::Cancelled, "stopped because another thread failed");
  ready_.emplace(sequence, Ready{chunk, std::move(encoded)});
  if (!draining_) drain(lock);
}

// One thread at a time appends whatever is next; the lock is open while it writes, so that others can put.
void OrderedAppend::drain(std::unique_lock<std::mutex>& lock) {
  draining_ = true;
  for (auto it = ready_.find(next_); it != ready_.end(); it = ready_.find(next_)) {
    Ready ready = std::move(it->second);
    ready_.erase(it);
    lock.unlock();
    try {
      const array::Placement placement = writer_.append(ready.chunk, std::move(ready.encoded));
      run_.journal.record({array_, grid_.linear(ready.chunk), placement});
    } catch (...) {
      lock.lock();
      draining_ = false;
      failed_ = true;
      moved_.notify_all();
      throw;
    }
    lock.lock();
    ++next_;
    moved_.notify_all();
  }
  draining_ = false;
}

void OrderedAppend::abort() {
  std::lock_guard lock(mutex_);
  failed_ = true;
  moved_.notify_all();
}

}  // namespace lamella::plan
