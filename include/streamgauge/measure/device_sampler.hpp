#pragma once

#include <streamgauge/measure/device_readings.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {
class device_sampler {
 public:
  explicit device_sampler(recorder const&, nanoseconds = {}, char const* = nullptr) noexcept {}
  ~device_sampler() {}
  device_sampler(device_sampler const&) = delete;
  device_sampler& operator=(device_sampler const&) = delete;
};
}  // namespace disabled
}  // namespace streamgauge

#else

#include <csignal>
#include <functional>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace streamgauge {

/// Reads a recorder's devices every so often while it lives, on a thread of its own: as `read_devices`, and meanwhile.
/// Why: a clock that fell in the middle of a run has often recovered when the run is collected.
/// Shape: the first reading is at once; a period of less than a millisecond counts as one.
/// Requires: nothing of the recorder's life; what is read when it has ended is lost.
/// Throws: `std::bad_alloc`, and `std::system_error` where no thread can be started.
/// Sync: its end waits for a reading that is under way. Threads: its own thread takes no signal of the program's.
/// Example: `sg::device_sampler sampler{recorder, std::chrono::milliseconds{100}};`
class device_sampler {
 public:
  explicit device_sampler(recorder& of, nanoseconds period = std::chrono::milliseconds{100},
                          char const* library = nvml_library)
      : core_{of.core()} {
    if (of.recorded() != mode::time) return;
    read_devices(of, library);
    auto fresh = std::make_unique<running>();
    {
      signals_blocked const quiet;
      fresh->thread = std::thread{run, std::ref(core_), std::ref(*fresh), within_reason(period)};
    }
    core_.retain();
    running_ = std::move(fresh);
  }
  device_sampler(device_sampler const&) = delete;
  device_sampler& operator=(device_sampler const&) = delete;
  ~device_sampler() {
    if (!running_) return;
    // In a forked child the thread is not there, and cannot be waited for: it is left.
    if (fork_generation.load(std::memory_order_relaxed) != made_in_) {
      static_cast<void>(running_.release());
      return;
    }
    running_->ends.store(true, std::memory_order_relaxed);
    eventfd_write(running_->wake, 1);
    running_->thread.join();
    core_.release();
  }

 private:
  // Woken by a file: a wait for a condition asks the host's clock, and would not end in a forked child.
  struct running {
    int const wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // without one its end waits for a period
    std::atomic<bool> ends{false};
    std::thread thread;

    running() = default;
    running(running const&) = delete;
    running& operator=(running const&) = delete;
    ~running() {
      if (wake >= 0) close(wake);
    }
  };

  // A new thread takes over which signals are blocked.
  class signals_blocked {
   public:
    signals_blocked() noexcept {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

   private:
    sigset_t before_;
  };

  static void run(recorder_core& core, running& mine, int period) noexcept {
    device_reader* const reader = core.describing.reader.load(std::memory_order_acquire);
    pollfd until{mine.wake, POLLIN, 0};
    while (!mine.ends.load(std::memory_order_relaxed)) {
      reader->read(core);
      poll(&until, 1, period);
    }
  }

  // In milliseconds, at least one and at most a day.
  [[nodiscard]] static int within_reason(nanoseconds period) noexcept {
    std::int64_t const asked = period.count() / 1'000'000;
    return static_cast<int>(asked < 1 ? 1 : asked > 86'400'000 ? 86'400'000 : asked);
  }

  recorder_core& core_;
  unsigned int const made_in_ = fork_generation.load(std::memory_order_relaxed);
  std::unique_ptr<running> running_;
};

}  // namespace streamgauge

#endif
