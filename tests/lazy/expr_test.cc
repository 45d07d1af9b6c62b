#include "lazy/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace lamella::lazy {
namespace {

template <class T>
ExprPtr numbers(Shape shape, DType type, const std::vector<T>& values) {
  Buffer data(static_cast<int64_t>(values.size() * sizeof(T)));
  std::memcpy(data.data(), values.data(), values.size() * sizeof(T));
  return in_memory(std::move(shape), std::move(type), std::move(data));
}

template <class T>
std::vector<T> elements(const Expr& expr, const Box& region) {
  std::vector<T> out(static_cast<size_t>(count(region.shape)));
  Heap heap;
  expr.read(region, View::c_order(reinterpret_cast<std::byte*>(out.data()), region.shape, sizeof(T)), heap,
            ThreadPool::shared());
  return out;
}

template <class T>
std::vector<T> elements(const ExprPtr& expr) {
  return elements<T>(*expr, Box::whole(expr->shape()));
}

std::vector<std::string> texts(const ExprPtr& expr) {
  Heap heap;
  const Buffer raw = expr->read_all(heap);
  std::vector<std::string> out;
  for (int64_t i = 0; i < count(expr->shape()); ++i) {
    StringRef ref;
    std::memcpy(&ref, raw.data() + i * expr->type().size, sizeof ref);
    out.emplace_back(ref.size == 0 ? "" : std::string(ref.data, static_cast<size_t>(ref.size)));
  }
  return out;
}

ErrorKind kind_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::Bug;
}

ExprPtr twelve() {
  std::vector<int32_t> values(12);
  for (int32_t i = 0; i < 12; ++i) values[static_cast<size_t>(i)] = i;
  return numbers<int32_t>({3, 4}, DType::int_(4), values);
}

TEST(Expr, MemoryGivesRegions) {
  EXPECT_EQ(elements<int32_t>(*twelve(), Box{{1, 2}, {2, 2}}), (std::vector<int32_t>{6, 7, 10, 11}));
  EXPECT_EQ(twelve()->source(), nullptr);
}

TEST(Expr, StringsOutliveTheirExpression) {
  Heap heap;
  Buffer raw;
  { raw = strings({"a", "", "größer"})->read_all(heap); }
  StringRef last;
  std::memcpy(&last, raw.data() + 2 * sizeof(StringRef), sizeof last);
  EXPECT_EQ(std::string(last.data, static_cast<size_t>(last.size)), "größer");
  EXPECT_TRUE(string_scalar("x")->shape().empty());
  EXPECT_EQ(texts(string_scalar("x")), std::vector<std::string>{"x"});
  EXPECT_TRUE(texts(strings({})).empty());
}

TEST(Expr, FillIsTheSameEverywhere) {
  const ExprPtr zeros = fill({5}, DType::boolean(), {});
  EXPECT_EQ(elements<uint8_t>(zeros), std::vector<uint8_t>(5, 0));
  const ExprPtr sevens = fill({2, 2}, DType::int_(2), {std::byte{7}, std::byte{0}});
  EXPECT_EQ(elements<int16_t>(*sevens, Box{{0, 1}, {2, 1}}), (std::vector<int16_t>{7, 7}));
}

