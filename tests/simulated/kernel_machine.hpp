#pragma once

// What the tests of the floor around a kernel share.

#include <streamgauge/measure/kernel_floor.hpp>

#include <cstdlib>

#include <streamgauge/measure/phase.hpp>

#include "program.hpp"
#include "ranges_seen.hpp"

namespace kernel_machines {

namespace sg = streamgauge;
using namespace std::chrono_literals;

inline constexpr sg::capacity small_pool{1000, 4};
inline constexpr char const* tool_variable = "NSYS_PROFILING_SESSION_ID";

/// A device on which an empty phase reads 1300 ns and one around an empty kernel 2900; no tool shows itself.
struct kernel_machine {
  explicit kernel_machine(simulated::machine_options const& options = {}) : machine{options} {
    ranges_seen::takes_names = false;
    for (char const* const sign : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", tool_variable}) unsetenv(sign);
    refresh(options);
  }
  ~kernel_machine() {
    ranges_seen::takes_names = true;
    unsetenv(tool_variable);
  }
  static void refresh(simulated::machine_options const& options = {}) {
    simulated::reset(options);
    simulated::set_record_duration(1300ns);
    simulated::set_kernel_duration(1600ns);
  }
  simulated::fresh_machine machine;
};

inline void enter_once(sg::recorder& recorder, cudaStream_t stream) {
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
}

inline sg::device_description only_device(sg::recording const& of) {
  REQUIRE(of.environment.devices.size() == 1);
  return of.environment.devices[0];
}

inline sg::device_description collected(sg::recorder& recorder) { return only_device(recorder.collect()); }

}  // namespace kernel_machines
