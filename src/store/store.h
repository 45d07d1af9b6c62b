#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/file.h"

namespace lamella::store {

// A map from keys ("a/b/c", no leading slash) to runs of bytes. Thread-safe. Absence is not an error.
class Store {
 public:
  virtual ~Store() = default;
  virtual const std::string& name() const = 0;  // path as the user wrote it

  // Null when there is no such key.
  virtual std::shared_ptr<const ReadFile> open(const std::string& key) const = 0;

  // The whole value; empty optional when there is no such key.
  virtual std::optional<Buffer> read(const std::string& key) const;

  // Bytes of a value without reading it; nothing when there is no such key.
  virtual std::optional<int64_t> size_of(const std::string& key) const;

  // Names directly below `prefix` ("" or "a/b"), sorted bytewise; a name that ends in "/" has keys below it.
  virtual std::vector<std::string> list(const std::string& prefix) const = 0;

  // Writers. A store that cannot be written throws Unsupported.
  // The whole value at once; a reader sees the old one or the new one.
  virtual void write(const std::string& key, ConstBytes value);
  // Appends to a value that grows; what readers see before finish() is undefined. Zip: one key at a time.
  virtual void append(const std::string& key, ConstBytes bytes);
  // Cuts a value that grows to `size`, as resume needs after a crash (0: removes it).
  virtual void truncate(const std::string& key, int64_t size);
  // May several keys grow at the same time?
  virtual bool interleaves() const { return true; }
  // Everything on the device, names included. Called once, at commit.
  virtual void finish();
};

std::shared_ptr<Store> open_directory(const std::string& path);    // must exist
std::shared_ptr<Store> create_directory(const std::string& path);  // made when missing; existing keys stay
std::shared_ptr<Store> open_zip(const std::string& path);          // read-only; stored and deflated members, zip64
std::shared_ptr<Store> open_zip(std::shared_ptr<const ReadFile> file);
// Write-only; members are stored, in the order of writing, with fixed times. A key is written once. An interrupted zip
// is begun again: truncate() to anything but 0 throws Unsupported.
std::shared_ptr<Store> create_zip(const std::string& path);
std::shared_ptr<Store> memory_store(std::string name = "memory");  // read and write; for tests

// Everything below `prefix/` of another store, seen from there. Read-only.
std::shared_ptr<Store> sub_store(std::shared_ptr<Store> store, const std::string& prefix);

// False for a key that is empty, absolute, or has "", "." or ".." in it; check_key() throws Invalid for such a key.
bool is_key(const std::string& key);
void check_key(const std::string& key);

}  // namespace lamella::store
