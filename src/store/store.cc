#include "store/store.h"

#include "base/error.h"

namespace lamella::store {
namespace {

class SubStore : public Store {
 public:
  SubStore(std::shared_ptr<Store> store, std::string prefix)
      : store_(std::move(store)), prefix_(std::move(prefix)), name_(store_->name() + "/" + prefix_) {}

  const std::string& name() const override { return name_; }
  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    return store_->open(prefix_ + "/" + key);
  }
  std::optional<int64_t> size_of(const std::string& key) const override { return store_->size_of(prefix_ + "/" + key); }
  std::vector<std::string> list(const std::string& prefix) const override {
    return store_->list(prefix.empty() ? prefix_ : prefix_ + "/" + prefix);
  }

 private:
  std::shared_ptr<Store> store_;
  std::string prefix_;
  std::string name_;
};

[[noreturn]] void read_only(const Store& store) {
  throw Error(ErrorKind::Unsupported, store.name() + ": cannot be written; it was opened for reading");
}

}  // namespace

std::optional<Buffer> Store::read(const std::string& key) const {
  const auto file = open(key);
  if (!file) return std::nullopt;
  return file->read(0, file->size());
}

std::optional<int64_t> Store::size_of(const std::string& key) const {
  const auto file = open(key);
  if (!file) return std::nullopt;
  return file->size();
}

void Store::write(const std::string&, ConstBytes) { read_only(*this); }
void Store::append(const std::string&, ConstBytes) { read_only(*this); }
void Store::truncate(const std::string&, int64_t) { read_only(*this); }
void Store::finish() { read_only(*this); }

std::shared_ptr<Store> sub_store(std::shared_ptr<Store> store, const std::string& prefix) {
  return std::make_shared<SubStore>(std::move(store), prefix);
}

bool is_key(const std::string& key) {
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('/', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
    begin = end + 1;
  }
  return true;
}

void check_key(const std::string& key) {
  if (!is_key(key)) throw Error(ErrorKind::Invalid, "'" + key + "' is no key of a store");
}

}  // namespace lamella::store
