#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>

namespace streamgauge {
inline namespace disabled {
inline void allow_kernel_floor(recorder const&) noexcept {}
}  // namespace disabled
}  // namespace streamgauge

#else

#include <streamgauge/measure/recorder.hpp>

struct CUmod_st;
struct CUfunc_st;

namespace streamgauge {

/// The kernels of the measurement: one that does nothing, and one that keeps the device busy for so many of its cycles.
/// Why: as text for the driver to compile, so nobody needs nvcc. The target is the oldest device that CUDA 12 runs on, and
/// the driver compiles the text of a target for every later device; the version is what CUDA 11.0 wrote, so every driver of
/// CUDA 12 and later reads it. A later target would leave devices out, a later version drivers. ptxas 13.0 takes it for all
/// of its devices, 7.5 to 12.1.
/// The busy one counts its rounds as well: it ends after so many even if the cycles stood still.
inline constexpr char kernel_floor_code[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry streamgauge_empty() { ret; }\n"
    ".visible .entry streamgauge_ahead(.param .u64 cycles) {\n"
    "  .reg .pred %more;\n"
    "  .reg .u64 %begun, %now, %length, %rounds;\n"
    "  ld.param.u64 %length, [cycles];\n"
    "  mov.u64 %rounds, 0;\n"
    "  mov.u64 %begun, %clock64;\n"
    "again:\n"
    "  mov.u64 %now, %clock64;\n"
    "  sub.u64 %now, %now, %begun;\n"
    "  add.u64 %rounds, %rounds, 1;\n"
    "  setp.lt.u64 %more, %rounds, %length;\n"
    "  setp.lt.and.u64 %more, %now, %length, %more;\n"
    "  @%more bra again;\n"
    "  ret;\n"
    "}\n";

/// The driver's functions that load and launch a kernel. Statuses are numbered as the runtime's.
struct kernel_api {
  int (*load)(CUmod_st**, void const*) = nullptr;
  int (*unload)(CUmod_st*) = nullptr;
  int (*function_of)(CUfunc_st**, CUmod_st*, char const*) = nullptr;
  int (*launch)(CUfunc_st*, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                unsigned int, cudaStream_t, void**, void**) = nullptr;

  /// False where the driver lacks one.
  [[nodiscard]] bool find() noexcept {
    return without_trace([this] {
      return look_up(load, "cuModuleLoadData") && look_up(unload, "cuModuleUnload") &&
             look_up(function_of, "cuModuleGetFunction") && look_up(launch, "cuLaunchKernel");
    });
  }
};

/// Measures what a phase around an empty kernel reads on a device, all of it queued before the device begins.
/// Why: on an idle stream the device waits for the host between the records, and reads the host. To queue some of the same
/// launches ahead is not enough, since the device does an empty kernel in half the time that the host takes to launch it. So
/// each reading stands behind a kernel that keeps the device busy, and counts only if its start was still to come when its
/// stop had been queued. Nothing is held: that kernel ends by itself. One reading at a time, since several that wait in a
/// row read up to a microsecond more.
/// Sync: loading the kernels may wait for all that runs in the context, without a limit. What follows waits for a stream of
/// its own, a millisecond or so, and gives up within 60.
/// Capture: allowed; nothing that is being captured is touched.
class kernel_floor_measurement {
 public:
  kernel_floor_measurement(driver_api const& cuda, context_key context) noexcept : cuda_{cuda} {
    if (!kernels_.find()) {
      why_not_ = "the driver lacks a function that loads or launches a kernel";
      return;
    }
    relaxed_capture_mode const relaxed{cuda};
    if (!done("cuThreadExchangeStreamCaptureMode", relaxed.status())) return;
    context_scope const current{cuda, context.handle};
    if (!done("cuCtxPushCurrent", current.status())) return;
    if (prepare()) run();
    // After a failure work of ours may still be under way.
    if (pending_ && status_ != cudaErrorNotReady && cuda_.event_record(stop_, stream_) == cudaSuccess) finish();
    if (start_) cuda.event_destroy(start_);
    if (stop_) cuda.event_destroy(stop_);
    if (stream_) cuda.stream_destroy(stream_);
    // Code that a kernel in the queue still needs stays, some KiB, and ends with the context.
    if (module_ && !pending_) kernels_.unload(module_);
  }
  kernel_floor_measurement(kernel_floor_measurement const&) = delete;
  kernel_floor_measurement& operator=(kernel_floor_measurement const&) = delete;

  /// The floor, or why there is none.
  void describe(device_description& device) const {
    if (taken_ == count)
      device.kernel_floor = median_reading(readings_, count);
    else if (status_ == cudaErrorNotReady)
      device.why_no_kernel_floor = "the device did not come to it within 20 ms";
    else if (status_ != cudaSuccess)
      device.why_no_kernel_floor = streamgauge::describe(static_cast<cudaError_t>(status_), call_);
    else
      device.why_no_kernel_floor = why_not_;
  }

 private:
  static constexpr std::size_t count = 15;
  static constexpr std::size_t most_tries = 4 * count;
  static constexpr nanoseconds patience{20'000'000};
  // Some 33 us of an H200, in which a host queues two records and a launch in 5; at most half a millisecond.
  static constexpr std::uint64_t first_cycles = std::uint64_t{1} << 16;
  static constexpr std::uint64_t most_cycles = std::uint64_t{1} << 20;

  // Keeps the first failure, with the call that it came from.
  [[nodiscard]] bool done(char const* call, int status) noexcept {
    if (status_ == cudaSuccess && status != cudaSuccess) {
      status_ = status;
      call_ = call;
    }
    return status_ == cudaSuccess;
  }

  [[nodiscard]] bool prepare() noexcept {
    return done("cuModuleLoadData", kernels_.load(&module_, kernel_floor_code)) &&
           done("cuModuleGetFunction", kernels_.function_of(&empty_, module_, "streamgauge_empty")) &&
           done("cuModuleGetFunction", kernels_.function_of(&ahead_, module_, "streamgauge_ahead")) &&
           done("cuStreamCreate", cuda_.stream_create(&stream_, cudaStreamNonBlocking)) &&
           done("cuEventCreate", cuda_.event_create(&start_, cudaEventDefault)) &&
           done("cuEventCreate", cuda_.event_create(&stop_, cudaEventDefault));
  }

  void run() noexcept {
    host_stamp const until = host_now() + patience;
    // The first launch of each kernel may load more, and is not counted.
    if (!queue(0) || !finish()) return;
    why_not_ = "the host was too slow to queue it ahead of the device";
    std::uint64_t cycles = first_cycles;
    for (std::size_t i = 0; i < most_tries && taken_ < count && host_now() < until; ++i) {
      if (!queue(cycles)) return;
      int const begun = cuda_.event_query(start_);
      if (begun != cudaErrorNotReady && !done("cuEventQuery", begun)) return;
      if (!finish()) return;
      if (begun == cudaErrorNotReady) {
        elapsed_answer const answer = elapsed(cuda_, start_, stop_);
        if (!done("cuEventElapsedTime", answer.status)) return;
        readings_[taken_++] = answer.time.count();
      } else if (cycles < most_cycles) {
        cycles *= 2;
      }
    }
  }

  [[nodiscard]] bool queue(std::uint64_t cycles) noexcept {
    void* parameters[] = {&cycles};
    return launch(ahead_, parameters) && done("cuEventRecord", cuda_.event_record(start_, stream_)) &&
           launch(empty_, nullptr) && done("cuEventRecord", cuda_.event_record(stop_, stream_));
  }

  [[nodiscard]] bool launch(CUfunc_st* kernel, void** parameters) noexcept {
    int const status = kernels_.launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr);
    pending_ = pending_ || status == cudaSuccess;
    return done("cuLaunchKernel", status);
  }

  // Whether the device has passed the stop.
  bool finish() noexcept {
    int const status = poll_until(cuda_, stop_, host_now() + patience);
    if (status == cudaSuccess) pending_ = false;
    return done("cuEventQuery", status);
  }

  driver_api const& cuda_;
  kernel_api kernels_;
  CUmod_st* module_ = nullptr;
  CUfunc_st* empty_ = nullptr;
  CUfunc_st* ahead_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  bool pending_ = false;
  std::int64_t readings_[count] = {};
  std::size_t taken_ = 0;
  int status_ = cudaSuccess;
  char const* call_ = "";
  char const* why_not_ = "";
};

// Once in each life of a context, whatever comes of it.
template <class>
void recorder_core::add_kernel_floor(recorder_core& core, driver_api const& cuda, context_key context,
                                     std::string const& tool, device_description& into) {
  if (into.kernel_floor || !into.why_no_kernel_floor.empty()) return;
  if (char const* const why_not = core.why_not_now(cuda, context)) {
    into.why_no_kernel_floor = why_not;
    return;
  }
  if (!tool.empty()) {
    into.why_no_kernel_floor = tool + " was attached, and would show the kernel as the program's";
    return;
  }
  {
    brief_guard const guard{core.registry_};
    measured_device* const known = core.find_device_locked(context);
    if (known && std::exchange(known->kernel_floor_tried, true)) {
      into = known->description;
      bool const done = into.kernel_floor || !into.why_no_kernel_floor.empty();
      if (!done) into.why_no_kernel_floor = "another thread was measuring it";
      return;
    }
  }
  kernel_floor_measurement{cuda, context}.describe(into);
  brief_guard const guard{core.registry_};
  if (measured_device* const known = core.find_device_locked(context)) known->description = into;
}

/// Lets `collect` measure what a phase around an empty kernel reads on each device that samples came from: once in each life
/// of its context, where no phase and no capture is open and no tool is known to watch. It stands beside the other floor
/// then, the table warns by it, and `less_floor` takes it off.
/// Why: asked for, and not done by itself. CUDA may let the loading of a kernel wait for all that runs in the context, so
/// where a kernel there waits for the host, or for another thread's launch, `collect` would wait for ever.
/// Requires: nothing of the kind runs on the device when `collect` is called.
/// Sync: none here; `collect` waits once in each context, as `kernel_floor_measurement` says. The driver compiles the kernels
/// then, which can take some 100 ms, and may keep them in its cache on disk. ncu without `--nvtx` cannot be told from no
/// tool: there `streamgauge_empty` and `streamgauge_ahead` are among its results.
/// Threads: any.
/// Example: `sg::recorder recorder; sg::allow_kernel_floor(recorder);`
inline void allow_kernel_floor(recorder& of) noexcept {
  of.core().kernel_floor.store(&recorder_core::add_kernel_floor<>, std::memory_order_relaxed);
}

}  // namespace streamgauge

#endif
