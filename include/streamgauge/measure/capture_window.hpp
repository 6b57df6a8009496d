#pragma once

#include <streamgauge/measure/capture_schedule.hpp>

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <functional>
#include <mutex>

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/phase.hpp>

namespace streamgauge {

/// Streams that a capture window waits for before it opens and before it closes, beside its recorder's phases.
struct drains {
  std::vector<stream_ref> streams;

  template <class... Streams, class Unit = null_stream_here, class = std::enable_if_t<(names_a_stream<Streams> && ...)>>
  explicit drains(Streams const&... each) : streams{stream_ref{each, Unit{}}...} {}
};

/// What a window was told when it was made.
struct window_settings {
  capture_choice chosen{};
  bool told = false;                  ///< the program chose, so the environment is not asked
  bool by_phase = false;              ///< executions of a phase count, not steps
  recorder_core const* of = nullptr;  ///< whose phase that is, where a handle was given
  std::string source{};               ///< how the value is called where it is malformed
  std::function<void(recording const&)> before_stop{};
  std::vector<stream_ref> streams{};
};

/// Set while this thread is in a `before_stop`: what it enters meanwhile is counted by no window.
[[gnu::visibility("default")]] inline thread_local bool inside_before_stop = false;

/// A capture window's state: counts, and holds the guard while it is open.
/// Threads: any. Whoever comes while another one opens or closes waits for that: no execution begins on the wrong side.
class window_state : public entry_watch {
 public:
  window_state(recorder_core& core, window_settings&& told)
      : entry_watch{told.by_phase && told.chosen.malformed.empty() ? std::optional{told.chosen.phase} : std::nullopt},
        core_{core},
        told_{std::move(told)} {
    core_.retain();
    recorded_ = core_.recorded();
    over_ = told_.chosen.plan.active == 0 || refused();
    if (!over_ || refused()) core_.watch(*this);  // refused: for what it has to say
  }

  void entering(stream_ref const* stream, stage next) noexcept override {
    if (inside_before_stop || over_.load(std::memory_order_relaxed) || forked()) return;
    std::lock_guard<std::mutex> const guard{turn_};
    if (over_ || ended_) return;
    capture_plan& plan = told_.chosen.plan;
    if (!plan.before && next != stage::steady) return static_cast<void>(++count_);
    if (!plan.before) plan.before = count_.load();
    capture_plan::place const now = plan.at(count_++);
    if (now != capture_plan::place::inside) close(stream);
    if (now == capture_plan::place::begins) open(stream);
    if (now == capture_plan::place::over) finish();
  }
  void step() noexcept {
    if (told_.by_phase) return;
    retain();
    entering(nullptr, stage::steady);
    release();
  }

  /// The window's own end.
  void end() noexcept {
    if (!forked()) {
      std::unique_lock<std::mutex> guard{turn_, std::defer_lock};
      bool const closes = asks_here();
      if (!closes) guard.lock();
      ended_ = true;  // under the lock: the plan is read without it from now on
      if (!closes) close(nullptr);
      // One that never opened stays for what it has to say; of many the first ones.
      bool const says = !opened_ && (!over_ || refused());
      bool const speaks = says && core_.windows_unmet.fetch_add(1, std::memory_order_relaxed) < 16;
      if (!speaks) core_.unwatch(*this);
    }
    core_.release();
  }

  void leaving() noexcept override {
    if (forked() || asks_here()) return;
    std::lock_guard<std::mutex> const guard{turn_};
    close(nullptr);
  }

  [[nodiscard]] std::string complaint(std::string const& phases) const override {
    if (!told_.chosen.malformed.empty())
      return told_.source + " is not phase[:first[:count[:repeat]]]: " + told_.chosen.malformed + "; no window opens";
    if (is_foreign()) return "its capture window never opens: it was given another recorder's phase";
    if (opened_) return {};
    if (told_.by_phase && recorded_ == mode::off)
      return "its capture window never opens: the recorder is off, and executions are not counted";
    if (told_.chosen.plan.reversed) return "a capture window never opens: its last execution lies before its first";
    if (count_ > 0 || !told_.by_phase) return ended_ ? too_few() : std::string{};
    return "a capture window waits for this phase, and none of its executions began while the window was there; " +
           (phases.empty() ? "no phase was entered so far" : "entered so far: " + phases) +
           (told_.source.empty() ? "" : ". " + told_.source + " was read as " + told_.chosen.in_words());
  }

