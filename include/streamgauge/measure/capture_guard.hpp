#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <streamgauge/measure/profiler_state.hpp>
#include <streamgauge/measure/recorder.hpp>

namespace streamgauge {

/// Calls `use` with the primary context of each device that has one, made current. No context is made.
template <class Use>
void for_each_context(driver_api const& cuda, Use use) {
  int devices = 0;
  if (cuda.device_count(&devices) != cudaSuccess) return;
  for (int device = 0; device < devices; ++device) {
    unsigned int flags = 0;
    int active = 0;
    context_handle context = nullptr;
    if (cuda.primary_state(device, &flags, &active) != cudaSuccess || !active) continue;
    if (cuda.primary_retain(&context, device) != cudaSuccess) continue;
    {
      context_scope const current{cuda, context};
      if (current.status() == cudaSuccess) use();
    }
    cuda.primary_release(device);
  }
}

/// Calls the profiler's switch with a context current, as it wants: this thread's, or that of any device that has one.
/// Capture: allowed; in another mode than relaxed the switch itself breaks a capture (H200).
[[nodiscard]] inline int switch_profiler(driver_api const& cuda, int (*call)()) noexcept {
  relaxed_capture_mode const relaxed{cuda};
  if (relaxed.status() != cudaSuccess) return relaxed.status();
  int status = call();
  if (status != cudaErrorDeviceUninitialized) return status;
  for_each_context(cuda, [&] {
    if (status != cudaSuccess) status = call();
  });
  return status;
}

/// Between its beginning and its end, nsys and ncu collect: cudaProfilerStart and cudaProfilerStop by scope.
/// Why: the two calls are switches, not counted. Here the outermost guard of all threads starts and the last one stops;
/// earlier work is waited for before the start and the guard's own before the stop, so that neither end of the capture
/// is missing or carries what does not belong to it.
/// Requires: streams that it was given live until it ends. Run nsys with `--capture-range=cudaProfilerApi`, ncu with
/// `--profile-from-start off`.
/// Sync: with streams, waits for those; with a recorder, for the end of each finished phase (work queued after a stream's
/// last phase is not waited for: name that stream). With neither it waits for every device that has a context, and CUDA
/// then ends any stream capture on them.
/// Capture: with streams or a recorder allowed; a stream that is being captured is left alone and `notes` says so.
/// Threads: any.
/// Example: `{ sg::capture_guard guard{stream}; step(stream); }`
class capture_guard {
 public:
  capture_guard() { begin(); }
  explicit capture_guard(recorder& of) : share_{&of.core(), {}} { begin(); }
  capture_guard(recorder_core& of, std::vector<stream_ref> streams) : share_{&of, std::move(streams)} { begin(); }
  explicit capture_guard(std::vector<stream_ref> streams) : share_{nullptr, std::move(streams)} { begin(); }
  template <class Stream, class... More, class Unit = null_stream_here,
            class = std::enable_if_t<names_a_stream<Stream> && (names_a_stream<More> && ...)>>
  explicit capture_guard(Stream const& stream, More const&... more)
      : capture_guard{std::vector<stream_ref>{stream_ref{stream, Unit{}}, stream_ref{more, Unit{}}...}} {}

  capture_guard(capture_guard const&) = delete;
  capture_guard& operator=(capture_guard const&) = delete;

  /// What stood in the way, in words; empty when all went well.
  [[nodiscard]] std::vector<std::string> const& notes() const noexcept { return notes_; }

 private:
  // A guard's part in the process-wide count. It ends also when the guard's constructor throws for want of memory.
  class share {
   public:
    share() noexcept { ask(); }
    share(recorder_core* core, std::vector<stream_ref> streams) noexcept : core_{core}, streams_{std::move(streams)} {
      if (core_) core_->retain();
      ask();
    }
    share(share const&) = delete;
    share& operator=(share const&) = delete;
    ~share() {
      stop();
      {
        brief_guard const guard{the_profiler.lock};
        if (the_profiler.wanted > 0) --the_profiler.wanted;
      }
      if (core_) core_->release();
    }

    /// Counts in where a capture is open; it stays open then, so nothing need be waited for.
    [[nodiscard]] bool joins() noexcept {
      brief_guard const guard{the_profiler.lock};
      if (!the_profiler.collecting || the_profiler.open == 0) return false;
      ++the_profiler.open;
      return counted_ = true;
    }

