#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace lamella {
namespace {

TEST(Memory, ParsesSizes) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("1000000"), 1000000);
  EXPECT_EQ(parse_bytes("512MiB"), int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("512 mib"), int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("1G"), int64_t{1} << 30);
  EXPECT_EQ(parse_bytes("64kB"), 64000);
  EXPECT_EQ(parse_bytes("2GB"), 2000000000);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_bytes("3T"), int64_t{3} << 40);
  EXPECT_EQ(parse_bytes("7B"), 7);
}

TEST(Memory, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "-1", "12X", "12MiBs", "1,5G", "nan", "inf", "1e300", "1 2", "G1", "99999999999T"}) {
    try {
      parse_bytes(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Invalid) << text;
    }
  }
}

TEST(Memory, FormatsSizes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(int64_t{256} << 20), "256 MiB");
  EXPECT_EQ(format_bytes(int64_t{3} << 40), "3.0 TiB");
  for (int64_t n : {int64_t{512} << 20, int64_t{3} << 30}) EXPECT_EQ(parse_bytes(format_bytes(n)), n);
}

TEST(Memory, KnowsWhatIsResident) {
  const int64_t before = resident_bytes();
  EXPECT_GT(before, 0);
  constexpr size_t kSize = size_t{32} << 20;
  const std::unique_ptr<char[]> block(new char[kSize]);
  std::memset(block.get(), 1, kSize);
  EXPECT_GE(resident_bytes(), before + static_cast<int64_t>(kSize) / 2);
  EXPECT_GE(peak_resident_bytes(), before + static_cast<int64_t>(kSize) / 2);
  EXPECT_GE(default_memory_budget(), int64_t{256} << 20);
}

TEST(Memory, MakesPagesResidentAndKeepsWhatIsThere) {
  ThreadPool threads(3);
  const int64_t size = (int64_t{32} << 20) + 12345;
  auto* data = static_cast<std::byte*>(std::malloc(static_cast<size_t>(size)));
  ASSERT_NE(data, nullptr);
  data[100] = std::byte{7};
  data[size - 1] = std::byte{9};
  const int64_t before = resident_bytes();
  make_resident({data + 1, static_cast<size_t>(size - 1)}, threads);
  if (resident_bytes() - before < size / 2) GTEST_LOG_(INFO) << "this kernel cannot";
  EXPECT_EQ(data[100], std::byte{7});
  EXPECT_EQ(data[size - 1], std::byte{9});
  make_resident({data, static_cast<size_t>(size)}, threads);  // again: nothing to do
  make_resident({}, threads);
  std::free(data);
}

}  // namespace
}  // namespace lamella
