#include "array/hdf5/writer/sink.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "array/hdf5/file.h"
#include "array/hdf5/writer/zoo.h"
#include "base/error.h"

namespace lamella::array {
namespace {

namespace fs = std::filesystem;

class Hdf5Sink : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("lamella-hdf5-sink-" + std::to_string(getpid()) +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string load(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  using Part = void (Zoo::*)();
  std::map<std::string, Zoo::Written> write(const std::string& name, Part part, std::unique_ptr<Zoo>& zoo) {
    const auto sink = hdf5::create_hdf5_sink(path(name), false);
    Progress progress;
    zoo = std::make_unique<Zoo>(*sink, progress);
    ((*zoo).*part)();
    sink->commit();
    return zoo->expected;
  }

  void expect_reads_back(Part part) {
    std::unique_ptr<Zoo> zoo;
    const auto expected = write("zoo.h5", part, zoo);
    const auto root = hdf5::open_file(store::open_local(path("zoo.h5")));
    for (const auto& [name, written] : expected) {
      SCOPED_TRACE(name);
      const Node node = root->at(name);
      ASSERT_TRUE(node.array);
      const ArraySpec& spec = node.array->spec();
      EXPECT_TRUE(spec.type == written.spec.type);
      EXPECT_EQ(spec.shape, written.spec.shape);
      EXPECT_EQ(spec.chunks, written.spec.chunks);
      EXPECT_EQ(codec::to_string(spec.codecs), codec::to_string(written.spec.codecs));
      if (!written.spec.fill.empty()) {
        EXPECT_EQ(spec.fill, written.spec.fill);
      }
      Heap heap;
      expect_equal(spec.type, node.array->read_all(heap), written.data);
    }
  }

  void expect_equal(const DType& type, const Buffer& data, const std::vector<std::byte>& expected) {
    ASSERT_EQ(data.size(), static_cast<int64_t>(expected.size()));
    if (expected.empty()) return;
    if (!type.has_references_to_heap()) {
      EXPECT_EQ(std::memcmp(data.data(), expected.data(), expected.size()), 0);
      return;
    }
    const auto& fields = type.kind == TypeKind::Struct ? *type.fields : std::vector<Field>{{"", 0, type, {}}};
    for (int64_t at = 0; at < data.size(); at += type.size) {
      for (const Field& field : fields) {
        const std::byte* a = data.data() + at + field.offset;
        const std::byte* b = expected.data() + at + field.offset;
        if (!field.type.is_vlen()) {
          EXPECT_EQ(std::memcmp(a, b, static_cast<size_t>(count(field.shape) * field.type.size)), 0);
          continue;
        }
        StringRef x, y;
        std::memcpy(&x, a, sizeof(x));
        std::memcpy(&y, b, sizeof(y));
        EXPECT_EQ(std::string(x.data ? x.data : "", x.size), std::string(y.data ? y.data : "", y.size));
      }
    }
  }

  // Writes with the killed run's progress kept, if it was killed.
  bool write_until(const std::string& name, bool resume, Progress& progress) {
    const auto sink = hdf5::create_hdf5_sink(path(name), resume);
    Zoo zoo(*sink, progress);
    try {
      zoo.write();
    } catch (const Stopped&) {
      return false;
    }
    sink->commit();
    return true;
  }

  fs::path folder_;
};

TEST_F(Hdf5Sink, ReadsBack) { expect_reads_back(&Zoo::write); }
TEST_F(Hdf5Sink, ReadsBackPlugins) { expect_reads_back(&Zoo::write_plugins); }
TEST_F(Hdf5Sink, ReadsBackLimits) { expect_reads_back(&Zoo::write_limits); }

TEST_F(Hdf5Sink, KeepsAttributes) {
  std::unique_ptr<Zoo> zoo;
  write("zoo.h5", &Zoo::write, zoo);
  const auto root = hdf5::open_file(store::open_local(path("zoo.h5")));
  const Node node = root->at("attributes");
  const Attributes& attributes = node.attributes();
  EXPECT_EQ(attributes.find("matrix")->value, Json({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(attributes.find("opaque")->value, "a\xc3\xbf");
  EXPECT_EQ(attributes.find("record")->value["grid"], Json({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(attributes.find("record")->value["text"], "t");
  EXPECT_EQ(attributes.find("references")->value, Json({"/types", "/", "", "/attributes"}));
  EXPECT_TRUE(attributes.find("null")->null_space);
  EXPECT_EQ(root->at("attributes/member").attributes().find("back")->value, "/attributes");
}

TEST_F(Hdf5Sink, SameCallsSameBytes) {
  std::unique_ptr<Zoo> one, two;
  write("one.h5", &Zoo::write, one);
  write("two.h5", &Zoo::write, two);
  EXPECT_TRUE(load(path("one.h5")) == load(path("two.h5")));
}

TEST_F(Hdf5Sink, ResumesToTheSameBytes) {
  Progress whole;
  ASSERT_TRUE(write_until("whole.h5", false, whole));
  for (size_t stop = 0; stop < whole.done.size(); stop += 13) {
    SCOPED_TRACE(stop);
    Progress progress;
    progress.stop = stop;
    ASSERT_FALSE(write_until("cut.h5", false, progress));
    // The killed run had written more than its journal says.
    std::ofstream(path("cut.h5"), std::ios::binary | std::ios::app) << std::string(5000, 'x');
    progress.next = 0;
    progress.stop = SIZE_MAX;
    ASSERT_TRUE(write_until("cut.h5", true, progress));
    EXPECT_TRUE(load(path("cut.h5")) == load(path("whole.h5")));
  }
}

TEST_F(Hdf5Sink, IsNoFileBeforeTheCommit) {
  const auto sink = hdf5::create_hdf5_sink(path("open.h5"), false);
  Progress progress;
  Zoo zoo(*sink, progress);
  zoo.write();
  EXPECT_THROW(hdf5::open_file(store::open_local(path("open.h5"))), Error);
}

class Refusals : public Hdf5Sink {
 protected:
  void expect_refused(const ArraySpec& spec, const std::string& with, ErrorKind kind = ErrorKind::Unsupported) {
    const auto sink = hdf5::create_hdf5_sink(path("refused.h5"), false);
    try {
      sink->check_array("obs/element", spec, {});
      FAIL() << with;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_NE(std::string(error.what()).find("/obs/element"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(with), std::string::npos) << error.what();
    }
  }
  void expect_refused(const Attribute& attribute) {
    Attributes attributes;
    attributes.set("odd", attribute);
    const auto sink = hdf5::create_hdf5_sink(path("refused.h5"), false);
    try {
      sink->check_group("uns/element", attributes);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      EXPECT_NE(std::string(error.what()).find("/uns/element: attribute 'odd'"), std::string::npos) << error.what();
    }
  }
};

TEST_F(Refusals, NameTheElement) {
  for (const char* type : {"<U5", "<M8[ns]", "<m8[s]", "|S0"}) {
    expect_refused(contiguous_spec(parse_dtype(type), {3}), "cannot be stored in HDF5");
  }
  expect_refused(contiguous_spec(DType::make(TypeKind::Reference, 8), {3}), "object references");
  expect_refused(contiguous_spec(DType::record({{"r", 0, DType::make(TypeKind::Reference, 8), {}}}, 8), {3}),
                 "references");
  expect_refused(contiguous_spec(DType::int_(1), Shape(33, 1)), "32");
  expect_refused(contiguous_spec(DType::record({{"f", 0, DType::int_(1), Shape(33, 1)}}, 1), {3}), "record fields");
  expect_refused(contiguous_spec(DType::record({{"f", 0, DType::int_(1), {2, 0}}}, 1), {3}), "record fields");
  expect_refused(chunked_spec(DType::int_(8), {1 << 30}, {1 << 29}, "gzip"), "smaller --chunks");
  expect_refused(chunked_spec(DType::int_(8), {}, {}, "gzip"), "scalar");
  expect_refused(chunked_spec(DType::int_(8), {4}, {2}, "crc32c"), "--codec gzip");
  ArraySpec spec = chunked_spec(DType::int_(8), {4}, {2}, "gzip");
  spec.codecs.insert(spec.codecs.begin(), {"delta", Json::object()});
  expect_refused(spec, "--codec gzip");
  spec = contiguous_spec(DType::int_(8), {4});
  spec.chunks = {2};
  expect_refused(spec, "codec", ErrorKind::Invalid);
  expect_refused(chunked_spec(DType::int_(8), {4}, {2, 2}, "gzip"), "chunks", ErrorKind::Invalid);
}

TEST_F(Refusals, NameTheAttribute) {
  expect_refused({nullptr, {}, {}, false});
  expect_refused({Json::object({{"a", 1}}), {}, {}, false});
  expect_refused({Json({1, "a"}), {}, {}, false});
  expect_refused({Json({{1, 2}, {3}}), {}, {}, false});
  expect_refused({Json({1, 2}), DType::int_(4), {3}, false});
  expect_refused({Json("text"), DType::int_(4), {}, false});
  expect_refused({Json("longer"), DType::make(TypeKind::Bytes, 3), {}, false});
  expect_refused({Json(5), parse_dtype("<M8[ns]"), {}, false});
}

TEST_F(Refusals, MissingTargetOfAReference) {
  const auto sink = hdf5::create_hdf5_sink(path("refused.h5"), false);
  Attributes attributes;
  attributes.set("to", Attribute{"/nowhere", DType::make(TypeKind::Reference, 8), {}, false});
  sink->create_group("here", attributes);
  try {
    sink->commit();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("/here: attribute 'to' refers to /nowhere"), std::string::npos)
        << error.what();
  }
}

// h5py and the HDF5 tools read what was written: see compare.py.
TEST_F(Hdf5Sink, OthersReadIt) {
  const char* python = std::getenv("LAMELLA_TEST_PYTHON");
  if (python == nullptr || *python == '\0') GTEST_SKIP() << "LAMELLA_TEST_PYTHON names no Python with h5py";
  std::unique_ptr<Zoo> zoo;
  write("zoo.h5", &Zoo::write, zoo);
  write("plugins.h5", &Zoo::write_plugins, zoo);
  write("limits.h5", &Zoo::write_limits, zoo);
  const std::string script = LAMELLA_TEST_DATA "/../array/hdf5/writer/compare.py";
  EXPECT_EQ(std::system((std::string(python) + " '" + script + "' '" + folder_.string() + "'").c_str()), 0);
}

}  // namespace
}  // namespace lamella::array
