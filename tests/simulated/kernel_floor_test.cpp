// Without these: a kernel's time would be read against the floor of nothing at all; or measuring the floor around a kernel
// would read the host, hang where the program holds the device, run under a tool, or disturb the program.
// Field cases: case-12, case-51.

#include <streamgauge/measure/kernel_floor.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/capture_window.hpp>

#include "kernel_machine.hpp"
#include "observed.hpp"
#include "own_process.hpp"

using namespace std::chrono_literals;
using namespace kernel_machines;
using observed::calls_of_ours;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

/// What measuring by itself came to.
struct measured {
  sg::device_description device;
  nanoseconds host{0};  ///< that it took
};

measured measure_here() {
  make_context();
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  sg::context_answer const context = sg::current_context(*cuda.api);
  REQUIRE(context.status == cudaSuccess);
  measured seen;
  nanoseconds const before = simulated::host_now();
  sg::kernel_floor_measurement{*cuda.api, context.key}.describe(seen.device);
  seen.host = simulated::host_now() - before;
  return seen;
}

std::size_t kernel_calls() {
  return simulated::count("cuModuleLoadData") + simulated::count("cuModuleGetFunction") +
         simulated::count("cuLaunchKernel") + simulated::count("cuModuleUnload");
}

std::string table_of(sg::recording const& of) {
  std::ostringstream text;
  sg::report::table(text, of);
  return text.str();
}

}  // namespace

TEST_CASE_FIXTURE(kernel_machine, "the floor around a kernel is exact: the kernel and its stop record, all queued") {
  measured const seen = measure_here();
  CHECK(seen.device.kernel_floor == nanoseconds{2900});
  CHECK(seen.device.why_no_kernel_floor.empty());
  CHECK(simulated::count("cuModuleLoadData") == 1);
  CHECK(simulated::count("cuLaunchKernel") == 2 + 15 * 2);
  // The untimed first round is done after 4200 ns. Each of 15 others takes the 65536 cycles of the kernel ahead and as much
  // again, and its end is seen by a poll every 100 ns.
  CHECK(seen.host == nanoseconds{4200 + 15 * 69800});
  CHECK(simulated::live_modules() == 0);
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "a host slower than the kernel ahead keeps the device busy for longer, and what it had read does not count") {
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("cuLaunchKernel", 100us);
  // A round is queued in 102 us. The kernel ahead takes 66 at first: its start has passed by then; and 131 from then on.
  measured const seen = measure_here();
  CHECK(seen.device.kernel_floor == nanoseconds{2900});
  CHECK(simulated::count("cuLaunchKernel") == 2 + (1 + 15) * 2);
}

