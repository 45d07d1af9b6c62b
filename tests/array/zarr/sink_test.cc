#include "array/zarr/sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "array/zarr/open.h"
#include "array/zarr/written.h"
#include "base/error.h"

namespace lamella::array {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> contents(const store::Store& store, const std::string& prefix = "") {
  std::map<std::string, std::string> out;
  for (const std::string& name : store.list(prefix)) {
    const std::string path = prefix.empty() ? name : prefix + "/" + name;
    if (name.back() == '/') {
      out.merge(contents(store, path.substr(0, path.size() - 1)));
    } else {
      const Buffer bytes = *store.read(path);
      out[path] = {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(bytes.size())};
    }
  }
  return out;
}

void expect_elements(const Array& array, const ArraySpec& written) {
  Heap heap;
  const Buffer data = array.read_all(heap);
  const Elements expected = elements_of(written.type, count(written.shape));
  ASSERT_EQ(data.size(), static_cast<int64_t>(expected.bytes.size()));
  if (data.empty()) return;
  if (!written.type.is_vlen()) {
    std::vector<std::byte> native = expected.bytes;
    if (any_big_endian(array.spec().type) != any_big_endian(written.type))
      swap_bytes(written.type, native.data(), count(written.shape));
    EXPECT_EQ(std::memcmp(data.data(), native.data(), native.size()), 0);
    return;
  }
  const auto* refs = reinterpret_cast<const StringRef*>(data.data());
  for (int64_t i = 0; i < count(written.shape); ++i)
    EXPECT_EQ(std::string(refs[i].data ? refs[i].data : "", static_cast<size_t>(refs[i].size)), text_of(i));
}

class ZarrSink : public testing::TestWithParam<int> {};

TEST_P(ZarrSink, ReadsBack) {
  const auto store = store::memory_store();
  History history;
  write_everything(store, GetParam(), false, history);
  const Node root = zarr::open_root(store);
  EXPECT_EQ(zarr::version(root), GetParam());
  EXPECT_EQ(root.attributes().find("map")->value, (Json{{"b", nullptr}, {"a", {1, 2.5, "x"}}}));
  EXPECT_EQ(root.group->at("inner").group->children().size(), all_arrays(GetParam()).size());
  for (const auto& [name, spec] : all_arrays(GetParam())) {
    SCOPED_TRACE(name);
    const Node node = root.group->at("inner/" + name);
    ASSERT_TRUE(node.array);
    EXPECT_EQ(node.attributes().find("large")->value, ~uint64_t{0});
    if (spec.null_space) {
      EXPECT_EQ(node.array->stored_bytes(), 0);
      continue;
    }
    if (spec.codecs.empty() || name == "big") {
      expect_elements(*node.array, spec);
      continue;
    }
    EXPECT_TRUE(node.array->spec().type == spec.type);
    EXPECT_EQ(node.array->spec().chunks, spec.chunks);
    EXPECT_EQ(node.array->spec().shards, spec.shards);
    EXPECT_EQ(node.array->spec().codecs, spec.codecs);
    EXPECT_EQ(node.array->spec().fill_element(), spec.fill_element());
    EXPECT_EQ(node.array->spec().dimension_names, spec.dimension_names);
    expect_elements(*node.array, spec);
  }
}

TEST_P(ZarrSink, StoresNoChunkOfFill) {
  const auto store = store::memory_store();
  History history;
  write_everything(store, GetParam(), false, history);
  const Node node = zarr::open_root(store).group->at("inner/type <i4");
  int64_t stored = 0;
  for (int64_t chunk = 0; chunk < 8; ++chunk) stored += node.array->locate({chunk}).file ? 1 : 0;
  EXPECT_EQ(node.array->stored_chunks(), stored);
  EXPECT_EQ(stored, 4);  // elements 40…119
}

TEST_P(ZarrSink, ResumesToTheSameBytes) {
  const auto whole = store::memory_store();
  History first;
  write_everything(whole, GetParam(), false, first);
  const auto expected = contents(*whole);
  for (size_t stop = 0; stop < first.done.size(); stop += 7) {
    SCOPED_TRACE(stop);
    const auto store = store::memory_store();
    History killed;
    killed.stop = stop;
    EXPECT_THROW(write_everything(store, GetParam(), false, killed), Killed);
    EXPECT_THROW(zarr::open_root(store), Error);  // no documents yet
    // The journal lags behind what was appended.
    History again;
    again.done.assign(killed.done.begin(),
                      killed.done.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(stop, stop % 4)));
    write_everything(store, GetParam(), true, again);
    ASSERT_TRUE(contents(*store) == expected);
  }
}

