#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/event.hpp>
#include <streamgauge/measure/thread_id.hpp>

namespace streamgauge {

/// Where an interval stands.
enum class interval_state : std::uint8_t {
  not_started,  ///< read or stopped before a start
  not_stopped,  ///< read before its stop, or started again without one
  pending,      ///< recorded; the device has not passed the stop yet
  done,         ///< there is a time
  unread,       ///< started again while the last time was not read: the events still hold it
  failed,       ///< no time can come of it; `why` says the reason
};

/// What an interval answers.
struct reading {
  interval_state state = interval_state::not_started;
  std::optional<nanoseconds> time{};  ///< only when done
  absence why = absence::none;        ///< only when failed
  int status = cudaSuccess;           ///< CUDA's, when failed
};

/// Two events on one stream and the device time between.
/// Why: the two events belong to the stream's context, whatever device is current; the stream is given once, so that a
/// start on one stream can never meet a stop on another; and what CUDA answers with one code for three mistakes is told
/// apart here before CUDA is asked.
/// Units: device time, event to event. It is not kernel time: on an idle stream it holds the host's launch gaps.
/// Requires: the stream outlives the last start and stop.
/// Throws: the constructor, `cuda_error`; nothing else.
/// Sync: only `wait`.
/// Example: `sg::interval timer{stream}; timer.start(); launch(); timer.stop(); auto t = timer.wait().time;`
class interval {
 public:
  template <class Unit = failing_here>
  explicit interval(stream_ref stream, Unit* unit = nullptr)
      : stream_{stream}, start_{stream, unit}, stop_{stream, unit} {}

  /// Records the start. Refused, with nothing recorded, while a stop is missing or a finished time is unread.
  reading start() noexcept {
    reading const before = look();
    if (before.state == interval_state::not_stopped || before.state == interval_state::pending) return before;
    if (before.state == interval_state::done && !read_) return {interval_state::unread};
    read_ = false;
    thread_ = this_thread_id();
    return record_now(start_.get(), interval_state::not_stopped);
  }

  /// Records the stop.
  reading stop() noexcept {
    if (state_ == interval_state::failed) return look();
    if (state_ != interval_state::not_stopped) return {interval_state::not_started};
    if (stream_.is_per_thread() && thread_ != this_thread_id())
      return failed(absence::other_thread_stream, cudaSuccess);
    return record_now(stop_.get(), interval_state::pending);
  }

  /// The time if the device has passed the stop.
  /// Sync: none. Capture: allowed.
  reading read() noexcept {
    reading const now = look();
    if (now.state == interval_state::done) read_ = true;
    return now;
  }

  /// The time, once the device has passed the stop.
  /// Sync: waits for the stop event alone. Capture: allowed; the thread's capture mode is relaxed for the wait.
  reading wait() noexcept {
    if (state_ == interval_state::pending) {
      driver_answer const cuda = driver();
      absence const dead = cuda.api ? why_dead(*cuda.api, start_.context()) : cuda.why;
      if (dead != absence::none) return failed(dead, cudaSuccess);
      int const status = wait_until_passed(*cuda.api, stop_.get());
      if (status != cudaSuccess) return failed(absence_of(status), status);
    }
    return read();
  }

  /// Whether a time can be read. An event that was never recorded says that it is complete; this does not.
  [[nodiscard]] bool ready() noexcept { return look().state == interval_state::done; }

 private:
  // What `read` answers, without counting as the program's reading.
  reading look() noexcept {
    if (state_ == interval_state::pending) {
      driver_answer const cuda = driver();
      absence const dead = cuda.api ? why_dead(*cuda.api, start_.context()) : cuda.why;
      if (dead != absence::none) return failed(dead, cudaSuccess);
      elapsed_answer const answer = elapsed(*cuda.api, start_.get(), stop_.get());
      if (answer.status == cudaErrorNotReady) return {interval_state::pending};
      if (answer.status != cudaSuccess) return failed(absence_of(answer.status), answer.status);
      time_ = answer.time;
      state_ = interval_state::done;
    }
    if (state_ == interval_state::failed) return {state_, std::nullopt, why_, status_};
    if (state_ != interval_state::done) return {state_};
    return {state_, time_};
  }

  reading failed(absence why, int status) noexcept {
    state_ = interval_state::failed;
    why_ = why;
    status_ = status;
    return {state_, std::nullopt, why, status};
  }

  reading record_now(cudaEvent_t event, interval_state next) noexcept {
    driver_answer const cuda = driver();
    absence const dead = cuda.api ? why_dead(*cuda.api, start_.context()) : cuda.why;
    if (dead != absence::none) return failed(dead, cudaSuccess);
    int status = may_record(*cuda.api, stream_, start_.context());
    if (status == cudaSuccess) status = record(*cuda.api, event, stream_, start_.context());
    if (status != cudaSuccess) return failed(absence_of(status), status);
    state_ = next;
    return {state_};
  }

  stream_ref stream_;
  event start_;
  event stop_;
  interval_state state_ = interval_state::not_started;
  bool read_ = true;
  nanoseconds time_{0};
  absence why_ = absence::none;
  int status_ = cudaSuccess;
  std::uint64_t thread_ = 0;
};

/// The state in a sentence that says what to do about it.
[[nodiscard]] inline std::string describe(reading const& what, std::string const& name) {
  std::string const subject = "interval \"" + name + "\": ";
  switch (what.state) {
    case interval_state::not_started: return subject + "not started; call start() before stop() or read()";
    case interval_state::not_stopped: return subject + "not stopped; call stop() before reading or starting again";
    case interval_state::pending:
      return subject + "the device has not passed the stop yet; read again later, or wait()";
    case interval_state::done: return subject + std::to_string(what.time.value_or(nanoseconds{0}).count()) + " ns";
    case interval_state::unread: return subject + "its last time was not read; read() before start()";
    case interval_state::failed: break;
  }
  std::string text = subject + "no device time: " + describe(what.why);
  if (what.status != cudaSuccess)
    text += " (" + std::string{cudaGetErrorName(static_cast<cudaError_t>(what.status))} + ")";
  return text;
}

}  // namespace streamgauge

#endif
