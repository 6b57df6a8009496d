// Without these: results of hours that a full disk, a kill or a slip in a path costs.

#include <streamgauge/report/file.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>

#include "folder.hpp"

namespace sg = streamgauge;
using sg::report::write_file;

namespace {

unsigned permissions(std::string const& path) {
  struct stat seen = {};
  return stat(path.c_str(), &seen) == 0 ? seen.st_mode & 07777U : 0U;
}

// What the piece answers in a process of its own; -1 where that did not end by itself.
template <class Piece>
int in_child(Piece piece) {
  pid_t const child = fork();
  if (child == 0) _exit(piece());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a file holds the text, and nothing lies beside it") {
  test_folder const in;
  auto const done = write_file(in.file("run.json"), "{}\n");
  CHECK(done);
  CHECK(done.path == in.file("run.json"));
  CHECK(done.why_not.empty());
  CHECK(text_in(in.file("run.json")) == "{}\n");
  CHECK(write_file(in.file("run.json"), std::string(3'000'000, 'x')));
  CHECK(text_in(in.file("run.json")) == std::string(3'000'000, 'x'));
  CHECK(write_file(in.file("run.json"), ""));
  CHECK(text_in(in.file("run.json")).empty());
  CHECK(in.count() == 1);
  auto const read = sg::report::read_file(in.file("run.json"));
  REQUIRE(read);
  CHECK(read.text->empty());
}

TEST_CASE("a new file has the permissions of the process, and one that was there keeps its own") {
  test_folder const in;
  mode_t const before = umask(027);
  CHECK(write_file(in.file("new"), "a"));
  umask(before);
  CHECK(permissions(in.file("new")) == 0640U);
  chmod(in.file("new").c_str(), 0604);
  CHECK(write_file(in.file("new"), "b"));
  CHECK(permissions(in.file("new")) == 0604U);
}

TEST_CASE("a link stays a link, and what it leads to is replaced") {
  test_folder const in;
  std::filesystem::create_directory(in.file("deep"));
  put_text(in.file("deep/target"), "old");
  std::filesystem::create_symlink("deep/target", in.file("link"));
  std::filesystem::create_symlink("link", in.file("link to a link"));
  auto const done = write_file(in.file("link to a link"), "new");
  CHECK(done);
  CHECK(done.path == in.file("deep/target"));
  CHECK(text_in(in.file("deep/target")) == "new");
  CHECK(std::filesystem::is_symlink(in.file("link")));
  // To nothing yet, and in a circle.
  std::filesystem::create_symlink("deep/later", in.file("dangling"));
  CHECK(write_file(in.file("dangling"), "made"));
  CHECK(text_in(in.file("deep/later")) == "made");
  CHECK(std::filesystem::is_symlink(in.file("dangling")));
  std::filesystem::create_symlink("circle", in.file("circle"));
  CHECK(write_file(in.file("circle"), "x").why_not ==
        "cannot write " + in.file("circle") + ": its links lead in a circle");
}

TEST_CASE("what cannot be written is said in words that name the path and the remedy") {
  test_folder const in;
  put_text(in.file("file"), "kept");
  auto const why = [&](std::string const& name) { return write_file(in.file(name), "x").why_not; };
  CHECK(why("nowhere/run.json") == "cannot write " + in.file("nowhere/run.json") + ": there is no such folder: make it first");
  CHECK(why("file/run.json") ==
        "cannot write " + in.file("file/run.json") + ": a part of the path is a file and no folder");
  CHECK(write_file(in.path(), "x").why_not == "cannot write " + in.path() + ": it is a folder: name a file in it");
  CHECK(why(std::string(300, 'n')).find("the name is too long") != std::string::npos);
  CHECK(write_file("", "x").why_not == "cannot write a file without a name");
  CHECK(write_file(std::string{"a\0b", 3}, "x").why_not == "cannot write a file with a zero byte in its name");
  CHECK(write_file("/dev/full", "x").why_not ==
        "cannot write /dev/full: the disk is full: free some room, or write elsewhere");
  CHECK(write_file("/dev/null", "x"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(text_in(in.file("file")) == "kept");
  CHECK(in.count() == 1);
}

TEST_CASE("where this process may not write, nothing is replaced") {
  test_folder const in;
  put_text(in.file("file"), "kept");
  chmod(in.file("file").c_str(), 0444);
  put_text(in.file("open"), "kept");
  chmod(in.file("open").c_str(), 0666);
  auto const as_anybody = [](std::string const& path, std::string const& expected) {
    return in_child([&] {
      if (geteuid() == 0 && seteuid(65534) != 0) return 2;  // root may write everywhere
      return write_file(path, "x").why_not.find(expected) == std::string::npos ? 1 : 0;
    });
  };
  chmod(in.path().c_str(), 0777);
  CHECK(as_anybody(in.file("file"), "not allowed: look at the permissions") == 0);
  chmod(in.path().c_str(), 0555);
  CHECK(as_anybody(in.file("open"), "not allowed: look at the permissions") == 0);
  CHECK(as_anybody(in.file("new"), "not allowed: look at the permissions") == 0);
  chmod(in.path().c_str(), 0755);
  CHECK(text_in(in.file("file")) == "kept");
  CHECK(text_in(in.file("open")) == "kept");
  CHECK(in.count() == 2);
}

TEST_CASE("what does not fit leaves the old file and nothing else") {
  test_folder const in;
  put_text(in.file("run.json"), "old");
  int const child = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit const limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    auto const done = write_file(in.file("run.json"), std::string(100'000, 'x'));
    return done.why_not.find("larger than this process may write") == std::string::npos ? 1 : 0;
  });
  CHECK(child == 0);
  CHECK(text_in(in.file("run.json")) == "old");
  CHECK(in.count() == 1);
}

TEST_CASE("a writer that is killed leaves the old text or the new one, never a part") {
  test_folder const in;
  std::string const path = in.file("run.json");
  std::string const one(5'000'000, '1');
  std::string const two(5'000'000, '2');
  put_text(path, one);
  for (int i = 0; i < 30; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      for (;;) {
        static_cast<void>(write_file(path, two));
        static_cast<void>(write_file(path, one));
      }
    }
    usleep(static_cast<useconds_t>(500 + i * 700));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    std::string const found = text_in(path);
    CHECK((found == one || found == two));
  }
}

TEST_CASE("what a process prints to is written to where its output goes on") {
  test_folder const in;
  int const child = in_child([&] {
    int const file = open(in.file("output").c_str(), O_WRONLY | O_CREAT, 0666);
    if (dup2(file, STDOUT_FILENO) < 0) return 2;
    bool ok = ::write(STDOUT_FILENO, "before ", 7) == 7;
    ok = static_cast<bool>(write_file("/dev/stdout", "text ")) && ok;
    ok = ::write(STDOUT_FILENO, "behind", 6) == 6 && ok;
    return ok ? 0 : 1;
  });
  CHECK(child == 0);
  CHECK(text_in(in.file("output")) == "before text behind");
}

TEST_CASE("a file is read whole, or not at all with the reason") {
  test_folder const in;
  std::string const bytes{"a\0\xff\r\n", 5};
  put_text(in.file("bytes"), bytes);
  auto const read = sg::report::read_file(in.file("bytes"));
  REQUIRE(read);
  CHECK(*read.text == bytes);
  CHECK(sg::report::read_file(in.file("bytes"), 5));
  CHECK(sg::report::read_file(in.file("bytes"), 4).why_not ==
        "cannot read " + in.file("bytes") + ": it has more than 4 bytes");
  CHECK(sg::report::read_file(in.file("no")).why_not == "cannot read " + in.file("no") + ": there is no such file");
  CHECK(sg::report::read_file(in.path()).why_not == "cannot read " + in.path() + ": it is a folder");
  CHECK_FALSE(sg::report::read_file("/dev/zero", 1000));
}

TEST_CASE("a pattern that names nothing writes nothing") {
  test_folder const in;
  CHECK(write_file(sg::report::path_for(in.file("a%x")), "x").why_not.find("%x stands for nothing") == 0);
  CHECK(in.count() == 0);
  CHECK(write_file(sg::report::path_for(in.file("run-%p")), "x"));
  CHECK(text_in(in.file("run-" + std::to_string(getpid()))) == "x");
}
