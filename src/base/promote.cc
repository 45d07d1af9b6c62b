#include "base/promote.h"

#include <algorithm>

namespace lamella {
namespace {

bool is_integer(const DType& type) { return type.kind == TypeKind::Int || type.kind == TypeKind::UInt; }

// Bytes of the float that an integer of this size is held by.
int64_t float_for(const DType& type) {
  if (type.kind == TypeKind::Bool) return 2;
  if (is_integer(type)) return type.size == 1 ? 2 : type.size == 2 ? 4 : 8;
  return type.kind == TypeKind::Complex ? type.size / 2 : type.size;
}

}  // namespace

std::optional<DType> promote(const DType& a, const DType& b) {
  if (!a.is_numeric() || !b.is_numeric()) {
    if (little_endian(a) == little_endian(b)) return little_endian(a);
    return std::nullopt;
  }
  if (a.kind == TypeKind::Complex || b.kind == TypeKind::Complex) {
    const int64_t part = std::max<int64_t>({float_for(a), float_for(b), 4});
    return DType::make(TypeKind::Complex, 2 * part);
  }
  if (a.kind == TypeKind::Float || b.kind == TypeKind::Float)
    return DType::float_(std::max(float_for(a), float_for(b)));
  if (a.kind == TypeKind::Bool) return little_endian(b);
  if (b.kind == TypeKind::Bool) return little_endian(a);
  if (a.kind == b.kind) return DType::make(a.kind, std::max(a.size, b.size));
  const int64_t is_signed = a.kind == TypeKind::Int ? a.size : b.size;
  const int64_t is_unsigned = a.kind == TypeKind::Int ? b.size : a.size;
  if (is_signed > is_unsigned) return DType::int_(is_signed);
  return is_unsigned == 8 ? DType::float_(8) : DType::int_(2 * is_unsigned);
}

}  // namespace lamella
