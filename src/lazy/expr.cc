#include "lazy/expr.h"

namespace lamella::lazy {

Buffer Expr::read_all(Heap& heap) const {
  Buffer out(checked_mul(count(shape_), type_.size));
  read(Box::whole(shape_), View::c_order(out.data(), shape_, type_.size), heap, ThreadPool::shared());
  return out;
}

}  // namespace lamella::lazy
