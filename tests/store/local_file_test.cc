#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "scratch.h"
#include "store/file.h"
#include "store/store.h"

namespace lamella::store {
namespace {

TEST(LocalFile, WritesAnywhereAndGrows) {
  const Scratch scratch;
  const std::string path = scratch.path("file");
  auto file = create_local(path);
  EXPECT_EQ(file->append(bytes_of("abc")), 0);
  EXPECT_EQ(file->append(bytes_of("def")), 3);
  file->write_at(10, bytes_of("x"));
  file->write_at(1, bytes_of("B"));
  EXPECT_EQ(file->size(), 11);
  file->truncate(5);
  EXPECT_EQ(file->append(bytes_of("!")), 5);
  file->sync();
  EXPECT_EQ(read_path(path), "aBcde!");
  file = reopen_local(path);
  EXPECT_EQ(file->append(bytes_of("?")), 6);
  file = create_local(path);
  EXPECT_EQ(file->size(), 0);
}

TEST(LocalFile, ThreadsWriteDisjointRanges) {
  const Scratch scratch;
  const auto file = create_local(scratch.path("file"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        file->write_at((i * 4 + t) * 10, bytes_of(std::string(10, static_cast<char>('a' + t))));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(file->size(), 8000);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    for (char c : {'a', 'b', 'c', 'd'}) expected += std::string(10, c);
  }
  EXPECT_EQ(read_path(scratch.path("file")), expected);
}

TEST(LocalFile, SaysWhatCannotBeOpened) {
  const Scratch scratch;
  const std::string missing = scratch.path("no/such");
  try {
    open_local(missing);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_NE(std::string(error.what()).find(missing), std::string::npos);
  }
  EXPECT_EQ(kind_of([&] { create_local(missing); }), ErrorKind::NotFound);
  EXPECT_EQ(kind_of([&] { open_directory(missing); }), ErrorKind::NotFound);
  write_path(scratch.path("file"), "x");
  EXPECT_EQ(kind_of([&] { open_directory(scratch.path("file")); }), ErrorKind::Invalid);
}

TEST(LocalFile, FindsFilesAndNothingElse) {
  const Scratch scratch;
  write_path(scratch.path("file"), "xyz");
  EXPECT_EQ(find_local(scratch.path("file"))->size(), 3);
  EXPECT_EQ(find_local(scratch.path("none")), nullptr);
  EXPECT_EQ(find_local(scratch.path("file/below")), nullptr);
  EXPECT_EQ(find_local(scratch.path("")), nullptr);  // a folder
}

TEST(LocalFile, NoticesThatAFileShrank) {
  const Scratch scratch;
  write_path(scratch.path("file"), std::string(1000, 'x'));
  const auto file = open_local(scratch.path("file"));
  std::filesystem::resize_file(scratch.path("file"), 500);
  EXPECT_EQ(file->size(), 1000);
  std::byte out[10];
  EXPECT_EQ(kind_of([&] { file->read_at(600, out); }), ErrorKind::Corrupt);
  EXPECT_EQ(kind_of([&] { file->read_many({{0, out}, {600, out}}); }), ErrorKind::Corrupt);
}

TEST(LocalFile, DescriptorsAreNotInherited) {
  const Scratch scratch;
  const auto written = create_local(scratch.path("file"));
  const auto read = open_local(scratch.path("file"));
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) != scratch.path("file")) continue;
    EXPECT_NE(fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

TEST(LocalFile, SlicesAreFilesOfTheirOwn) {
  const auto file = memory_file({std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}}, "whole");
  const auto slice = slice_file(file, 1, 2, "slice");
  EXPECT_EQ(slice->size(), 2);
  EXPECT_EQ(slice->name(), "slice");
  EXPECT_EQ(slice->read(1, 1).data()[0], std::byte{2});
  EXPECT_EQ(kind_of([&] { slice->read(1, 2); }), ErrorKind::Corrupt);
}

// Runs `body` in a process of its own that may write files of at most `limit` bytes, as on a disk that fills up.
template <class Body>
int exit_code_with_limit(rlim_t limit, const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit files{limit, limit};
    setrlimit(RLIMIT_FSIZE, &files);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DirectoryStore, AFailedWriteKeepsTheOldValueAndLeavesNothingBehind) {
  const Scratch scratch;
  create_directory(scratch.path("s"))->write("a", bytes_of("old"));
  const int code = exit_code_with_limit(5000, [&] {
    const auto store = open_directory(scratch.path("s"));
    const std::string large(20000, 'x');
    if (kind_of([&] { store->write("a", bytes_of(large)); }) != ErrorKind::Io) return 1;
    if (kind_of([&] { store->write("b", bytes_of(large)); }) != ErrorKind::Io) return 2;
    if (kind_of([&] { store->append("c", bytes_of(large)); }) != ErrorKind::Io) return 3;
    store->write("d", bytes_of("fits"));
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(read_path(scratch.path("s/a")), "old");
  EXPECT_EQ(read_path(scratch.path("s/d")), "fits");
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path("s")))
    left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"a", "c", "d"}));  // c is a value that grew: its owner cuts or removes it
}

TEST(DirectoryStore, AKilledWriterLeavesOldOrNew) {
  const Scratch scratch;
  create_directory(scratch.path("s"))->write("a", bytes_of(std::string(100000, 'a')));
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto store = open_directory(scratch.path("s"));
      for (char c = 'a';; c = c == 'z' ? 'a' : static_cast<char>(c + 1))
        store->write("a", bytes_of(std::string(100000, c)));
    }
    usleep(3000 * (round + 1));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string text = read_path(scratch.path("s/a"));
    EXPECT_EQ(text, std::string(100000, text[0]));
    EXPECT_EQ(open_directory(scratch.path("s"))->list(""), std::vector<std::string>{"a"});
  }
}

TEST(DirectoryStore, KeepsFewFilesOpen) {
  const Scratch scratch;
  const auto store = create_directory(scratch.path("s"));
  for (int i = 0; i < 200; ++i) store->append(std::to_string(i), bytes_of("x"));
  int open = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone).string().rfind(scratch.path("s"), 0) == 0) ++open;
  }
  EXPECT_GT(open, 0);
  EXPECT_LE(open, 64);
}

TEST(DirectoryStore, WhatMayNotBeReadIsNotAbsent) {
  if (geteuid() == 0) {
    // Root may read everything; a loop of links cannot be read by anybody.
    const Scratch scratch;
    std::filesystem::create_symlink(scratch.path("loop"), scratch.path("loop"));
    const auto store = open_directory(scratch.path(""));
    EXPECT_EQ(kind_of([&] { store->open("loop"); }), ErrorKind::Io);
    EXPECT_EQ(kind_of([&] { store->size_of("loop"); }), ErrorKind::Io);
    return;
  }
  const Scratch scratch;
  create_directory(scratch.path("s"))->write("closed/a", bytes_of("x"));
  std::filesystem::permissions(scratch.path("s/closed"), std::filesystem::perms::none);
  const auto store = open_directory(scratch.path("s"));
  EXPECT_EQ(kind_of([&] { store->open("closed/a"); }), ErrorKind::Io);
  EXPECT_EQ(kind_of([&] { store->size_of("closed/a"); }), ErrorKind::Io);
  EXPECT_EQ(kind_of([&] { store->list("closed"); }), ErrorKind::Io);
  EXPECT_EQ(store->list(""), std::vector<std::string>{"closed/"});
  std::filesystem::permissions(scratch.path("s/closed"), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace lamella::store