TEST_CASE_FIXTURE(kernel_machine, "what was never queued in time is no floor: neither where the device runs dry nor where time runs out") {
  char const* const too_slow = "the host was too slow to queue it ahead of the device";
  // Without a kernel ahead the start is stamped at 3.3 us, before the host has launched the empty one at 4.
  simulated::set_cycle_time(0ns);
  simulated::set_cost("cuLaunchKernel", 2us);
  measured seen = measure_here();
  CHECK_FALSE(seen.device.kernel_floor.has_value());
  CHECK(seen.device.why_no_kernel_floor == too_slow);
  CHECK(simulated::count("cuLaunchKernel") == 2 + 60 * 2);

  // Two milliseconds a launch: the longest kernel ahead, one millisecond, never is enough.
  simulated::clear_log();
  simulated::set_cycle_time(1ns);
  simulated::set_cost("cuLaunchKernel", 2ms);
  seen = measure_here();
  CHECK_FALSE(seen.device.kernel_floor.has_value());
  CHECK(seen.device.why_no_kernel_floor == too_slow);
  CHECK(seen.host == nanoseconds{5 * 4'002'900});  // the first round, and those that begin within 20 ms
  CHECK(simulated::live_modules() == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "a device that does not come to it costs 20 ms, and its code stays under the kernels that are queued") {
  simulated::set_cycle_time(1us);  // 66 ms for the kernel ahead
  measured const seen = measure_here();
  CHECK_FALSE(seen.device.kernel_floor.has_value());
  CHECK(seen.device.why_no_kernel_floor == "the device did not come to it within 20 ms");
  CHECK(seen.host == nanoseconds{4200 + 100 + 20'000'000});
  CHECK(simulated::count("cuModuleUnload") == 0);
  CHECK(simulated::live_modules() == 1);
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 0);
  reset_device();
  CHECK(simulated::live_modules() == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "a refusal says which call and what CUDA answered, and nothing is unloaded that never was loaded") {
  simulated::fail_nth("cuModuleLoadData", 1, cudaErrorUnsupportedPtxVersion);
  sg::device_description const device = measure_here().device;
  CHECK_FALSE(device.kernel_floor.has_value());
  CHECK(device.why_no_kernel_floor ==
        "cuModuleLoadData: the provided PTX was compiled with an unsupported toolchain. (cudaErrorUnsupportedPtxVersion, "
        "222)");
  CHECK(simulated::count("cuModuleGetFunction") == 0);
  CHECK(simulated::count("cuModuleUnload") == 0);
  CHECK(simulated::count("cuStreamCreate") == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "a driver that lacks a function is asked for nothing else") {
  for (char const* const name : {"cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction", "cuLaunchKernel"}) {
    CAPTURE(std::string{name});
    simulated::machine_options options;
    options.hidden_entry_points = {name};
    refresh(options);
    sg::device_description const device = measure_here().device;
    CHECK_FALSE(device.kernel_floor.has_value());
    CHECK(device.why_no_kernel_floor == "the driver lacks a function that loads or launches a kernel");
    CHECK(kernel_calls() == 0);
    CHECK(simulated::count("cuStreamCreate") == 0);
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(kernel_machine, "case-32 whichever call fails, alone or with all behind it, there is a floor or a reason, and nothing is left behind") {
  auto const play = [](std::size_t first, bool all_behind, int status) {
    refresh();
    simulated::set_poll_step(80us);  // so that a round is seen done at the first look
    make_context();
    leave_an_error_pending();
    sg::driver_answer const cuda = sg::driver();
    sg::context_answer const context = sg::current_context(*cuda.api);
    simulated::clear_log();
    for (std::size_t i = 0; first > 0 && i < (all_behind ? 400U : 1U); ++i) simulated::fail_nth_call(first + i, status);
    sg::device_description device;
    sg::kernel_floor_measurement{*cuda.api, context.key}.describe(device);
    bool const failed = simulated::injected_failures() > 0;
    simulated::clear_injections();
    bool looked_up = false;  // the runtime's own look-up takes the pending error with it
    bool failed_undoing = false;
    for (auto const& call : simulated::log()) {
      if (call.by_user || call.result != status || status == cudaSuccess) continue;
      looked_up = looked_up || call.kind == simulated::call_kind::look_up;
      std::string const name = call.name;
      failed_undoing = failed_undoing || name == "cuModuleUnload" || name == "cuEventDestroy" ||
                       name == "cuStreamDestroy" || name == "cuCtxPopCurrent" ||
                       name == "cuThreadExchangeStreamCaptureMode";
    }
    CHECK(device.kernel_floor.has_value() == device.why_no_kernel_floor.empty());
    if (device.kernel_floor) CHECK(*device.kernel_floor == nanoseconds{2900});
    CHECK(device.kernel_floor.has_value() == (!failed || (failed_undoing && device.why_no_kernel_floor.empty())));
    CHECK(simulated::live_events() == 0);
    CHECK(simulated::live_streams() == 0);
    if (!all_behind) CHECK(simulated::live_modules() == 0);
    CHECK((pending_error() == cudaErrorInvalidValue || looked_up));
    simulated::user_scope const user;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    cudaThreadExchangeStreamCaptureMode(&mode);
    CHECK(mode == cudaStreamCaptureModeGlobal);
    return failed;
  };
  CHECK_FALSE(play(0, false, cudaSuccess));
  for (bool const all_behind : {false, true}) {
    std::size_t nth = 1;
    for (; nth < 400; ++nth) {
      CAPTURE(nth);
      CAPTURE(all_behind);
      if (!play(nth, all_behind, 999)) break;
    }
    CHECK(nth > 100);
    CHECK(nth < 400);
  }
}

TEST_CASE_FIXTURE(kernel_machine, "case-12 unless the program allows it nothing is loaded or launched, and a held device holds up nobody") {
  program_stream const stream;
  program_stream const held;
  sg::recorder recorder{sg::mode::time, small_pool};
  enter_once(recorder, stream.get());
  simulated::hold(held.get());
  simulated::launch(held.get(), 1s);
  sg::device_description const device = collected(recorder);
  CHECK(device.event_floor == nanoseconds{1300});
  CHECK_FALSE(device.kernel_floor.has_value());
  CHECK(device.why_no_kernel_floor.empty());
  CHECK(kernel_calls() == 0);
  simulated::release(held.get());
}

TEST_CASE_FIXTURE(kernel_machine, "allowed, it is measured at collecting, behind the program's work, once in each life of a context") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  enter_once(recorder, stream.get());
  CHECK(kernel_calls() == 0);  // nothing on the way
  simulated::launch(stream.get(), 5ms);
  nanoseconds const end = simulated::stream_end(stream.get());
  sg::device_description const device = collected(recorder);
  CHECK(simulated::host_now() > end);
  CHECK(device.event_floor == nanoseconds{1300});
  CHECK(device.kernel_floor == nanoseconds{2900});
  CHECK(device.why_no_kernel_floor.empty());
  CHECK(simulated::count("cuModuleLoadData") == 1);
  CHECK(simulated::count("cuModuleUnload") == 1);
  CHECK(collected(recorder).kernel_floor == nanoseconds{2900});
  CHECK(simulated::count("cuModuleLoadData") == 1);

  reset_device();
  stream.forget();
  program_stream const next;
  simulated::set_kernel_duration(1700ns);
  enter_once(recorder, next.get());
  CHECK(collected(recorder).kernel_floor == nanoseconds{3000});
  CHECK(simulated::count("cuModuleLoadData") == 2);
  CHECK(simulated::live_modules() == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "allowed later, it is added to the floor that was measured before") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  enter_once(recorder, stream.get());
  CHECK_FALSE(collected(recorder).kernel_floor.has_value());
  sg::allow_kernel_floor(recorder);
  sg::device_description const device = collected(recorder);
  CHECK(device.kernel_floor == nanoseconds{2900});
  CHECK(device.event_floor == nanoseconds{1300});
}

TEST_CASE_FIXTURE(kernel_machine, "what CUDA refused once is not tried again in that life of the context") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  enter_once(recorder, stream.get());
  simulated::fail_nth("cuModuleLoadData", 1, 222);
  sg::recording const taken = recorder.collect();
  CHECK(only_device(taken).event_floor == nanoseconds{1300});
  std::string const why = only_device(taken).why_no_kernel_floor;
  CHECK(why.find("cuModuleLoadData: ") == 0);
  CHECK(table_of(taken).find("               what one around an empty kernel reads was not measured: cuModuleLoadData: the\n") !=
        std::string::npos);
  CHECK(collected(recorder).why_no_kernel_floor == why);
  CHECK(simulated::count("cuModuleLoadData") == 1);
}

TEST_CASE_FIXTURE(kernel_machine, "it waits for a moment without an open phase, an open capture, or another recorder's window") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::recorder other{sg::mode::time, small_pool};
  sg::phase const its{other, "its"};
  static_cast<void>((enter_once(recorder, stream.get()), recorder.collect()));  // the first floor is known from here on
  sg::allow_kernel_floor(recorder);
  char const* const in_phase = "a phase was open; it is measured when none is";
  char const* const in_capture = "a capture was open; it is measured when none is";
  {
    sg::phase const outer{recorder, "outer"};
    auto const open = outer.enter(stream.get());
    CHECK(collected(recorder).why_no_kernel_floor == in_phase);
  }
  {
    sg::capture_guard const guard;
    CHECK(collected(recorder).why_no_kernel_floor == in_capture);
  }
  {
    sg::capture_window const window{other, its, sg::executions{0, 2}};
    { auto const scope = its.enter(stream.get()); }
    CHECK(collected(recorder).why_no_kernel_floor == in_capture);
  }
  CHECK(kernel_calls() == 0);
  CHECK(collected(recorder).kernel_floor == nanoseconds{2900});
}

TEST_CASE_FIXTURE(kernel_machine, "one reason stands for both floors where neither was measured") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  sg::phase const outer{recorder, "outer"};
  auto const open = outer.enter(stream.get());
  sg::recording const taken = recorder.collect();
  CHECK(only_device(taken).why_no_floor == only_device(taken).why_no_kernel_floor);
  CHECK(table_of(taken).find("around an empty kernel") == std::string::npos);
}

