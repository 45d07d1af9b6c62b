#include "plan/target.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "store/scratch.h"

namespace lamella::plan {
namespace {

namespace fs = std::filesystem;
using store::kind_of;
using store::read_path;
using store::Scratch;
using store::write_path;

class Targets : public ::testing::Test {
 protected:
  std::unique_ptr<Target> begin(bool overwrite = false, bool resume = false, const std::string& command = "convert a",
                                int64_t memory = 100) {
    return std::make_unique<Target>(path, Json{{"command", command}, {"memory", memory}}, overwrite, resume);
  }
  // A run that is killed: what it wrote stays as it is.
  void leave_partial(const std::string& command = "convert a", int64_t memory = 100) {
    const auto target = begin(false, false, command, memory);
    write_path(target->data_path(), "half");
    write_path(target->journal_path(), "one entry");
    target->keep();
  }

  Scratch scratch;
  std::string path = scratch.path("out.h5ad");
  std::string folder = scratch.path(".out.h5ad.lamella-partial");
};

TEST_F(Targets, AppearAtTheCommit) {
  {
    const auto target = begin();
    write_path(target->data_path(), "data");
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::exists(folder));
    target->commit();
    EXPECT_EQ(read_path(path), "data");
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Targets, LeaveNothingWhenTheyFail) {
  write_path(path, "old");
  {
    const auto target = begin(true);
    write_path(target->data_path(), "half");
  }
  EXPECT_EQ(read_path(path), "old");
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Targets, ThatAreThereAreReplacedOnlyWhenToldAndOnlyAtTheCommit) {
  write_path(path, "old");
  EXPECT_EQ(kind_of([&] { begin(); }), ErrorKind::Exists);
  EXPECT_FALSE(fs::exists(folder));
  const auto target = begin(true);
  write_path(target->data_path(), "new");
  EXPECT_EQ(read_path(path), "old");
  target->commit();
  EXPECT_EQ(read_path(path), "new");
}

TEST_F(Targets, ReplaceFoldersByFoldersAndFilesByFolders) {
  fs::create_directories(path + "/c");
  write_path(path + "/c/0", "old");
  for (const char* content : {"first", "second"}) {
    const auto target = begin(true);
    fs::create_directory(target->data_path());
    write_path(target->data_path() + "/zarr.json", content);
    EXPECT_FALSE(fs::exists(path + "/zarr.json") && read_path(path + "/zarr.json") == content);
    target->commit();
    EXPECT_EQ(read_path(path + "/zarr.json"), content);
    EXPECT_FALSE(fs::exists(path + "/c"));
  }
  const auto target = begin(true);
  write_path(target->data_path(), "a file");
  target->commit();
  EXPECT_EQ(read_path(path), "a file");
}

TEST_F(Targets, ThatAppearMeanwhileAreNotReplaced) {
  const auto target = begin();
  write_path(target->data_path(), "mine");
  write_path(path, "somebody else's");
  EXPECT_EQ(kind_of([&] { target->commit(); }), ErrorKind::Exists);
  EXPECT_EQ(read_path(path), "somebody else's");
}

TEST_F(Targets, AreWrittenByOneAtATime) {
  auto first = begin();
  write_path(first->data_path(), "first");
  EXPECT_EQ(kind_of([&] { begin(); }), ErrorKind::Exists);
  EXPECT_EQ(kind_of([&] { begin(true, true); }), ErrorKind::Exists);
  EXPECT_EQ(read_path(first->data_path()), "first");  // the second touched nothing
  first.reset();
  EXPECT_NO_THROW(begin());
}

TEST_F(Targets, ThrowAwayWhatAnEarlierRunLeft) {
  leave_partial();
  const auto target = begin();
  EXPECT_FALSE(target->resumed());
  EXPECT_FALSE(fs::exists(target->data_path()));
  EXPECT_FALSE(fs::exists(target->journal_path()));
}

TEST_F(Targets, GoOnWithTheSameRun) {
  leave_partial();
  const auto target = begin(false, true);
  EXPECT_TRUE(target->resumed());
  EXPECT_EQ(read_path(target->data_path()), "half");
  EXPECT_EQ(read_path(target->journal_path()), "one entry");
  target->commit();
  EXPECT_EQ(read_path(path), "half");
}

TEST_F(Targets, GoOnUnderTheFirstBudget) {
  leave_partial("convert a", 100);
  const auto target = begin(false, true, "convert a", 5);
  EXPECT_TRUE(target->resumed());
  EXPECT_EQ(target->identity()["memory"], 100);
}

TEST_F(Targets, BeginAnewForAnotherRun) {
  leave_partial();
  {
    const auto target = begin(false, true, "convert b");
    EXPECT_FALSE(target->resumed());
    EXPECT_FALSE(fs::exists(target->data_path()));
  }
  // The machine was booted since: nothing of that was synced.
  leave_partial();
  Json described = parse_json(read_path(folder + "/run.json"), "run.json");
  described["boot"] = "another";
  write_path(folder + "/run.json", described.dump());
  EXPECT_FALSE(begin(false, true)->resumed());
}

TEST_F(Targets, BeginAnewWhenTheDescriptionIsTorn) {
  leave_partial();
  const std::string whole = read_path(folder + "/run.json");
  for (size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    write_path(folder + "/run.json", whole.substr(0, size));
    const auto target = begin(false, true);
    EXPECT_FALSE(target->resumed()) << size;
    EXPECT_FALSE(fs::exists(target->data_path()));
    target->keep();
  }
}

TEST_F(Targets, MayBeNamedWithASlashAtTheEnd) {
  const std::string named = path;
  path += "/";
  const auto target = begin();
  EXPECT_EQ(target->scratch_folder(), folder);
  fs::create_directory(target->data_path());
  target->commit();
  EXPECT_TRUE(fs::is_directory(named));
}

TEST_F(Targets, InAFolderThatIsNotThere) {
  path = scratch.path("nowhere/out.zarr");
  EXPECT_EQ(kind_of([&] { begin(); }), ErrorKind::NotFound);
}

TEST(InputIdentity, ChangesWithTheInput) {
  const Scratch scratch;
  const std::string file = scratch.path("in.h5ad");
  EXPECT_TRUE(input_identity(file).is_null());
  write_path(file, "one");
  const Json first = input_identity(file);
  EXPECT_EQ(input_identity(file), first);
  write_path(file, "other");
  const Json longer = input_identity(file);
  EXPECT_NE(longer, first);
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_NE(input_identity(file), longer);
}

TEST(InputIdentity, OfAFolderIsThatOfItsDocuments) {
  const Scratch scratch;
  const std::string folder = scratch.path("in.zarr");
  fs::create_directory(folder);
  write_path(folder + "/zarr.json", "{}");
  const Json first = input_identity(folder);
  EXPECT_EQ(input_identity(folder), first);
  write_path(folder + "/zarr.json", "{ }");
  EXPECT_NE(input_identity(folder), first);
}

}  // namespace
}  // namespace lamella::plan
