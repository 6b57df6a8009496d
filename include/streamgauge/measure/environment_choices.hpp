#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <atomic>

#include <streamgauge/measure/conditions.hpp>
#include <streamgauge/measure/lock.hpp>
#include <streamgauge/measure/this_program.hpp>

namespace streamgauge {

class recorder_core;

/// What reads a recorder's devices by NVML; `device_readings.hpp` has it.
/// Why: called through here, so that who does not ask pays neither for compiling it nor for running it.
/// Threads: any.
class device_reader {
 public:
  /// A reading of each device that samples came from so far. Sync: some microseconds a device, the first time some 14 ms.
  virtual void read(recorder_core& of) = 0;
  /// Adds what was read of the device.
  virtual void describe(device_description& into) = 0;
  /// The recorder has ended: nothing is read any more.
  virtual void close() noexcept = 0;
  virtual ~device_reader() = default;
};

/// What a program adds to the description of its environment, and what it leaves out.
/// Requires: `notice_forks` was called.
/// Threads: any.
class environment_choices {
 public:
  environment_choices() = default;
  environment_choices(environment_choices const&) = delete;
  environment_choices& operator=(environment_choices const&) = delete;
  ~environment_choices() { delete reader.load(std::memory_order_relaxed); }

  /// A later value replaces one of the same key.
  void add(given_condition const& given) {
    condition fresh{std::string{given.key()}, std::string{given.value()}};
    brief_guard const guard{lock_};
    for (condition& each : given_)
      if (each.key == fresh.key) return each.value.swap(fresh.value);
    given_.push_back(std::move(fresh));
  }
  void leave_out_command() noexcept { command_left_out_.store(true, std::memory_order_relaxed); }

  template <class Environment>
  void describe(Environment& into) {
    if (command_left_out_.load(std::memory_order_relaxed)) {
      into.why_no_command = "left out by the program";
    } else if (auto program = this_program(); program.why_not.empty()) {
      into.command = std::move(program.words);
    } else {
      into.why_no_command = program.why_not;
    }
    brief_guard const guard{lock_};
    into.given = given_;
  }

  std::atomic<device_reader*> reader{nullptr};  ///< null unless the program asked; owned

 private:
  std::atomic<bool> command_left_out_{false};
  brief_lock lock_;  // what follows
  std::vector<condition> given_;
};

}  // namespace streamgauge

#endif
