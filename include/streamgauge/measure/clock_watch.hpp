#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <atomic>
#include <memory>
#include <string>

#include <streamgauge/mark/tool.hpp>
#include <streamgauge/measure/gating.hpp>
#include <streamgauge/measure/device_readings.hpp>

namespace streamgauge {

/// An NVML that stays started.
struct kept_nvml {
  std::string library;
  unsigned int made_in;  ///< fork generation
  nvml started;
  kept_nvml* next = nullptr;

  kept_nvml(char const* from, unsigned int generation) : library{from}, made_in{generation}, started{from} {}
};
inline std::atomic<kept_nvml*> all_kept_nvml{nullptr};

/// Starts NVML and leaves it started until the process ends, once for each library.
/// Why: NVML counts who started it and ends with the last of them. Recorders that come and go would pay its start and the
/// first reading each time, some 24 ms; beside one that stays they only count. A forked child starts its own, and no lock
/// can be left held in it. Two threads that are as quick as each other both keep one, which costs nothing.
/// Throws: only `std::bad_alloc`. Sync: the first time some 10 ms.
/// Threads: any.
inline void keep_nvml_started(char const* library) {
  unsigned int const now = fork_generation.load(std::memory_order_relaxed);
  for (kept_nvml* each = all_kept_nvml.load(std::memory_order_acquire); each; each = each->next)
    if (each->made_in == now && each->library == library) return;
  auto fresh = std::make_unique<kept_nvml>(library, now);
  if (!fresh->started.why_not().empty()) return;
  kept_nvml* const mine = fresh.release();
  mine->next = all_kept_nvml.load(std::memory_order_relaxed);
  while (!all_kept_nvml.compare_exchange_weak(mine->next, mine, std::memory_order_acq_rel)) {}
}

/// Says why devices are not read, in the place of what would read them.
/// Threads: any.
class unread_devices final : public device_reader {
 public:
  explicit unread_devices(char const* why) noexcept : why_{why} {}
  void read(recorder_core&) override {}
  void describe(device_description& into) override { into.why_no_readings = why_; }
  void close() noexcept override {}

 private:
  char const* why_;
};

/// Reads a recorder's devices beside a measurement: once it is started, and then whenever somebody looks, every 10 ms at
/// most. Each `collect` takes a reading as well.
/// Why: a clock that fell in the middle has often recovered at the end, and that of a device that waits is not the one that it
/// works at. A thread of its own would read while the host enqueues, and want a core that the measured program may need.
/// Requires: the recorder outlives it; whoever looks has no interval open: what is under way is all enqueued.
/// Threads: one at a time.
class clock_watch {
 public:
  static constexpr nanoseconds period = std::chrono::milliseconds{10};

  explicit clock_watch(recorder& of) noexcept : of_{of} {}

  /// Begins with a reading, and answers how long all that took: the first time in a process that is NVML's start.
  /// Under a tool nothing is read, and the recording says so. `fed`: what became of the gate, which looks for tools as well.
  /// `library`: NVML's; null: nobody wants readings.
  /// Throws: only `std::bad_alloc`; without NVML the recording has the reason.
  [[nodiscard]] nanoseconds start(char const* library, gating fed) {
    host_stamp const begun = host_now();
    if (!library || of_.recorded() != mode::time || process_ends()) return nanoseconds{0};
    if (char const* const why_not = why_unread(fed)) {
      give_reader(of_, std::make_unique<unread_devices>(why_not));
      return nanoseconds{0};
    }
    keep_nvml_started(library);
    read_devices(of_, library);
    reader_ = of_.core().describing.reader.load(std::memory_order_acquire);
    read();
    return host_now() - begun;
  }

  void look() {
    if (reader_ && host_now() - last_ >= period) read();
  }

 private:
  void read() {
    reader_->read(of_.core());
    last_ = host_now();
  }

  // What stands in the environment is looked at as well: of some streams the gate looks for no tool.
  [[nodiscard]] static char const* why_unread(gating fed) noexcept {
    if (fed == gating::capture_open) return "a capture was open, which reading would disturb";
    bool const seen = fed == gating::tool_attached || tool_of(tool_signs_with(nvtx_answer::not_asked)).known();
    return seen ? "a tool is attached, which reading would disturb" : nullptr;
  }

  recorder& of_;
  device_reader* reader_ = nullptr;
  host_stamp last_{};
};

}  // namespace streamgauge

#endif