TEST_CASE_FIXTURE(kernel_machine, "case-51 under a tool no kernel of ours is launched; without it the next collecting has the floor") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  enter_once(recorder, stream.get());
  setenv(tool_variable, "1", 1);
  sg::device_description const watched = collected(recorder);
  CHECK(watched.event_floor == nanoseconds{1300});
  CHECK_FALSE(watched.kernel_floor.has_value());
  CHECK(watched.why_no_kernel_floor == "nsys was attached, and would show the kernel as the program's");
  CHECK(kernel_calls() == 0);
  unsetenv(tool_variable);
  CHECK(collected(recorder).kernel_floor == nanoseconds{2900});
}

TEST_CASE_FIXTURE(kernel_machine, "each device has its own, wherever the collecting thread is, and its context stays what it was") {
  simulated::machine_options options;
  options.devices = 2;
  refresh(options);
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  select_device(1);
  program_stream const far_away;
  enter_once(recorder, far_away.get());
  select_device(0);
  program_stream const close_by;
  enter_once(recorder, close_by.get());
  simulated::forget_current_context();
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.environment.devices.size() == 2);
  for (auto const& device : taken.environment.devices) CHECK(device.kernel_floor == nanoseconds{2900});
  CHECK(simulated::count("cuModuleLoadData") == 2);
  CHECK(simulated::live_modules() == 0);
  sg::context_handle current = nullptr;
  CHECK(sg::driver().api->context_current(&current) == 0);
  CHECK(current == nullptr);
}

