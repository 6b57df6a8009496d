#pragma once

// What the tests of gates ask again and again.

#include <cstdlib>

#include <streamgauge/measure/gate.hpp>

#include "observed.hpp"
#include "program.hpp"
#include "ranges_seen.hpp"
#include "real_time.hpp"

namespace gated {

using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using sg::gating;
using simulated::launch;

/// No tool, as in a plain run, and no test that hangs.
struct plain_run : simulated::fresh_machine {
  no_hang within_minutes;

  explicit plain_run(simulated::machine_options const& options = {}) : fresh_machine{options} { no_tool(); }
  ~plain_run() {
    no_tool();
    ranges_seen::takes_names = true;
  }
  static void no_tool() {
    ranges_seen::takes_names = false;
    for (char const* const each : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"})
      unsetenv(each);
  }
};

/// Every count of a gate, for a comparison in one line: those that are not 0, as "gated 2, timed_out 1".
inline std::string counts(sg::gate const& of) {
  constexpr char const* names[] = {"gated",         "timed_out",    "already_held",   "warmup",        "given_up",
                                   "tool_attached", "capture_open", "stream_capture", "legacy_stream", "forked",
                                   "not_timed",     "no_cuda",      "not_supported",  "no_room",       "call_failed"};
  static_assert(sizeof names / sizeof *names == sg::gating_count);
  std::string text;
  for (std::size_t i = 0; i < sg::gating_count; ++i) {
    auto const count = of.count(static_cast<gating>(i));
    if (count > 0) text += (text.empty() ? "" : ", ") + std::string{names[i]} + ' ' + std::to_string(count);
  }
  return text;
}

inline std::size_t waits() { return simulated::count("cuStreamWaitValue32"); }

/// Waits for the program's own work, as it would at the end of a step.
inline void synchronize(cudaStream_t stream) {
  simulated::user_scope const user;
  cudaStreamSynchronize(stream);
}

}  // namespace gated

namespace doctest {
template <>
struct StringMaker<streamgauge::gating> {
  static String convert(streamgauge::gating what) { return streamgauge::describe(what); }
};
}  // namespace doctest
