#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdlib>
#include <cstring>

#include <streamgauge/measure/collecting.hpp>
#include <streamgauge/measure/compilation.hpp>
#include <streamgauge/measure/thread_lanes.hpp>

namespace streamgauge {

/// Keeps what phases see and yields it as a recording.
/// Why: results come back long after the host has gone on, so open intervals are kept until the device has passed them,
/// and read without ever waiting unless the program asks.
/// Requires: it outlives the scopes of its phases; phases and started executions may outlive it.
/// Threads: any; each thread keeps its samples in a lane of its own.
/// Sync: only `collect` waits.
class recorder {
 public:
  /// The mode comes from the environment variable STREAMGAUGE (off, mark, time); unset, it is `time`.
  explicit recorder(capacity limits = {}) : core_{make(limits)} {}

  /// The mode is the program's decision; the environment is not asked.
  explicit recorder(mode wanted, capacity limits = {})
      : core_{new recorder_core{wanted, wanted == mode::time ? "" : word(wanted) + ", set in code", limits}} {}

  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder() {
    core_->close();
    core_->release();
  }

  /// Everything so far, phases that are still open as incomplete. It may be called again; samples stay until the recorder
  /// ends.
  /// Sync: waits for the stop event of each finished interval, for no stream of the program's and for no device. Where the
  /// floor of a device is still to be measured, up to 20 ms for a stream of its own; more where `allow_kernel_floor` was
  /// called. Capture: allowed; the thread's capture mode is relaxed while it waits.
  /// Throws: only `std::bad_alloc`. What failed while measuring stands in the recording's problems.
  template <class Recording = recording, class Unit = compiled_here>
  [[nodiscard]] Recording collect() {
    Recording taken = core_->collect<Recording>();
    Unit::describe(taken.environment);
    return taken;
  }

  /// Adds a key and a value of the program's own to the environment of what is collected, as a condition is written down; a
  /// later value replaces one of the same key.
  /// Throws: only `std::bad_alloc`. Threads: any.
  /// Example: `recorder.describe({"commit", "3f2a91c"}); recorder.describe({"rank", rank});`
  void describe(given_condition const& own) { core_->describing.add(own); }

  /// From now on the environment of what is collected holds no command line: for programs whose arguments are nobody
  /// else's business.
  /// Threads: any.
  void leave_out_command() noexcept { core_->describing.leave_out_command(); }

  /// Waits for every finished interval and reads it.
  /// Sync: as `collect`.
  void drain() noexcept { core_->drain(); }

  [[nodiscard]] mode recorded() const noexcept { return core_->recorded(); }
  [[nodiscard]] recorder_core& core() const noexcept { return *core_; }

 private:
  static std::string word(mode of) { return of == mode::off ? "off" : of == mode::mark ? "mark" : "time"; }

  [[nodiscard]] static recorder_core* make(capacity limits) {
    char const* const set = std::getenv("STREAMGAUGE");
    mode wanted = mode::time;
    bool known = !set || !*set;
    for (mode const each : {mode::off, mode::mark, mode::time}) {
      if (!known && word(each) == set) {
        wanted = each;
        known = true;
      }
    }
    auto* const core =
        new recorder_core{wanted, wanted == mode::time ? "" : word(wanted) + ", set by STREAMGAUGE", limits};
    if (!known) core->problems().note(trouble::bad_mode, "");
    return core;
  }

  recorder_core* core_;
};

}  // namespace streamgauge

#endif
