#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/byte_reader.h"
#include "base/progress.h"

namespace lamella {
namespace {

TEST(Error, PlacesStandBeforeTheFault) {
  Error error(ErrorKind::Corrupt, "fault");
  error.prefix("chunk").prefix("store");
  EXPECT_STREQ(error.what(), "store: chunk: fault");
}

TEST(Error, TheSystemsErrorsHaveKinds) {
  const auto thrown = [](int number) {
    try {
      throw_errno(number, "write", "some/path");
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("some/path"), std::string::npos);
      return error.kind();
    }
  };
  EXPECT_EQ(thrown(ENOENT), ErrorKind::NotFound);
  EXPECT_EQ(thrown(EEXIST), ErrorKind::Exists);
  EXPECT_EQ(thrown(ENOSPC), ErrorKind::Io);
  EXPECT_EQ(thrown(EROFS), ErrorKind::Io);
}

TEST(ByteReader, NeverPassesTheEnd) {
  const char text[] =
      "\x01\x02\x03\x04"
      "ab";
  ByteReader reader(std::as_bytes(std::span(text, 7)), 100);
  EXPECT_EQ(reader.u16(), 0x0201);
  EXPECT_EQ(reader.uint(2), 0x0403u);
  EXPECT_EQ(reader.c_string(), "ab");
  EXPECT_EQ(reader.remaining(), 0);
  EXPECT_EQ(reader.take(0).size(), 0u);
  for (const auto& body : std::vector<std::function<void()>>{
           [&] { reader.u8(); }, [&] { reader.take(-1); }, [&] { reader.take(INT64_MAX); }, [&] { reader.seek(8); },
           [&] { reader.seek(-1); }, [&] { reader.c_string(); }, [&] { reader.uint(8); }}) {
    EXPECT_THROW(body(), Error);
    EXPECT_EQ(reader.position(), 7);
  }
  reader.seek(4);
  ByteReader open(std::as_bytes(std::span(text, 6)));
  open.seek(4);
  EXPECT_THROW(open.c_string(), Error);  // its NUL is missing
}

TEST(CancelFlag, StopsWhoAsks) {
  CancelFlag flag;
  EXPECT_NO_THROW(flag.check());
  flag.raise();
  EXPECT_THROW(flag.check(), Error);
}

}  // namespace
}  // namespace lamella