TEST(Expr, CastsNumbersAsNumpyDoes) {
  const ExprPtr floats = numbers<double>({4}, DType::float_(8), {1.9, -1.9, 0.0, 300.25});
  EXPECT_EQ(elements<int32_t>(cast(floats, DType::int_(4))), (std::vector<int32_t>{1, -1, 0, 300}));
  EXPECT_EQ(elements<uint8_t>(cast(floats, DType::boolean())), (std::vector<uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(elements<float>(cast(floats, DType::float_(4))), (std::vector<float>{1.9f, -1.9f, 0.0f, 300.25f}));
  EXPECT_EQ(cast(floats, DType::float_(8)), floats);
}

TEST(Expr, CastsByteOrder) {
  const ExprPtr big = numbers<uint16_t>({2}, DType::make(TypeKind::UInt, 2, true), {0x0100, 0x0200});
  EXPECT_EQ(elements<uint16_t>(cast(big, DType::uint(2))), (std::vector<uint16_t>{1, 2}));
  EXPECT_EQ(elements<double>(cast(big, DType::float_(8))), (std::vector<double>{1, 2}));
}

TEST(Expr, CastsLongColumnsStripByStrip) {
  const int64_t n = 3'000'000;
  Buffer data(n * 4);
  auto* values = reinterpret_cast<int32_t*>(data.data());
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(i);
  const ExprPtr wide = cast(in_memory({n}, DType::int_(4), std::move(data)), DType::int_(8));
  const std::vector<int64_t> got = elements<int64_t>(*wide, Box{{1}, {n - 1}});
  for (int64_t i = 0; i + 1 < n; i += 997) ASSERT_EQ(got[static_cast<size_t>(i)], i + 1);
}

TEST(Expr, CastsFixedTextToStrings) {
  Buffer bytes(6);
  std::memcpy(bytes.data(), "ab\0abc", 6);
  EXPECT_EQ(texts(cast(in_memory({2}, DType::make(TypeKind::Bytes, 3), std::move(bytes)), DType::string())),
            (std::vector<std::string>{"ab", "abc"}));
  const std::vector<uint32_t> codes = {U'ü', U'𝄞', 0, 0, 0xd800, U'z'};
  EXPECT_EQ(texts(cast(numbers<uint32_t>({2}, DType::make(TypeKind::Unicode, 12), codes), DType::string())),
            (std::vector<std::string>{"ü𝄞", std::string(1, '\0') + "\uFFFDz"}));
}

TEST(Expr, CastsOfOtherKindsAreRefused) {
  EXPECT_EQ(kind_of([] { cast(strings({"1"}), DType::int_(4)); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([] { cast(fill({1}, DType::make(TypeKind::Complex, 8), {}), DType::float_(4)); }),
            ErrorKind::Unsupported);
}

TEST(Expr, FieldsOfRecords) {
  struct Record {
    int32_t number;
    float pair[2];
  };
  const DType type =
      DType::record({{"number", 0, DType::int_(4), {}}, {"pair", 4, DType::float_(4), {2}}}, sizeof(Record));
  const ExprPtr records = numbers<Record>({3}, type, {{1, {1, 2}}, {2, {3, 4}}, {3, {5, 6}}});
  EXPECT_EQ(elements<int32_t>(field(records, "number")), (std::vector<int32_t>{1, 2, 3}));
  const ExprPtr pair = field(records, "pair");
  EXPECT_EQ(pair->shape(), (Shape{3, 2}));
  EXPECT_EQ(elements<float>(*pair, Box{{1, 1}, {2, 1}}), (std::vector<float>{4, 6}));
  EXPECT_EQ(kind_of([&] { field(records, "none"); }), ErrorKind::NotFound);
  EXPECT_EQ(kind_of([] { field(twelve(), "none"); }), ErrorKind::NotFound);
}

TEST(Expr, SlicesAndReshapes) {
  const ExprPtr part = slice(twelve(), Box{{1, 1}, {2, 3}});
  EXPECT_EQ(elements<int32_t>(*part, Box{{1, 0}, {1, 2}}), (std::vector<int32_t>{9, 10}));
  const ExprPtr flat = reshape(part, {6});
  EXPECT_EQ(elements<int32_t>(flat), (std::vector<int32_t>{5, 6, 7, 9, 10, 11}));
  EXPECT_EQ(elements<int32_t>(*reshape(flat, {3, 2}), Box{{1, 0}, {2, 1}}), (std::vector<int32_t>{7, 10}));
  EXPECT_EQ(kind_of([] { slice(twelve(), Box{{2, 0}, {2, 1}}); }), ErrorKind::Invalid);
  EXPECT_EQ(kind_of([] { reshape(twelve(), {5}); }), ErrorKind::Invalid);
}

TEST(Expr, NothingAndScalars) {
  EXPECT_TRUE(elements<int64_t>(cast(fill({0, 3}, DType::int_(4), {}), DType::int_(8))).empty());
  EXPECT_EQ(elements<int64_t>(cast(fill({}, DType::int_(4), {std::byte{5}}), DType::int_(8))), std::vector<int64_t>{5});
}

}  // namespace
}  // namespace lamella::lazy
