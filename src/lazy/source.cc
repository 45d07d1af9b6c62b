#include "lazy/expr.h"

namespace lamella::lazy {
namespace {

class SourceExpr : public Expr {
 public:
  explicit SourceExpr(std::shared_ptr<const array::Array> array)
      : Expr(array->spec().shape, array->spec().type), array_(std::move(array)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    array_->read(region, to, heap, threads);
  }
  const array::Array* source() const override { return array_.get(); }
  Shape grain() const override { return array_->spec().chunks; }
  int64_t working_bytes() const override { return array_->chunk_working_bytes(); }
  int64_t stored_bytes() const override { return array_->stored_bytes(); }

 private:
  std::shared_ptr<const array::Array> array_;
};

}  // namespace

ExprPtr source(std::shared_ptr<const array::Array> array) { return std::make_shared<SourceExpr>(std::move(array)); }

}  // namespace lamella::lazy