TEST_P(ZarrSink, ZipHoldsTheSame) {
  const fs::path path = fs::temp_directory_path() / ("lamella-zarr-sink-" + std::to_string(getpid()) + ".zip");
  const auto memory = store::memory_store();
  History one, two;
  write_everything(memory, GetParam(), false, one);
  const auto zip = store::create_zip(path.string());
  EXPECT_FALSE(zarr::create_zarr_sink(zip, GetParam(), false, true)->interleaves_shards());
  const auto write = [&](Sink& sink) {
    sink.create_group("", {});
    for (const auto& [name, spec] : all_arrays(GetParam())) {
      if (spec.shards.empty()) write_array(sink, name, spec, {}, two);
    }
    sink.commit();
  };
  write(*zarr::create_zarr_sink(zip, GetParam(), false, false));
  const Node root = zarr::open_root(store::open_zip(path.string()));
  for (const auto& [name, spec] : all_arrays(GetParam())) {
    SCOPED_TRACE(name);
    if (spec.shards.empty() && !spec.null_space) expect_elements(*root.group->at(name).array, spec);
  }
  fs::remove(path);
}

TEST_P(ZarrSink, RefusesByName) {
  const auto sink = zarr::create_zarr_sink(store::memory_store(), GetParam(), false, true);
  const auto expect_refused = [&](const std::string& path, const ArraySpec& spec, const std::string& with) {
    try {
      sink->check_array(path, spec, {});
      ADD_FAILURE() << with;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/" + path), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(with), std::string::npos) << error.what();
    }
  };
  const DType i4 = DType::int_(4);
  expect_refused("a/b", chunked(parse_dtype("<f16"), {3}, {2}), "<f16");
  expect_refused("a", chunked(DType::make(TypeKind::Reference, 8), {3}, {2}), "reference");
  expect_refused("a", chunked(i4, {3}, {2}, "lzf"), "lzf");
  expect_refused("a/..", chunked(i4, {3}, {2}), "'..'");
  expect_refused("a/.zarray", chunked(i4, {3}, {2}), ".zarray");
  const DType strings = DType::record({{"s", 0, DType::string(), {}}}, 16);
  expect_refused("a", chunked(strings, {3}, {2}), "struct");
  if (GetParam() == 2) {
    expect_refused("a", chunked(i4, {8}, {2}, "zstd", {4}), "shards");
    ArraySpec spec = chunked(i4, {2, 2, 2}, {1, 2, 2});
    spec.codecs.insert(spec.codecs.begin(), {"transpose", {{"order", {1, 0, 2}}}});
    expect_refused("a", spec, "transpose");
  } else {
    expect_refused("a", chunked(DType::make(TypeKind::Int, 4, true), {3}, {2}), "big-endian");
    expect_refused("a", chunked(DType::record({{"s", 0, i4, {2}}}, 8), {3}, {2}), "struct");
    expect_refused("__x", chunked(i4, {3}, {2}), "__x");
  }
}

