#include "base/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace lamella {
namespace {

using Memory = std::vector<std::byte>;

// A view of `shape` somewhere in memory of its own: axes in any order of nesting, with gaps, running either way.
struct Placed {
  Memory memory;
  Shape shape, strides;
  int64_t start = 0;

  View view() { return {memory.data() + start, shape, strides}; }
};

Placed place(const Shape& shape, int64_t item, std::mt19937& random) {
  Placed out{{}, shape, Shape(shape.size()), 0};
  std::vector<size_t> nesting(shape.size());
  std::iota(nesting.begin(), nesting.end(), size_t{0});
  const bool plain = random() % 3 == 0;
  if (!plain) std::shuffle(nesting.begin(), nesting.end(), random);
  int64_t step = item;
  for (size_t i = nesting.size(); i-- > 0;) {
    const size_t axis = nesting[i];
    if (!plain && random() % 3 == 0) step += item * static_cast<int64_t>(random() % 3);
    const bool backwards = !plain && random() % 4 == 0;
    out.strides[axis] = backwards ? -step : step;
    if (backwards) out.start += step * std::max<int64_t>(shape[axis] - 1, 0);
    step *= std::max<int64_t>(shape[axis], 1);
  }
  out.memory.resize(static_cast<size_t>(step));
  for (std::byte& b : out.memory) b = static_cast<std::byte>(random());
  return out;
}

// One element at a time, by the definition of strides.
template <class Body>
void for_each(const Shape& shape, const Body& body) {
  if (Box::whole(shape).empty()) return;
  Shape index(shape.size(), 0);
  do body(index);
  while (next_index(index, Box::whole(shape)));
}
int64_t offset(const Shape& index, const Shape& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
}

class StridedCopy : public ::testing::TestWithParam<int64_t> {};  // bytes of an element

TEST_P(StridedCopy, AgreesWithACopyOfSingleElements) {
  const int64_t item = GetParam();
  std::mt19937 random(static_cast<unsigned>(item));
  for (int round = 0; round < 1500; ++round) {
    Shape shape(random() % 6);
    for (int64_t& length : shape) length = static_cast<int64_t>(random() % 20 == 0 ? 0 : 1 + random() % 5);
    if (round % 50 == 0) shape = {70, 45};  // more than a tile
    Placed to = place(shape, item, random), from = place(shape, item, random);
    Memory expected = to.memory;
    for_each(shape, [&](const Shape& index) {
      std::memcpy(expected.data() + to.start + offset(index, to.strides),
                  from.view().data + offset(index, from.strides), static_cast<size_t>(item));
    });
    copy_elements(to.view(), read_only(from.view()), item);
    ASSERT_EQ(to.memory, expected) << to_string(shape) << to_string(to.strides) << to_string(from.strides);
  }
}

TEST_P(StridedCopy, FillsJustTheView) {
  const int64_t item = GetParam();
  std::mt19937 random(static_cast<unsigned>(item) + 100);
  for (int round = 0; round < 500; ++round) {
    Shape shape(random() % 4);
    for (int64_t& length : shape) length = static_cast<int64_t>(random() % 6);
    Placed to = place(shape, item, random);
    Memory element(static_cast<size_t>(item), static_cast<std::byte>(random()));
    if (round % 2 == 0) element.back() = static_cast<std::byte>(random());
    Memory expected = to.memory;
    for_each(shape, [&](const Shape& index) {
      std::copy(element.begin(), element.end(), expected.begin() + to.start + offset(index, to.strides));
    });
    fill_elements(to.view(), element.data(), item);
    ASSERT_EQ(to.memory, expected);
  }
}

TEST_P(StridedCopy, SeesWhetherAllAreEqual) {
  const int64_t item = GetParam();
  Memory element(static_cast<size_t>(item), std::byte{7});
  element[0] = std::byte{1};
  for (int64_t n : {0, 1, 2, 9}) {
    Memory data;
    for (int64_t i = 0; i < n; ++i) data.insert(data.end(), element.begin(), element.end());
    EXPECT_TRUE(all_equal(data.data(), n, element.data(), item));
    for (std::byte& b : data) {
      b ^= std::byte{1};
      EXPECT_FALSE(all_equal(data.data(), n, element.data(), item));
      b ^= std::byte{1};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ItemSizes, StridedCopy, ::testing::Values(1, 2, 3, 4, 7, 8, 16, 32, 80),
                         ::testing::PrintToStringParamName());

TEST(Strided, ElementsOfNoSize) {
  copy_elements({nullptr, {3, 2}, {0, 0}}, {nullptr, {3, 2}, {0, 0}}, 0);
  fill_elements({nullptr, {3}, {0}}, nullptr, 0);
}

TEST(Strided, SourcesMayRepeat) {
  const std::byte one{1};
  Memory out(6);
  copy_elements(View::c_order(out.data(), {2, 3}, 1), {&one, {2, 3}, {0, 0}}, 1);
  EXPECT_EQ(out, Memory(6, std::byte{1}));
}

TEST(Strided, Contiguity) {
  EXPECT_TRUE(is_c_contiguous({}, {}, 8));
  EXPECT_TRUE(is_c_contiguous({2, 3}, {12, 4}, 4));
  EXPECT_TRUE(is_c_contiguous({1, 3}, {-99, 4}, 4));
  EXPECT_FALSE(is_c_contiguous({2, 3}, {4, 8}, 4));
  EXPECT_FALSE(is_c_contiguous({2, 3}, {16, 4}, 4));
  EXPECT_FALSE(is_c_contiguous({3}, {-4}, 4));
}

TEST(Strided, PartsOfAView) {
  Memory data(12);
  const View part = View::c_order(data.data(), {3, 4}, 1).sub({{1, 2}, {2, 1}});
  EXPECT_EQ(part.data, data.data() + 6);
  EXPECT_EQ(part.shape, (Shape{2, 1}));
  EXPECT_EQ(part.strides, (Shape{4, 1}));
}

// Rows of every length, each in a gap of its own: what lies between them must stay.
TEST(Strided, CopiesRowsOfEveryLength) {
  for (int64_t bytes = 1; bytes <= 600; ++bytes) {
    const int64_t rows = 5, from_step = bytes + 3, to_step = bytes + 8;
    std::vector<std::byte> from(static_cast<size_t>(rows * from_step)), to(static_cast<size_t>(rows * to_step));
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 256);
    std::fill(to.begin(), to.end(), std::byte{0xee});
    std::vector<std::byte> expected = to;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from.data() + r * from_step, bytes, expected.data() + r * to_step);
    copy_elements({to.data(), {rows, bytes}, {to_step, 1}}, {from.data(), {rows, bytes}, {from_step, 1}}, 1);
    ASSERT_EQ(to, expected) << bytes;
  }
}

}  // namespace
}  // namespace lamella