TEST_CASE_FIXTURE(kernel_machine, "case-26 a capture of the program's goes on, and its pending error stays") {
  for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    refresh();
    program_stream const stream;
    program_stream const captured;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::allow_kernel_floor(recorder);
    enter_once(recorder, stream.get());
    {
      simulated::user_scope const user;
      REQUIRE(cudaStreamBeginCapture(captured.get(), mode) == cudaSuccess);
    }
    leave_an_error_pending();
    CHECK(collected(recorder).kernel_floor == nanoseconds{2900});
    CHECK(pending_error() == cudaErrorInvalidValue);
    simulated::user_scope const user;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(captured.get(), &graph) == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(kernel_machine, "a forked child measures nothing and touches nothing") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::allow_kernel_floor(recorder);
  enter_once(recorder, stream.get());
  int const answer = in_forked_child([&] {
    sg::recording const taken = recorder.collect();
    if (!taken.environment.devices.empty()) return 1;
    return kernel_calls() == 0 && simulated::fatal_misuses().empty() ? 0 : 2;
  });
  CHECK(answer == 0);
}

TEST_CASE_FIXTURE(kernel_machine, "a recorder that is off or marks makes no CUDA call, allowed or not") {
  for (auto const wanted : {sg::mode::off, sg::mode::mark}) {
    refresh();
    program_stream const stream;
    simulated::clear_log();
    sg::recorder recorder{wanted, small_pool};
    sg::allow_kernel_floor(recorder);
    enter_once(recorder, stream.get());
    static_cast<void>(recorder.collect());
    CHECK(calls_of_ours().empty());
  }
}