// Random shapes, chunks, shards and codecs; row-major order keeps many shards open.
TEST_P(ZarrSink, RandomLayouts) {
  std::mt19937 random(7);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const std::vector<std::string> codecs = {"none",           "zstd",   "gzip:1",     "blosc:lz4:1:shuffle",
                                           "shuffle,zlib:1", "crc32c", "zstd,crc32c"};
  const std::vector<DType> types = {DType::int_(1), DType::int_(2), DType::float_(8), DType::string(),
                                    DType::boolean()};
  for (int round = 0; round < 150; ++round) {
    Shape shape, chunks, shards;
    for (int64_t axis = below(4); axis >= 0; --axis) {
      shape.push_back(below(14));
      chunks.push_back(1 + below(5));
      shards.push_back(chunks.back() * (1 + below(4)));
    }
    const bool sharded = GetParam() == 3 && below(3) > 0;
    const ArraySpec spec = chunked(types[static_cast<size_t>(below(5))], shape, chunks,
                                   codecs[static_cast<size_t>(below(7))], sharded ? shards : Shape{});
    SCOPED_TRACE(to_string(shape) + to_string(chunks) + (sharded ? to_string(shards) : "") +
                 codec::to_string(spec.codecs));
    const auto store = store::memory_store();
    const auto sink = zarr::create_zarr_sink(store, GetParam(), false, false);
    History history;
    write_array(*sink, "", spec, {}, history);
    sink->commit();
    const Node root = zarr::open_root(store);
    ASSERT_TRUE(root.array);
    EXPECT_EQ(root.array->spec().codecs, spec.codecs);
    expect_elements(*root.array, spec);
    int64_t chunks_stored = 0;
    for (const Placement& placement : history.done) chunks_stored += placement.position >= 0 ? 1 : 0;
    EXPECT_EQ(root.array->stored_chunks(), chunks_stored);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, ZarrSink, testing::Values(2, 3),
                         [](const auto& info) { return "v" + std::to_string(info.param); });

TEST(ZarrSinkOrder, ShardKeepsTheOrderOfArrival) {
  const auto store = store::memory_store();
  const auto sink = zarr::create_zarr_sink(store, 3, false, false);
  const ArraySpec spec = chunked(DType::int_(1), {4}, {1}, "none", {4});
  const auto writer = sink->create_array("", spec, {});
  for (const int chunk : {2, 0, 3, 1}) {
    Buffer one(1);
    one.data()[0] = static_cast<std::byte>(chunk == 3 ? 0 : 10 + chunk);
    writer->append({chunk}, writer->encode(one.bytes()));
  }
  writer->finish();
  sink->commit();
  const std::string shard = contents(*store)["c/0"];
  ASSERT_EQ(shard.size(), 3u + 4 * 16 + 4);
  EXPECT_EQ(shard.substr(0, 3), "\x0c\x0a\x0b");
  Heap heap;
  const Buffer data = zarr::open_root(store).array->read_all(heap);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data()), 4), std::string("\x0a\x0b\x0c\x00", 4));
}

TEST(ZarrSinkOrder, IncompleteShardIsABug) {
  const auto sink = zarr::create_zarr_sink(store::memory_store(), 3, false, false);
  const auto writer = sink->create_array("", chunked(DType::int_(1), {4}, {1}, "none", {4}), {});
  Buffer one(1);
  one.data()[0] = std::byte{1};
  writer->append({0}, writer->encode(one.bytes()));
  EXPECT_THROW(writer->finish(), Error);
}

// zarr-python and tensorstore, when a Python that has them is named.
TEST(ZarrPeers, ReadWhatWeWrite) {
  const char* python = std::getenv("LAMELLA_TEST_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "LAMELLA_TEST_PYTHON is not set";
  const fs::path folder = fs::temp_directory_path() / ("lamella-zarr-peers-" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const int version : {2, 3}) {
    History history;
    write_everything(store::create_directory((folder / ("v" + std::to_string(version))).string()), version, false,
                     history);
  }
  const std::string command =
      std::string(python) + " " LAMELLA_TEST_DATA "/../array/zarr/compare.py " + folder.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lamella::array
