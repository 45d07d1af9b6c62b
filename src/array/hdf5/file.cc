#include "array/hdf5/file.h"

#include <algorithm>
#include <unordered_map>

#include "array/hdf5/attribute.h"
#include "array/hdf5/dataset.h"
#include "array/hdf5/links.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr size_t kDeepest = 512;

// The links are read when the group is opened, so that children() and child() cost nothing per call.
class FileGroup final : public Group {
 public:
  FileGroup(std::shared_ptr<const Container> container, const ObjectHeader& header, std::string path,
            std::vector<int64_t> ancestors)
      : container_(std::move(container)),
        path_(std::move(path)),
        name_(container_->name() + ": " + (path_.empty() ? "/" : path_)),
        address_(header.address()),
        ancestors_(std::move(ancestors)) {
    try {
      attributes_ = read_attributes(*container_, header, name_);
      links_ = read_links(*container_, header);
    } catch (Error& error) {
      throw error.prefix(name_);
    }
    ancestors_.push_back(address_);
    for (size_t i = 0; i < links_.size(); ++i) by_name_.emplace(links_[i].name, i);
  }

  const Attributes& attributes() const override { return attributes_; }
  const std::string& name() const override { return name_; }

  std::vector<std::string> children() const override {
    std::vector<std::string> names;
    for (const Link& link : links_) {
      if (link.kind != LinkKind::Soft || leads_somewhere(link)) names.push_back(link.name);
    }
    return names;
  }

  Node open_child(const std::string& name) const override {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return {};
    const Link& link = links_[found->second];
    const std::string path = path_ + "/" + name;
    const std::string place = container_->name() + ": " + path;
    if (link.kind == LinkKind::External) {
      throw Error(ErrorKind::Unsupported, place + ": is a link into another file (" + link.target +
                                              "), which is not followed; "
                                              "copy that element into this file");
    }
    if (link.kind == LinkKind::Other)
      throw Error(ErrorKind::Unsupported, place + ": is a link of a kind that only its author knows");
    try {
      const int64_t address = link.kind == LinkKind::Soft ? follow(*container_, address_, link.target) : link.address;
      if (address == kUndefined) return {};
      return open(address, path, place);
    } catch (Error& error) {
      if (std::string_view(error.what()).starts_with(place)) throw;
      throw error.prefix(place);
    }
  }

 private:
  bool leads_somewhere(const Link& link) const {
    try {
      return follow(*container_, address_, link.target) != kUndefined;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Unsupported;  // child() says why
    }
  }

  Node open(int64_t address, const std::string& path, const std::string& place) const {
    const ObjectHeader header(*container_, address);
    if (header.find(MessageType::Layout)) return {open_dataset(container_, header, place), nullptr};
    if (is_group(header)) {
      if (std::find(ancestors_.begin(), ancestors_.end(), address) != ancestors_.end()) {
        throw Error(ErrorKind::Unsupported,
                    place + ": is a link to a group that it lies in; the tree would have no end");
      }
      if (ancestors_.size() >= kDeepest) {
        throw Error(ErrorKind::Unsupported, place + ": lies deeper than " + std::to_string(kDeepest) + " groups");
      }
      return {nullptr, std::make_shared<FileGroup>(container_, header, path, ancestors_)};
    }
    throw Error(ErrorKind::Unsupported,
                place + (header.find(MessageType::Datatype)
                             ? ": is a committed datatype, which holds no data; take it out of the file, or convert "
                               "the elements beside it one by one"
                             : ": is neither a dataset nor a group"));
  }

  std::shared_ptr<const Container> container_;
  std::string path_;  // "/a/b"; "" for the root
  std::string name_;
  int64_t address_;
  std::vector<int64_t> ancestors_;
  Attributes attributes_;
  std::vector<Link> links_;
  std::unordered_map<std::string, size_t> by_name_;
};

}  // namespace

std::shared_ptr<const Group> open_file(std::shared_ptr<const store::ReadFile> file) {
  auto container = std::make_shared<const Container>(std::move(file));
  const ObjectHeader root(*container, container->super().root);
  if (!is_group(root)) container->corrupt("object header", root.address(), "of the root is not that of a group");
  return std::make_shared<FileGroup>(container, root, "", std::vector<int64_t>());
}

}  // namespace lamella::array::hdf5