  [[nodiscard]] std::vector<std::string> notes() {
    brief_guard const guard{notes_lock_};
    return notes_;
  }

 private:
  [[nodiscard]] std::string too_few() const {
    std::string const counted = std::string{"a capture window ended and had never opened: "} +
                                (told_.by_phase ? "executions" : "steps") + " counted: " + std::to_string(count_);
    if (!told_.chosen.plan.before) return counted + ", all of them warm-up";
    return counted + ", the first to capture is number " + std::to_string(*told_.chosen.plan.before) + ", from 0";
  }
  [[nodiscard]] bool is_foreign() const noexcept { return told_.of && told_.of != &core_; }
  [[nodiscard]] bool refused() const noexcept {
    return !told_.chosen.malformed.empty() || told_.chosen.plan.reversed || is_foreign();
  }
  // Whether this thread comes from this window's own `before_stop`, and holds `turn_`.
  [[nodiscard]] bool asks_here() const noexcept { return asking_ == this_thread_id(); }
  [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation.load(std::memory_order_relaxed); }

  void open(stream_ref const* stream) noexcept {
    wait_for(stream);
    core_.windows_open.fetch_add(1, std::memory_order_relaxed);
    guard_.emplace(core_, told_.streams);
    {
      brief_guard const guard{notes_lock_};
      notes_ = guard_->notes();
    }
    opened_ = true;
    static bool const closes_at_exit = std::atexit(close_all) == 0;
    static_cast<void>(closes_at_exit);
    brief_guard const guard{the_profiler.lock};
    the_profiler.close_windows = close_all;
    next_open = std::exchange(the_profiler.windows, this);
    retain();
  }

  void close(stream_ref const* stream) noexcept {
    if (!guard_) return;
    core_.retain();  // whoever is asked may end the window, and the recorder
    if (told_.before_stop) {
      wait_for(stream);
      driver_answer const cuda = driver();
      for (stream_ref const each : told_.streams)
        if (cuda.api) static_cast<void>(drain_stream(*cuda.api, each));
      recording const so_far = core_.collect<recording>();
      asking_ = this_thread_id();
      bool const outer = std::exchange(inside_before_stop, true);
      told_.before_stop(so_far);
      inside_before_stop = outer;
      asking_ = 0;
    }
    wait_for(stream);
    guard_.reset();
    core_.windows_open.fetch_sub(1, std::memory_order_relaxed);
    if (take_from_open(this)) release();  // never the last: whoever calls holds one
    core_.release();
  }

  void finish() noexcept {
    over_ = true;
    core_.unwatch(*this);
  }

  // A recorder that only marks has no events to wait for; the stream that the phase is entered on is there, at least.
  void wait_for(stream_ref const* stream) const noexcept {
    driver_answer const cuda = stream && recorded_ == mode::mark ? driver() : driver_answer{};
    if (cuda.api) static_cast<void>(drain_stream(*cuda.api, *stream));
  }

  // Takes a window, or any, out of those that are open; its reference is then the caller's.
  [[nodiscard]] static entry_watch* take_from_open(entry_watch const* which) noexcept {
    brief_guard const guard{the_profiler.lock};
    entry_watch** at = &the_profiler.windows;
    while (*at && which && *at != which) at = &(*at)->next_open;
    entry_watch* const taken = *at;
    if (taken) *at = taken->next_open;
    return taken;
  }
  // A program that leaves by exit() unwinds no stack.
  static void close_all() noexcept {
    while (entry_watch* const each = take_from_open(nullptr)) {
      each->leaving();
      each->release();
    }
  }

