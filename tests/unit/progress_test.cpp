// Without these: minutes of work would look like a program that hangs, or the lines that say otherwise would stand in log
// files, wrap on a narrow terminal, or stay behind over what the program prints.

#include <streamgauge/report/progress.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include <poll.h>

using namespace std::chrono_literals;
using streamgauge::nanoseconds;
namespace report = streamgauge::report;

namespace {

/// A variable of the environment, set for a scope; null takes it away.
class variable_set {
 public:
  variable_set(char const* name, char const* value) : name_{name} {
    if (char const* const before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~variable_set() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  variable_set(variable_set const&) = delete;
  variable_set& operator=(variable_set const&) = delete;

 private:
  char const* name_;
  std::optional<std::string> before_;
};

/// A terminal of so many columns that is nobody's own.
class terminal {
 public:
  explicit terminal(unsigned short columns = 80) : screen_{posix_openpt(O_RDWR | O_NOCTTY)} {
    REQUIRE(screen_ >= 0);
    REQUIRE(grantpt(screen_) == 0);
    REQUIRE(unlockpt(screen_) == 0);
    file_ = open(ptsname(screen_), O_RDWR | O_NOCTTY);
    REQUIRE(file_ >= 0);
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    REQUIRE(ioctl(file_, TIOCSWINSZ, &size) == 0);
  }
  ~terminal() {
    close(file_);
    close(screen_);
  }
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;

  [[nodiscard]] int file() const { return file_; }
  /// What was written since the last look.
  [[nodiscard]] std::string seen() const {
    std::string text;
    char letters[512];
    for (pollfd ready{screen_, POLLIN, 0}; poll(&ready, 1, 0) == 1;) {
      ssize_t const count = read(screen_, letters, sizeof letters);
      if (count <= 0) break;
      text.append(letters, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int screen_;
  int file_ = -1;
};

}  // namespace

TEST_CASE("the state in words: what is known, and nothing of what is not") {
  CHECK(report::progress_text(report::progress_state{"gemm", 1200, 0.0123, 3450ms}) ==
        "gemm: 1200 samples, median within 1.2 %, 3.4 s left");
  CHECK(report::progress_text(report::progress_state{"gemm", 1}) == "gemm: 1 sample");
  CHECK(report::progress_text(report::progress_state{"gemm", 0, std::nullopt, 0ns}) == "gemm: 0 samples, 0.0 s left");
  CHECK(report::progress_text(report::progress_state{"gemm", 8, 0.0049}) == "gemm: 8 samples, median within 0.49 %");
  CHECK(report::progress_text(report::progress_state{"gemm", 8, std::nullopt, -5s}) == "gemm: 8 samples, 0.0 s left");
  CHECK(report::progress_text(report::progress_state{"gemm", 8, std::nullopt, 59'999ms}) == "gemm: 8 samples, 59.9 s left");
  CHECK(report::progress_text(report::progress_state{"gemm", 8, std::nullopt, 605s}) ==
        "gemm: 8 samples, 10 min 5 s left");
  CHECK(report::progress_text(report::progress_state{"a\x1b[2Jb", 2}) == "a\\x1b[2Jb: 2 samples");
}

TEST_CASE("on a terminal the line is written over in place, and taken away at the end") {
  variable_set const kind{"TERM", "xterm"};
  terminal const screen;
  {
    report::progress line{screen.file(), 0ns};
    CHECK(line.shows());
    CHECK(screen.seen().empty());
    line.show({"gemm", 10, 0.5});
    CHECK(screen.seen() == "\rgemm: 10 samples, median within 50.0 %");
    line.show({"gemm", 20});
    CHECK(screen.seen() == "\rgemm: 20 samples" + std::string(22, ' '));
    line.show({"gemm", 21});
    CHECK(screen.seen() == "\rgemm: 21 samples");
  }
  CHECK(screen.seen() == "\r" + std::string(16, ' ') + "\r");
}

TEST_CASE("a line that was taken away is not taken away again, and the next state is shown at once") {
  variable_set const kind{"TERM", "xterm"};
  terminal const screen;
  {
    report::progress line{screen.file(), 1h};
    line.clear();
    CHECK(screen.seen().empty());
    line.show({"gemm", 10});
    CHECK(screen.seen() == "\rgemm: 10 samples");
    line.show({"gemm", 20});  // within the hour
    CHECK(screen.seen().empty());
    line.clear();
    CHECK(screen.seen() == "\r" + std::string(16, ' ') + "\r");
    line.show({"gemm", 30});
    CHECK(screen.seen() == "\rgemm: 30 samples");
    line.clear();
    CHECK(screen.seen() == "\r" + std::string(16, ' ') + "\r");
  }
  CHECK(screen.seen().empty());
}

TEST_CASE("the line is never as wide as the terminal: the name's begin is cut, in characters, and the numbers stay") {
  variable_set const kind{"TERM", "xterm"};
  terminal const screen{20};
  report::progress line{screen.file(), 0ns};
  line.show({"gemm", 10});  // 16 columns
  CHECK(screen.seen() == "\rgemm: 10 samples");
  line.show({"abcdefg", 10});  // 19
  CHECK(screen.seen() == "\rabcdefg: 10 samples");
  line.show({"abcdefgh", 10});
  CHECK(screen.seen() == "\rbcdefgh: 10 samples");
  line.show({"\xc3\xa4\xc3\xb6\xc3\xbc-efgh", 10});
  CHECK(screen.seen() == "\r\xc3\xb6\xc3\xbc-efgh: 10 samples");
}

TEST_CASE("nothing at all is written to a pipe, to a file that is not there, or to a terminal that cannot move its cursor") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  {
    variable_set const kind{"TERM", "xterm"};
    report::progress line{ends[1], 0ns};
    CHECK_FALSE(line.shows());
    line.show({"gemm", 10});
    line.clear();
    report::progress nowhere{-1, 0ns};
    CHECK_FALSE(nowhere.shows());
    nowhere.show({"gemm", 10});
  }
  close(ends[1]);
  char letter = 0;
  CHECK(read(ends[0], &letter, 1) == 0);
  close(ends[0]);
  for (char const* const name : {"dumb", "", static_cast<char const*>(nullptr)}) {
    variable_set const kind{"TERM", name};
    terminal const screen;
    {
      report::progress line{screen.file(), 0ns};
      CHECK_FALSE(line.shows());
      line.show({"gemm", 10});
    }
    CHECK(screen.seen().empty());
  }
}

TEST_CASE("a program in the background of a terminal writes nothing on it") {
  // A session of its own, whose foreground is another process: first this one shows, then it gives the terminal away.
  variable_set const kind{"TERM", "xterm"};
  terminal const screen;
  pid_t const child = fork();
  if (child == 0) {
    setsid();
    int const mine = open(ttyname(screen.file()), O_RDWR);
    if (mine < 0 || tcgetpgrp(mine) != getpgrp()) _exit(1);
    report::progress line{mine, nanoseconds{0}};
    line.show({"front", 1});
    if (screen.seen() != "\rfront: 1 sample") _exit(2);
    pid_t const other = fork();
    if (other == 0) {
      for (;;) pause();
    }
    setpgid(other, other);
    signal(SIGTTOU, SIG_IGN);
    if (tcsetpgrp(mine, other) != 0) _exit(3);
    line.show({"back", 2});
    line.clear();
    bool const silent = screen.seen().empty();
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    _exit(silent ? 0 : 4);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
