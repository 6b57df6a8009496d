#pragma once

#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/lock.hpp>

namespace streamgauge {

/// What a recorder may have to say beside its numbers.
enum class trouble : std::uint8_t {
  earlier_work_failed,  ///< CUDA reports a fault of the program's own earlier work
  call_failed,          ///< a call of ours failed
  legacy_stream,        ///< a phase was timed on the legacy stream, where every record is a barrier
  out_of_order,         ///< a scoped phase was left before one that was entered inside it
  ended_elsewhere,      ///< a scoped phase was left on another thread than it was entered on
  bad_mode,             ///< STREAMGAUGE holds a word that is no mode
  other_warmup,         ///< a second handle asked for another warm-up count
  waited_in_capture,    ///< a phase was waited for inside a stream capture
  unseen_launch,        ///< a graph was launched past the object that tells its replays apart
  gate_timeout,         ///< a gate was opened by its time limit
  other_work,           ///< work was declared again, and otherwise
};

/// Keeps what went wrong while measuring, without allocating and without a CUDA call.
/// Why: a fault shows on every call after it. It is kept once, where it showed first, and counted.
/// Threads: any.
class problem_log {
 public:
  void note(trouble what, char const* phase, int status = cudaSuccess) noexcept {
    brief_guard const guard{lock_};
    std::size_t alike = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      entry& each = entries_[i];
      if (each.what != what) continue;
      bool const once = what == trouble::earlier_work_failed;  // its phase is where it showed first
      if (each.status == status && (once || each.phase == phase)) {
        ++each.times;
        return;
      }
      ++alike;
    }
    if (alike < room_for_each)
      entries_[count_++] = {what, status, phase, 1};
    else
      ++unnamed_;
  }

  /// The problems in words, the first one first.
  template <class Problem = problem>
  [[nodiscard]] std::vector<Problem> read() {
    // Copied first: no memory is asked for under the lock.
    entry seen[capacity];
    std::size_t count = 0;
    std::uint64_t unnamed = 0;
    {
      brief_guard const guard{lock_};
      for (; count < count_; ++count) seen[count] = entries_[count];
      unnamed = unnamed_;
    }
    std::vector<Problem> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back({seen[i].phase, text(seen[i]), seen[i].status, seen[i].times});
    if (unnamed > 0) all.push_back({"", "further problems of these kinds that were only counted", 0, unnamed});
    return all;
  }

 private:
  struct entry {
    trouble what = trouble::call_failed;
    int status = cudaSuccess;
    char const* phase = "";  // a phase's name, which lives as long as its recorder
    std::uint64_t times = 0;
  };
  // Room for each kind apart, so that a harmless one never hides a fault.
  static constexpr std::size_t kinds = 11;
  static constexpr std::size_t room_for_each = 16;
  static constexpr std::size_t capacity = kinds * room_for_each;

  [[nodiscard]] static std::string text(entry const& each) {
    std::string const cuda = each.status == cudaSuccess
                                 ? std::string{}
                                 : std::string{cudaGetErrorString(static_cast<cudaError_t>(each.status))} + " (" +
                                       cudaGetErrorName(static_cast<cudaError_t>(each.status)) + ")";
    switch (each.what) {
      case trouble::earlier_work_failed:
        return "earlier work failed: " + cuda +
               "; it showed here first, and until the device is reset no device time can be had. compute-sanitizer "
               "finds the kernel";
      case trouble::call_failed:
        return "a CUDA call of the recorder failed: " + cuda + "; the sample kept its host side";
      case trouble::legacy_stream:
        return "timed on the legacy default stream, where each record waits for every blocking stream and holds it "
               "back; name the stream that the work runs on";
      case trouble::ended_elsewhere:
        return "left on another thread than it was entered on; its range was not popped. Use start(), which may end "
               "anywhere";
      case trouble::out_of_order:
        return "left while a phase that was entered inside it was still open; tools end the ranges in the order of a "
               "stack, so these two have each other's end. Let scopes end in reverse order, or use start()";
      case trouble::other_warmup: return "made again with another warm-up count; the count of its first handle stands";
      case trouble::other_work:
        return "its work was declared again, and otherwise; the first declaration stands. Work that depends on conditions "
               "is given with them: with(conditions, work), enter(stream, conditions, work)";
      case trouble::bad_mode:
        return "the environment variable STREAMGAUGE is none of off, mark, time; measuring as if it were not set";
      case trouble::waited_in_capture:
        return "waited for inside a stream capture, where nothing runs: there was no wait, and there is no completion";
      case trouble::unseen_launch:
        return "its graph was launched past graph_replay: how often is not known, and no sample stands for it. Launch "
               "it through one graph_replay alone";
      case trouble::gate_timeout:
        return "its gate was opened by the time limit, since something in the phase waited for the device or took too "
               "long: a synchronise, a kernel's first launch (give the phase a warm-up), over a thousand launches, a slow "
               "host (give the gate more time). After the third time the phase goes on without a gate, and its device "
               "times hold launch gaps";
    }
    return cuda;
  }

  brief_lock lock_;
  entry entries_[capacity];
  std::size_t count_ = 0;
  std::uint64_t unnamed_ = 0;
};

}  // namespace streamgauge
