#include <libdeflate.h>

#include <mutex>
#include <set>

#include "base/error.h"
#include "store/store.h"
#include "store/zip_format.h"

namespace lamella::store {
namespace {

// Deflate cannot do better than 1032 : 1; a member that claims more is a bomb or broken.
constexpr int64_t kMostExpansion = 1032;

// libdeflate begins anew at a null pointer, and an empty span may be one.
uint32_t crc_of(uint32_t before, ConstBytes bytes) {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

class ZipStore : public Store {
 public:
  explicit ZipStore(std::shared_ptr<const ReadFile> file)
      : file_(std::move(file)), name_(file_->name()), members_(read_zip_directory(*file_)) {}

  const std::string& name() const override { return name_; }

  std::shared_ptr<const ReadFile> open(const std::string& key) const override {
    const auto found = members_.find(key);
    if (found == members_.end()) return nullptr;
    const ZipMember& member = found->second;
    const std::string name = name_ + "/" + key;
    if (member.encrypted) throw Error(ErrorKind::Unsupported, name + ": is encrypted; unpack the zip first");
    const int64_t position = zip_data_position(*file_, member);
    if (member.method == 0) {
      if (member.stored != member.size) throw Error(ErrorKind::Corrupt, name + ": is stored with two sizes");
      if (position > file_->size() - member.size)
        throw Error(ErrorKind::Corrupt, name + ": lies beyond the end of the zip");
      return slice_file(file_, position, member.size, name);
    }
    if (member.method == 8) return inflate(member, position, name);
    throw Error(ErrorKind::Unsupported, name + ": is packed by zip method " + std::to_string(member.method) +
                                            "; only stored and deflated members are read");
  }

  // The checksum covers the whole, so only here can that of a stored member be compared.
  std::optional<Buffer> read(const std::string& key) const override {
    std::optional<Buffer> value = Store::read(key);
    if (value && crc_of(0, value->bytes()) != members_.at(key).crc) {
      throw Error(ErrorKind::Corrupt, name_ + "/" + key + ": its bytes do not match their checksum");
    }
    return value;
  }

  std::optional<int64_t> size_of(const std::string& key) const override {
    const auto found = members_.find(key);
    if (found == members_.end()) return std::nullopt;
    return found->second.size;
  }

  std::vector<std::string> list(const std::string& prefix) const override {
    const std::string start = prefix.empty() ? "" : prefix + "/";
    std::vector<std::string> names;
    for (auto it = members_.lower_bound(start); it != members_.end() && it->first.rfind(start, 0) == 0; ++it) {
      const size_t slash = it->first.find('/', start.size());
      std::string name = it->first.substr(start.size(), slash == std::string::npos ? slash : slash + 1 - start.size());
      if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
  }

 private:
  std::shared_ptr<const ReadFile> inflate(const ZipMember& member, int64_t position, const std::string& name) const {
    if (member.size > member.stored * kMostExpansion + kMostExpansion) {
      throw Error(ErrorKind::Corrupt, name + ": claims to be " + std::to_string(member.size) + " bytes long");
    }
    const Buffer stored = file_->read(position, member.stored);
    std::vector<std::byte> value(static_cast<size_t>(member.size));
    libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
    const auto result = libdeflate_deflate_decompress(inflater, stored.data(), stored.bytes().size(), value.data(),
                                                      value.size(), nullptr);
    libdeflate_free_decompressor(inflater);
    if (result != LIBDEFLATE_SUCCESS || crc_of(0, value) != member.crc) {
      throw Error(ErrorKind::Corrupt, name + ": its deflated bytes are damaged");
    }
    return memory_file(std::move(value), name);
  }

  std::shared_ptr<const ReadFile> file_;
  std::string name_;
  std::map<std::string, ZipMember> members_;
};

// Writes members one behind the other. Sizes are known only when a growing member ends, so its header is written with
// room for 64-bit sizes and filled in then.
class ZipWriter : public Store {
 public:
  explicit ZipWriter(const std::string& path) : file_(create_local(path)), name_(path) {}

  const std::string& name() const override { return name_; }
  std::shared_ptr<const ReadFile> open(const std::string&) const override { return nullptr; }
  std::vector<std::string> list(const std::string&) const override { return {}; }
  bool interleaves() const override { return false; }

  void write(const std::string& key, ConstBytes value) override {
    std::lock_guard lock(mutex_);
    close_member();
    append_to(key, value);
    close_member();
  }

  void append(const std::string& key, ConstBytes bytes) override {
    std::lock_guard lock(mutex_);
    append_to(key, bytes);
  }

  void truncate(const std::string&, int64_t size) override {
    if (size > 0) throw Error(ErrorKind::Unsupported, name_ + ": an interrupted zip cannot be gone on with");
  }

  void finish() override {
    std::lock_guard lock(mutex_);
    close_member();
    write_directory();
    file_->sync();
  }

 private:
  struct Member {
    std::string key;
    int64_t header = 0, size = 0;
    uint32_t crc = 0;
  };

  void append_to(const std::string& key, ConstBytes bytes) {
    check_key(key);
    if (key != current_) begin_member(key);
    file_->append(bytes);
    Member& member = members_.back();
    member.size += static_cast<int64_t>(bytes.size());
    member.crc = crc_of(member.crc, bytes);
  }

  void begin_member(const std::string& key) {
    close_member();
    if (key.size() > 0xffff) throw Error(ErrorKind::Invalid, name_ + ": a key is longer than a zip can hold");
    if (!keys_.insert(key).second) throw Error(ErrorKind::Bug, name_ + ": key '" + key + "' is written twice");
    current_ = key;
    members_.push_back({key, file_->size(), 0, 0});
    file_->append(local_header(members_.back()));
  }

  void close_member() {
    if (current_.empty()) return;
    file_->write_at(members_.back().header, local_header(members_.back()));
    current_.clear();
  }

  // Numbers, little-endian, one behind the other.
  class Record {
   public:
    Record& put(uint64_t value, int width) {
      for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
      return *this;
    }
    Record& put(const std::string& text) {
      for (char c : text) bytes_.push_back(static_cast<std::byte>(c));
      return *this;
    }
    operator ConstBytes() const { return bytes_; }  // NOLINT: a record is its bytes
    size_t size() const { return bytes_.size(); }

   private:
    std::vector<std::byte> bytes_;
  };

  static constexpr uint64_t kDate = 0x0021;  // 1980-01-01: the same bytes at every run

  static Record local_header(const Member& member) {
    Record record;
    record.put(0x04034b50, 4).put(45, 2).put(0x0800, 2).put(0, 2).put(0, 2).put(kDate, 2).put(member.crc, 4);
    record.put(0xffffffff, 4).put(0xffffffff, 4).put(member.key.size(), 2).put(20, 2).put(member.key);
    record.put(1, 2).put(16, 2).put(static_cast<uint64_t>(member.size), 8).put(static_cast<uint64_t>(member.size), 8);
    return record;
  }

  static Record central_header(const Member& member) {
    Record record;
    record.put(0x02014b50, 4)
        .put(0x032d, 2)
        .put(45, 2)
        .put(0x0800, 2)
        .put(0, 2)
        .put(0, 2)
        .put(kDate, 2)
        .put(member.crc, 4);
    record.put(0xffffffff, 4).put(0xffffffff, 4).put(member.key.size(), 2).put(28, 2).put(0, 2).put(0, 2).put(0, 2);
    record.put(uint64_t{0100644} << 16, 4).put(0xffffffff, 4).put(member.key);
    record.put(1, 2).put(24, 2).put(static_cast<uint64_t>(member.size), 8).put(static_cast<uint64_t>(member.size), 8);
    record.put(static_cast<uint64_t>(member.header), 8);
    return record;
  }

  void write_directory() {
    const auto begin = static_cast<uint64_t>(file_->size());
    for (const Member& member : members_) file_->append(central_header(member));
    const auto end = static_cast<uint64_t>(file_->size());
    const uint64_t n = members_.size();
    Record record;
    record.put(0x06064b50, 4).put(44, 8).put(0x032d, 2).put(45, 2).put(0, 4).put(0, 4).put(n, 8).put(n, 8);
    record.put(end - begin, 8).put(begin, 8);
    record.put(0x07064b50, 4).put(0, 4).put(end, 8).put(1, 4);
    const uint64_t few = std::min<uint64_t>(n, 0xffff);
    record.put(0x06054b50, 4).put(0, 2).put(0, 2).put(few, 2).put(few, 2);
    record.put(std::min<uint64_t>(end - begin, 0xffffffff), 4).put(std::min<uint64_t>(begin, 0xffffffff), 4).put(0, 2);
    file_->append(record);
  }

  std::mutex mutex_;
  std::unique_ptr<WriteFile> file_;
  std::string name_;
  std::string current_;
  std::vector<Member> members_;
  std::set<std::string> keys_;
};

}  // namespace

std::shared_ptr<Store> open_zip(const std::string& path) { return open_zip(open_local(path)); }
std::shared_ptr<Store> open_zip(std::shared_ptr<const ReadFile> file) {
  return std::make_shared<ZipStore>(std::move(file));
}
std::shared_ptr<Store> create_zip(const std::string& path) { return std::make_shared<ZipWriter>(path); }

}  // namespace lamella::store