  recorder_core& core_;  // until the window's own end
  window_settings told_;
  mode recorded_;
  unsigned int const generation_ = fork_generation.load(std::memory_order_relaxed);
  std::mutex turn_;
  std::atomic<std::uint64_t> asking_{0};
  std::optional<capture_guard> guard_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<bool> opened_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> over_{false};
  brief_lock notes_lock_;
  std::vector<std::string> notes_;
};

/// Opens and closes the profiler by the count of a phase's executions, or of steps: nsys and ncu collect what is inside.
/// Why: what comes before the window, warm-up above all, runs as it does without a tool, and stays out of the capture. It
/// closes once on every way out: after its last execution, at its own end, by an exception, by exit().
/// Shape: given a phase and `executions{first, last}` or a `capture_schedule`, it counts the phase's executions from its
/// own making on, on all threads: it opens before number `first` begins and closes before number `last` begins. Without a
/// phase it counts calls of `step`. Given a text, or nothing, it does what the text or the environment variable
/// STREAMGAUGE_CAPTURE says (`capture_choice`), and where that is not set, nothing. It may be given what it `drains`, and a
/// callable that takes the recording so far and is called before each Stop, since tools may be told to end the program
/// there.
/// Requires: a phase that it is given is its recorder's. That callable throws nothing and waits for no thread that enters
/// the phase; what it enters is not counted. Streams that were given live until it ends.
/// Sync: where it opens and closes, as a `capture_guard` with the recorder. A recorder that only marks has no events to
/// wait for: name the streams. Capture: allowed; a stream in a capture is not waited for.
/// Threads: any; `step` from one at a time.
/// Example: `sg::capture_window window{recorder, step, sg::executions{20, 25}};`
class [[nodiscard]] capture_window {
 public:
  template <class... Options>
  [[nodiscard]] explicit capture_window(recorder& of, Options const&... options) {
    window_settings told;
    (apply(told, options), ...);
    char const* const set = told.told ? nullptr : std::getenv("STREAMGAUGE_CAPTURE");
    if (set && *set) choose(told, set, "the environment variable STREAMGAUGE_CAPTURE");
    if (told.told) state_ = new window_state{of.core(), std::move(told)};
  }
  capture_window(capture_window const&) = delete;
  capture_window& operator=(capture_window const&) = delete;
  ~capture_window() {
    if (!state_) return;
    state_->end();
    state_->release();
  }

  /// The next step begins: for the top of a loop. The first call begins step 0. With a phase it does nothing.
  void step() noexcept {
    if (state_) state_->step();
  }

  /// What stood in the way when it opened last, in words; empty when all went well.
  [[nodiscard]] std::vector<std::string> notes() const { return state_ ? state_->notes() : std::vector<std::string>{}; }

 private:
  static void choose(window_settings& into, std::string_view value, std::string const& source) {
    into.chosen = capture_choice::read(value);
    into.of = nullptr;
    into.source = source + " (\"" + std::string{value} + "\")";
    into.told = into.by_phase = true;
  }
  static void apply(window_settings& into, phase const& counted) {
    into.chosen.phase = std::string{counted.name()};
    into.of = &counted.node().core;
    into.told = into.by_phase = true;
  }
  static void apply(window_settings& into, executions const& inside) {
    into.chosen.plan = capture_plan::of(inside);
    into.told = true;
  }
  static void apply(window_settings& into, capture_schedule const& cycles) {
    into.chosen.plan = capture_plan::of(cycles);
    into.told = true;
  }
  static void apply(window_settings& into, drains const& waited) { into.streams = waited.streams; }
  template <class Given>
  static void apply(window_settings& into, Given const& given) {
    static_assert(std::is_invocable_v<Given const&, recording const&> || std::is_convertible_v<Given const&, text>,
                  "a capture window takes a phase, sg::executions{first, last}, an sg::capture_schedule, a text such as "
                  "\"step:20:5\", sg::drains{...}, and a callable that takes an sg::recording const&");
    if constexpr (std::is_invocable_v<Given const&, recording const&>)
      into.before_stop = given;
    else
      choose(into, text{given}.view(), "the capture window's text");
  }

  window_state* state_ = nullptr;
};

}  // namespace streamgauge

#endif
