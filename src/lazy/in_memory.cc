#include <cstring>

#include "lazy/expr.h"

namespace lamella::lazy {
namespace {

class MemoryExpr : public Expr {
 public:
  MemoryExpr(Shape shape, DType type, const std::byte* data, std::shared_ptr<const void> owner)
      : Expr(std::move(shape), std::move(type)), data_(data), owner_(std::move(owner)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool&) const override {
    copy_elements(to, ConstView::c_order(data_, shape(), type().size).sub(region), type().size);
    if (type().has_references_to_heap()) heap.adopt(owner_);
  }

 private:
  const std::byte* data_;
  std::shared_ptr<const void> owner_;
};

class FillExpr : public Expr {
 public:
  FillExpr(Shape shape, DType type, std::vector<std::byte> element)
      : Expr(std::move(shape), std::move(type)), element_(std::move(element)) {}

  void read(const Box&, const View& to, Heap&, ThreadPool&) const override {
    if (count(to.shape) > 0) fill_elements(to, element_.data(), type().size);
  }

 private:
  std::vector<std::byte> element_;
};

// Texts and the references to them, in one place.
struct StringTable {
  std::string text;
  std::vector<StringRef> refs;
};

}  // namespace

ExprPtr in_memory(Shape shape, DType type, const std::byte* data, std::shared_ptr<const void> owner) {
  return std::make_shared<MemoryExpr>(std::move(shape), std::move(type), data, std::move(owner));
}

ExprPtr in_memory(Shape shape, DType type, Buffer data) {
  auto owner = std::make_shared<Buffer>(std::move(data));
  const std::byte* bytes = owner->data();
  return in_memory(std::move(shape), std::move(type), bytes, std::move(owner));
}

ExprPtr strings(const std::vector<std::string>& values) {
  auto table = std::make_shared<StringTable>();
  for (const std::string& value : values) table->text += value;
  const char* at = table->text.data();
  for (const std::string& value : values) {
    table->refs.push_back({at, static_cast<int64_t>(value.size())});
    at += value.size();
  }
  const auto* data = reinterpret_cast<const std::byte*>(table->refs.data());
  return in_memory({static_cast<int64_t>(values.size())}, DType::string(), data, table);
}

ExprPtr string_scalar(const std::string& value) { return reshape(strings({value}), {}); }

ExprPtr fill(Shape shape, DType type, std::vector<std::byte> element) {
  element.resize(static_cast<size_t>(type.size));
  return std::make_shared<FillExpr>(std::move(shape), std::move(type), std::move(element));
}

}  // namespace lamella::lazy
