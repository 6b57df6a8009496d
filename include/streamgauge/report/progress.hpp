#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// How far long work has come.
struct progress_state {
  std::string_view phase;
  std::uint64_t samples = 0;                   ///< taken so far
  std::optional<double> half_width{};          ///< half of the median's 95 % interval, in shares of the median
  std::optional<nanoseconds> left{};           ///< until it is done, or its time is spent
};

/// The state in words: "gemm: 1200 samples, median within 1.2 %, 3.4 s left". What is not known is left out.
template <class State>
[[nodiscard, gnu::noinline, gnu::cold]] std::string progress_text(State const& of) {
  std::string text = escaped(of.phase) + ": " + digits(of.samples) + (of.samples == 1 ? " sample" : " samples");
  if (of.half_width) text += ", median within " + percent(*of.half_width);
  if (of.left) {
    // Tenths of a second are enough, and do not flicker.
    std::int64_t const tenths = of.left->count() < 0 ? 0 : of.left->count() / 100'000'000;
    auto const seconds = static_cast<std::uint64_t>(tenths / 10);
    if (seconds < 60)
      text += ", " + digits(seconds) + "." + digits(static_cast<std::uint64_t>(tenths % 10)) + " s left";
    else
      text += ", " + digits(seconds / 60) + " min " + digits(seconds % 60) + " s left";
  }
  return text;
}

/// One line on a terminal that says how far long work has come, written over in place and taken away at the end.
/// Why: nobody waits minutes before a silent program; and nobody wants such lines in a file. So nothing at all is written
/// where it is no terminal, one that cannot move its cursor (TERM is dumb or not set), or one where another program is in the
/// foreground.
/// Shape: never wider than the terminal; at most five times a second, unless told otherwise.
/// Sync: writing may wait for the terminal: call it between phases, never inside one.
/// Example: `report::progress line; for (...) line.show({"gemm", taken, state.half_width, time_left});`
class progress {
 public:
  /// Writes to that file: standard error unless told.
  explicit progress(int file = STDERR_FILENO, nanoseconds at_most_every = std::chrono::milliseconds{200}) noexcept
      : file_{can_be_written_over(file) ? file : -1}, every_{at_most_every} {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { clear(); }

  /// Whether anything is shown; where not, a caller need not work out what to show.
  [[nodiscard]] bool shows() const noexcept { return file_ >= 0; }

  /// Shows the state, if the last one stands long enough.
  void show(progress_state const& state) {
    if (!shows()) return;
    host_stamp const now = host_now();
    if (shown_at_ && now - *shown_at_ < every_) return;
    if (in_background()) return;
    shown_at_ = now;
    std::string text = cut(progress_text(state));
    std::size_t const width = width_of(text);
    if (width < width_) text.append(width_ - width, ' ');
    width_ = width;
    put("\r" + text);
  }

  /// Takes the line away, so that what the program prints itself has the line to itself; the next state is shown at once.
  void clear() {
    if (width_ == 0 || in_background()) return;
    put("\r" + std::string(width_, ' ') + "\r");
    width_ = 0;
    shown_at_.reset();
  }

 private:
  [[nodiscard]] static bool can_be_written_over(int file) noexcept {
    char const* const terminal = std::getenv("TERM");
    return isatty(file) == 1 && terminal && *terminal && std::string_view{terminal} != "dumb";
  }

  // A terminal that is not this process's own answers -1, and is nobody else's concern.
  [[nodiscard]] bool in_background() const noexcept {
    pid_t const foreground = tcgetpgrp(file_);
    return foreground > 0 && foreground != getpgrp();
  }

  // The last column stays free: some terminals begin a new line there. The numbers stay, the phase's name is cut.
  [[nodiscard]] std::string cut(std::string text) const {
    winsize size{};
    bool const known = ioctl(file_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    std::size_t const most = known ? size.ws_col - std::size_t{1} : std::size_t{79};
    std::size_t const width = width_of(text);
    if (width <= most) return text;
    std::string_view rest{text};
    for (std::size_t i = 0; i < width - most; ++i) rest.remove_prefix(front_of(rest).bytes);
    return std::string{rest};
  }

  // What cannot be written is not shown; it is no reason to end anything.
  void put(std::string_view text) const noexcept {
    while (!text.empty()) {
      ssize_t const written = write(file_, text.data(), text.size());
      if (written <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int file_;
  nanoseconds every_;
  std::optional<host_stamp> shown_at_;
  std::size_t width_ = 0;
};

}  // namespace streamgauge::report
