#include "base/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace lamella {
namespace {

TEST(DType, SpellingsComeBack) {
  for (const char* text : {"|b1", "|i1", "<i2",  ">i2",     "<i4",      ">i8",    "|u1",    "<u8",   ">u4",      "<f2",
                           ">f4", "<f8", "<f16", "<c8",     ">c16",     "<c32",   "|S0",    "|S7",   "<U0",      "<U12",
                           ">U3", "|V3", "<M8",  "<M8[ns]", ">M8[25s]", "<m8[D]", "string", "bytes", "reference"}) {
    EXPECT_EQ(to_string(parse_dtype(text)), text);
    EXPECT_EQ(parse_dtype(to_string(parse_dtype(text))), parse_dtype(text));
  }
}

TEST(DType, OtherSpellings) {
  EXPECT_EQ(parse_dtype("float32"), DType::float_(4));
  EXPECT_EQ(parse_dtype("f4"), DType::float_(4));
  EXPECT_EQ(parse_dtype("=f4"), DType::float_(4));
  EXPECT_EQ(parse_dtype("bool"), DType::boolean());
  EXPECT_EQ(parse_dtype("complex128"), DType::make(TypeKind::Complex, 16));
  EXPECT_EQ(parse_dtype(">i1"), DType::int_(1));  // one byte has no order
  EXPECT_EQ(parse_dtype("<U3").size, 12);
  EXPECT_EQ(parse_dtype("<M8").unit, "generic");
}

TEST(DType, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"",     "<",       "x",       "<f",     "<f3",     "<i16",   "<c4", "|b2",           "<f4 ",         " <f4",
        "f4f4", "<M4[ns]", "<f8[ns]", "<M8[ns", "float33", "struct", "|O",  "|S99999999999", "<U9999999999", "|S-1",
        "<i4\n"}) {
    try {
      parse_dtype(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << text;
    }
  }
}

TEST(DType, SwapsEachScalarOnItsOwn) {
  const auto swapped = [](const DType& type, std::vector<int> bytes) {
    std::vector<std::byte> data;
    for (int b : bytes) data.push_back(static_cast<std::byte>(b));
    swap_bytes(type, data.data(), static_cast<int64_t>(data.size()) / type.size);
    std::transform(data.begin(), data.end(), bytes.begin(), [](std::byte b) { return static_cast<int>(b); });
    return bytes;
  };
  using V = std::vector<int>;
  EXPECT_EQ(swapped(DType::int_(2), {1, 2, 3, 4}), (V{2, 1, 4, 3}));
  EXPECT_EQ(swapped(DType::int_(4), {1, 2, 3, 4}), (V{4, 3, 2, 1}));
  EXPECT_EQ(swapped(DType::int_(1), {1, 2}), (V{1, 2}));
  EXPECT_EQ(swapped(DType::make(TypeKind::Complex, 8), {1, 2, 3, 4, 5, 6, 7, 8}), (V{4, 3, 2, 1, 8, 7, 6, 5}));
  EXPECT_EQ(swapped(DType::make(TypeKind::Unicode, 8), {1, 2, 3, 4, 5, 6, 7, 8}), (V{4, 3, 2, 1, 8, 7, 6, 5}));
  EXPECT_EQ(swapped(DType::make(TypeKind::Bytes, 3), {1, 2, 3}), (V{1, 2, 3}));
  V wide(16);
  for (int i = 0; i < 16; ++i) wide[static_cast<size_t>(i)] = i;
  EXPECT_EQ(swapped(DType::float_(16), wide), V(wide.rbegin(), wide.rend()));
  // A byte of padding, a sub-array, a record within the record.
  const DType inner = DType::record({{"x", 0, DType::int_(2), {}}}, 2);
  const DType record = DType::record({{"a", 1, DType::int_(2), {2}}, {"b", 5, inner, {}}}, 7);
  EXPECT_EQ(swapped(record, {0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16}),
            (V{0, 2, 1, 4, 3, 6, 5, 10, 12, 11, 14, 13, 16, 15}));
}

TEST(DType, ByteOrderOfRecords) {
  const DType big =
      DType::record({{"a", 0, DType::make(TypeKind::Int, 4, true), {}}, {"b", 4, DType::boolean(), {}}}, 5);
  EXPECT_TRUE(any_big_endian(big));
  EXPECT_FALSE(any_big_endian(little_endian(big)));
  EXPECT_FALSE(big == little_endian(big));
  EXPECT_EQ(little_endian(big), DType::record({{"a", 0, DType::int_(4), {}}, {"b", 4, DType::boolean(), {}}}, 5));
}

TEST(DType, KnowsWhatLivesInAHeap) {
  EXPECT_TRUE(DType::string().has_references_to_heap());
  EXPECT_FALSE(DType::make(TypeKind::Bytes, 5).has_references_to_heap());
  EXPECT_TRUE(DType::record({{"a", 0, DType::vlen_bytes(), {}}}, 16).has_references_to_heap());
  EXPECT_FALSE(DType::record({{"a", 0, DType::int_(4), {}}}, 4).has_references_to_heap());
}

}  // namespace
}  // namespace lamella
