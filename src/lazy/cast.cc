#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"
#include "base/utf8.h"
#include "lazy/expr.h"

namespace lamella::lazy {
namespace {

constexpr int64_t kStrip = int64_t{1} << 20;  // decoded source bytes that a thread converts at a time

// Fixed-length text to StringRefs: trailing nulls are padding.
void to_strings(const DType& from, const std::byte* in, StringRef* out, int64_t n, Heap& heap) {
  auto text = std::make_shared<std::string>();
  std::vector<std::pair<size_t, size_t>> spans;
  std::vector<std::byte> element(static_cast<size_t>(from.size));
  for (int64_t i = 0; i < n; ++i) {
    const size_t begin = text->size();
    std::copy_n(in + i * from.size, from.size, element.begin());
    if (from.kind == TypeKind::Bytes) {
      size_t length = element.size();
      while (length > 0 && element[length - 1] == std::byte{0}) --length;
      text->append(reinterpret_cast<const char*>(element.data()), length);
    } else {
      swap_bytes(from.big_endian ? from : DType::uint(1), element.data(), 1);
      std::vector<uint32_t> codes(element.size() / 4);
      std::memcpy(codes.data(), element.data(), codes.size() * 4);
      while (!codes.empty() && codes.back() == 0) codes.pop_back();
      for (uint32_t code : codes) append_utf8(*text, code);
    }
    spans.emplace_back(begin, text->size() - begin);
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto [begin, length] = spans[static_cast<size_t>(i)];
    out[i] = {text->data() + begin, static_cast<int64_t>(length)};
  }
  heap.adopt(std::static_pointer_cast<const void>(text));
}

// Null-padded UTF-8 to null-padded code points; what does not fit is cut off.
void to_unicode(const DType& from, const std::byte* in, const DType& to, std::byte* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i, in += from.size, out += to.size) {
    const auto* text = reinterpret_cast<const char*>(in);
    std::vector<uint32_t> codes = code_points({text, strnlen(text, static_cast<size_t>(from.size))});
    codes.resize(static_cast<size_t>(to.size / 4), 0);
    std::memcpy(out, codes.data(), static_cast<size_t>(to.size));
  }
}

// Swaps what differs between two types that differ in byte order only: of a record perhaps some fields.
void change_order(const DType& from, const DType& to, std::byte* data, int64_t elements) {
  if (from.kind != TypeKind::Struct) {
    if (from.big_endian != to.big_endian) swap_bytes(from, data, elements);
    return;
  }
  for (size_t f = 0; f < from.fields->size(); ++f) {
    const Field &a = (*from.fields)[f], &b = (*to.fields)[f];
    const int64_t inner = count(a.shape);
    for (int64_t i = 0; i < elements; ++i) change_order(a.type, b.type, data + i * from.size + a.offset, inner);
  }
}

bool is_fixed_text(const DType& type) { return type.kind == TypeKind::Bytes || type.kind == TypeKind::Unicode; }

class CastExpr : public Expr {
 public:
  CastExpr(ExprPtr inner, DType type) : Expr(inner->shape(), std::move(type)), inner_(std::move(inner)) {}

  void read(const Box& region, const View& to, Heap& heap, ThreadPool& threads) const override {
    if (region.empty() && !region.shape.empty()) return;
    // Strips along the first axis, so that the source's elements need little room.
    const int64_t rows = region.shape.empty() ? 1 : region.shape[0];
    const int64_t row_bytes =
        std::max<int64_t>(count(region.shape) / std::max<int64_t>(rows, 1) * inner_->type().size, 1);
    int64_t step = std::clamp<int64_t>(kStrip * threads.size() / row_bytes, 1, rows);
    const Shape grain = inner_->grain();
    if (!grain.empty() && step < rows) step = std::min(rows, round_up(step, grain[0]));
    for (int64_t begin = 0; begin < rows; begin += step) {
      Box part = region;
      Box inside{Shape(region.rank(), 0), region.shape};
      if (!region.shape.empty()) {
        inside.offset[0] = begin;
        inside.shape[0] = part.shape[0] = std::min(step, rows - begin);
        part.offset[0] += begin;
      }
      convert(part, to.sub(inside), heap, threads);
    }
  }

  Shape grain() const override { return inner_->grain(); }
  int64_t working_bytes() const override {
    return inner_->working_bytes() + std::min(2 * kStrip, count(shape()) * (inner_->type().size + type().size));
  }
  int64_t stored_bytes() const override { return inner_->stored_bytes(); }

 private:
  void convert(const Box& part, const View& to, Heap& heap, ThreadPool& threads) const {
    const int64_t n = count(part.shape);
    const int64_t from_size = inner_->type().size, to_size = type().size;
    Buffer raw(n * from_size);
    inner_->read(part, View::c_order(raw.data(), part.shape, from_size), heap, threads);
    const bool direct = is_c_contiguous(to.shape, to.strides, to_size);
    Buffer made(direct ? 0 : n * to_size);
    std::byte* out = direct ? to.data : made.data();
    if (type().kind == TypeKind::String) {
      to_strings(inner_->type(), raw.data(), reinterpret_cast<StringRef*>(out), n, heap);
    } else if (type().kind == TypeKind::Unicode && inner_->type().kind == TypeKind::Bytes) {
      to_unicode(inner_->type(), raw.data(), type(), out, n);
    } else if (type().is_numeric() && inner_->type().is_numeric()) {
      convert_elements(inner_->type(), raw.data(), type(), out, n);
    } else {  // the same type in another byte order
      std::memcpy(out, raw.data(), static_cast<size_t>(n * to_size));
      change_order(inner_->type(), type(), out, n);
    }
    if (!direct) copy_elements(to, ConstView::c_order(made.data(), part.shape, to_size), to_size);
  }

  ExprPtr inner_;
};

bool differs_in_order_only(const DType& a, const DType& b) {
  return little_endian(a) == little_endian(b) && a.size == b.size;
}

}  // namespace

ExprPtr cast(ExprPtr expr, DType type) {
  const DType& from = expr->type();
  if (from == type) return expr;
  const bool text = (is_fixed_text(from) && type.kind == TypeKind::String) ||
                    (from.kind == TypeKind::Bytes && type.kind == TypeKind::Unicode && !type.big_endian);
  if (!text && !can_convert(from, type) && !differs_in_order_only(from, type)) {
    throw Error(ErrorKind::Unsupported, "no cast from " + to_string(from) + " to " + to_string(type));
  }
  return std::make_shared<CastExpr>(std::move(expr), std::move(type));
}

}  // namespace lamella::lazy
