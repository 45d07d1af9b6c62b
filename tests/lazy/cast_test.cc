#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "lazy/expr.h"

namespace lamella::lazy {
namespace {

TEST(Cast, SwapsOnlyTheFieldsThatDiffer) {
  const auto record = [](bool big) {
    const DType inner = DType::record({{"x", 0, DType::make(TypeKind::Int, 2, big), {}}}, 2);
    return DType::record(
        {{"a", 0, DType::make(TypeKind::Int, 4, big), {}}, {"b", 4, DType::int_(2), {}}, {"c", 6, inner, {2}}}, 10);
  };
  const std::string bytes = "abcdefghij";
  std::vector<std::byte> element(10);
  std::memcpy(element.data(), bytes.data(), 10);
  const ExprPtr little = cast(fill({2}, record(true), element), record(false));
  std::string out(20, ' ');
  Heap heap;
  little->read(Box::whole({2}), View::c_order(reinterpret_cast<std::byte*>(out.data()), {2}, 10), heap,
               ThreadPool::shared());
  EXPECT_EQ(out, "dcbaefhgjidcbaefhgji");
}

}  // namespace
}  // namespace lamella::lazy
