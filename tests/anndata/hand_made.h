#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"

// Trees of nodes without a store behind them: every array reads as its fill value.
namespace lamella::anndata {

class HandMadeArray final : public array::Array {
 public:
  using Array::Array;
  array::ChunkExtent locate(const Shape&) const override { return {}; }
  int64_t stored_bytes() const override { return 10; }
  int64_t stored_chunks() const override { return 0; }
};

class HandMadeGroup final : public array::Group {
 public:
  HandMadeGroup(array::Attributes attributes, std::vector<std::pair<std::string, array::Node>> children)
      : attributes_(std::move(attributes)), children_(std::move(children)) {}

  const array::Attributes& attributes() const override { return attributes_; }
  const std::string& name() const override { return name_; }
  std::vector<std::string> children() const override {
    std::vector<std::string> out;
    for (const auto& [name, node] : children_) out.push_back(name);
    return out;
  }
  array::Node open_child(const std::string& name) const override {
    for (const auto& [one, node] : children_) {
      if (one == name) return node;
    }
    return {};
  }

 private:
  array::Attributes attributes_;
  std::vector<std::pair<std::string, array::Node>> children_;
  std::string name_ = "made: /group";
};

inline array::Attributes attributes(std::vector<std::pair<std::string, Json>> values) {
  array::Attributes out;
  for (auto& [name, value] : values) out.set(name, std::move(value));
  return out;
}

inline array::Attributes encoded(const char* type, const char* version,
                                 std::vector<std::pair<std::string, Json>> more = {}) {
  more.insert(more.begin(), {{"encoding-type", type}, {"encoding-version", version}});
  return attributes(std::move(more));
}

inline array::Node make_array(Shape shape, DType type, array::Attributes attributes = {}) {
  array::ArraySpec spec;
  spec.shape = std::move(shape);
  spec.type = std::move(type);
  return {std::make_shared<HandMadeArray>(std::move(spec), std::move(attributes), "made: /array"), nullptr};
}

inline array::Node make_group(array::Attributes attributes,
                              std::vector<std::pair<std::string, array::Node>> children = {}) {
  return {nullptr, std::make_shared<HandMadeGroup>(std::move(attributes), std::move(children))};
}

inline array::Node make_frame(int64_t length) {
  return make_group(encoded("dataframe", "0.2.0", {{"_index", "_index"}, {"column-order", Json::array({"n"})}}),
                    {{"_index", make_array({length}, DType::string(), encoded("string-array", "0.2.0"))},
                     {"n", make_array({length}, DType::int_(4), encoded("array", "0.2.0"))}});
}

inline array::Node make_csr(Shape shape, Json stored_shape) {
  return make_group(encoded("csr_matrix", "0.1.0", {{"shape", std::move(stored_shape)}}),
                    {{"data", make_array({9}, DType::float_(4))},
                     {"indices", make_array({9}, DType::int_(4))},
                     {"indptr", make_array({shape[0] + 1}, DType::int_(4))}});
}

}  // namespace lamella::anndata
