#include <map>
#include <mutex>
#include <set>

#include "store/store.h"

namespace lamella::store {
namespace {

class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::string name) : name_(std::move(name)) {}

  const std::string& name() const override { return name_; }

  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : memory_file(found->second, name_ + "/" + key);
  }

  std::vector<std::string> list(const std::string& prefix) const override {
    std::lock_guard lock(mutex_);
    const std::string start = prefix.empty() ? "" : prefix + "/";
    std::set<std::string> names;
    for (const auto& [key, value] : values_) {
      if (key.rfind(start, 0) != 0) continue;
      const size_t slash = key.find('/', start.size());
      names.insert(key.substr(start.size(), slash == std::string::npos ? slash : slash + 1 - start.size()));
    }
    return {names.begin(), names.end()};
  }

  void write(const std::string& key, ConstBytes value) override {
    check_key(key);
    std::lock_guard lock(mutex_);
    values_[key].assign(value.begin(), value.end());
  }
  void append(const std::string& key, ConstBytes bytes) override {
    check_key(key);
    std::lock_guard lock(mutex_);
    auto& value = values_[key];
    value.insert(value.end(), bytes.begin(), bytes.end());
  }
  void truncate(const std::string& key, int64_t size) override {
    check_key(key);
    std::lock_guard lock(mutex_);
    if (size == 0) values_.erase(key);
    else values_[key].resize(static_cast<size_t>(size));
  }
  void finish() override {}

 private:
  std::string name_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::byte>> values_;
};

}  // namespace

std::shared_ptr<Store> memory_store(std::string name) { return std::make_shared<MemoryStore>(std::move(name)); }

}  // namespace lamella::store
