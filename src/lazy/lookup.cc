#include "lazy/lookup.h"

#include <cstring>

#include "base/error.h"

namespace lamella::lazy {
namespace {

class Derived : public Expr {
 public:
  Derived(ExprPtr inner, DType type) : Expr(inner->shape(), std::move(type)), inner_(std::move(inner)) {}
  Shape grain() const override { return inner_->grain(); }
  int64_t working_bytes() const override { return inner_->working_bytes(); }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }

 protected:
  ExprPtr inner_;
};

class LookupExpr final : public Derived {
 public:
  LookupExpr(ExprPtr codes, DType type, std::shared_ptr<const Buffer> table, std::vector<std::byte> other,
             std::shared_ptr<const void> owner)
      : Derived(cast(std::move(codes), DType::int_(8)), std::move(type)),
        table_(std::move(table)),
        other_(std::move(other)),
        owner_(std::move(owner)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    const int64_t n = count(region.shape), size = type().size, known = table_->size() / size;
    std::vector<int64_t> codes(static_cast<size_t>(n));
    inner_->read(region, View::c_order(reinterpret_cast<std::byte*>(codes.data()), region.shape, 8), heap, threads);
    Buffer out(n * size);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t code = codes[static_cast<size_t>(i)];
      if (code >= known)
        throw Error(ErrorKind::Corrupt,
                    "code " + std::to_string(code) + " of " + std::to_string(known) + " categories");
      const std::byte* from = code < 0 ? other_.data() : table_->data() + code * size;
      std::memcpy(out.data() + i * size, from, static_cast<size_t>(size));
    }
    copy_elements(to, read_only(View::c_order(out.data(), region.shape, size)), size);
    if (type().has_references_to_heap()) {
      heap.adopt(owner_);
      heap.adopt(std::static_pointer_cast<const void>(table_));
    }
  }

 private:
  std::shared_ptr<const Buffer> table_;
  std::vector<std::byte> other_;
  std::shared_ptr<const void> owner_;
};

class SuffixExpr final : public Derived {
 public:
  SuffixExpr(ExprPtr strings, std::string suffix) : Derived(strings, strings->type()), suffix_(std::move(suffix)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    const int64_t n = count(region.shape);
    std::vector<StringRef> refs(static_cast<size_t>(n));
    const View view = View::c_order(reinterpret_cast<std::byte*>(refs.data()), region.shape, sizeof(StringRef));
    Heap own;
    inner_->read(region, view, own, threads);
    auto text = std::make_shared<std::string>();
    size_t bytes = 0;
    for (const StringRef& ref : refs) bytes += static_cast<size_t>(ref.size) + suffix_.size();
    text->reserve(bytes);
    for (StringRef& ref : refs) {
      const size_t begin = text->size();
      if (ref.size > 0) text->append(ref.data, static_cast<size_t>(ref.size));
      text->append(suffix_);
      ref = {text->data() + begin, static_cast<int64_t>(text->size() - begin)};
    }
    copy_elements(to, read_only(view), sizeof(StringRef));
    heap.adopt(std::static_pointer_cast<const void>(text));
  }

 private:
  std::string suffix_;
};

}  // namespace

ExprPtr lookup(ExprPtr codes, DType type, std::shared_ptr<const Buffer> table, std::vector<std::byte> other,
               std::shared_ptr<const void> owner) {
  other.resize(static_cast<size_t>(type.size));
  return std::make_shared<LookupExpr>(std::move(codes), std::move(type), std::move(table), std::move(other),
                                      std::move(owner));
}

ExprPtr with_suffix(ExprPtr strings, std::string suffix) {
  if (strings->type().kind != TypeKind::String) throw Error(ErrorKind::Invalid, "only strings take a suffix");
  return std::make_shared<SuffixExpr>(std::move(strings), std::move(suffix));
}

}  // namespace lamella::lazy