    /// The lock covers the count and the switch alone; nobody waits for the device under it.
    [[nodiscard]] int start(driver_api const& cuda) noexcept {
      brief_guard const guard{the_profiler.lock};
      counted_ = true;
      bool const outermost = the_profiler.open++ == 0;
      // A stop that was refused is owed: without it the earlier capture would run on into this one.
      if (outermost && the_profiler.collecting)
        the_profiler.collecting = switch_profiler(cuda, cuda.profiler_stop) != cudaSuccess;
      // A guard that could not start leaves the start to the next one inside it.
      if (the_profiler.collecting) return cudaSuccess;
      int const status = switch_profiler(cuda, cuda.profiler_start);
      if (status != cudaSuccess) return status;
      the_profiler.collecting = true;
      the_profiler.starts.fetch_add(1, std::memory_order_relaxed);
      the_profiler.process = process_;
      if (!the_profiler.stops_at_exit) the_profiler.stops_at_exit = std::atexit(stop_at_exit) == 0;
      return status;
    }

    template <class Note>
    void drain(driver_api const& cuda, Note answered) const {
      if (core_) core_->drain();
      for (stream_ref const stream : streams_) answered(drain_stream(cuda, stream));
      if (!core_ && streams_.empty()) for_each_context(cuda, [&] { answered(cuda.context_synchronize()); });
    }

   private:
    static void ask() noexcept {
      brief_guard const guard{the_profiler.lock};
      if (the_profiler.wanted++ == 0) the_profiler.asked.fetch_add(1, std::memory_order_relaxed);
    }

    void stop() noexcept {
      driver_answer const cuda = counted_ ? driver() : driver_answer{};
      if (!cuda.api || process_ != getpid()) return;  // a forked child owes no Stop
      drain(*cuda.api, [](int) {});
      brief_guard const guard{the_profiler.lock};
      if (the_profiler.open == 0 || --the_profiler.open > 0 || !the_profiler.collecting) return;
      // A stop that CUDA refuses is still owed: the next guard tries again, or the end of the program.
      the_profiler.collecting = switch_profiler(*cuda.api, cuda.api->profiler_stop) != cudaSuccess;
    }

    recorder_core* core_ = nullptr;
    std::vector<stream_ref> streams_;
    bool counted_ = false;
    pid_t process_ = getpid();
  };

  void begin() {
    notice_forks();
    driver_answer const cuda = driver();
    if (!cuda.api) return nothing_to_capture(streamgauge::describe(cuda.why));
    if (share_.joins()) return;
    share_.drain(*cuda.api, [this](int status) { note(status); });
    int const status = share_.start(*cuda.api);
    if (status == cudaErrorDeviceUninitialized) return nothing_to_capture(streamgauge::describe(absence::no_context));
    if (status != cudaSuccess)
      notes_.push_back(streamgauge::describe(static_cast<cudaError_t>(status), "cuProfilerStart"));
  }

  // A program that leaves by exit() unwinds no stack; the capture still ends with its work in it.
  static void stop_at_exit() noexcept {
    void (*close_windows)() noexcept = nullptr;
    {
      brief_guard const guard{the_profiler.lock};
      close_windows = the_profiler.close_windows;
      the_profiler.stops_at_exit = false;  // what starts later on the way out is stopped by a handler of its own
    }
    if (close_windows) close_windows();
    driver_answer const cuda = driver();
    if (!cuda.api || !the_profiler.collecting || the_profiler.process != getpid()) return;
    for_each_context(*cuda.api, [&] { static_cast<void>(cuda.api->context_synchronize()); });
    brief_guard const guard{the_profiler.lock};
    the_profiler.collecting = false;
    static_cast<void>(switch_profiler(*cuda.api, cuda.api->profiler_stop));
  }

  void note(int status) {
    if (status == cudaSuccess) return;
    absence const why = absence_of(status);
    if (why == absence::stream_capture || why == absence::capture_elsewhere)
      notes_.push_back(std::string{"a stream was not waited for: "} + streamgauge::describe(why));
    else
      notes_.push_back(streamgauge::describe(static_cast<cudaError_t>(status), "waiting before the capture"));
  }

  void nothing_to_capture(std::string const& why) {
    notes_.push_back("nothing is captured: " + why);
    if (!the_profiler.explained.exchange(true))
      std::fprintf(stderr, "streamgauge: nothing is captured for a profiler: %s\n", why.c_str());
  }

  share share_;
  std::vector<std::string> notes_;
};

}  // namespace streamgauge

#endif
