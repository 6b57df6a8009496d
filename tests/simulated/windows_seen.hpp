#pragma once

// What the tests of capture windows do and ask again and again.

#include <streamgauge/measure/capture_window.hpp>
#include <streamgauge/measure/span.hpp>

#include <string>
#include <vector>

#include "program.hpp"

namespace windows_seen {

namespace sg = streamgauge;

/// What happened to the device and the profiler, a letter each: [ and ] for Start and Stop, k a kernel, d a wait for it.
inline std::string story() {
  std::string told;
  for (auto const& name : simulated::logged_names()) {
    if (name == "cuProfilerStart") told += '[';
    if (name == "cuProfilerStop") told += ']';
    if (name == "cudaLaunchKernel") told += 'k';
    if (name == "cuEventSynchronize" || name == "cuCtxSynchronize") told += 'd';
  }
  return told;
}
/// The same without the waits.
inline std::string kernels() {
  std::string told;
  for (char const each : story())
    if (each != 'd') told += each;
  return told;
}

/// Enters the phase so many times, each with a kernel of 1 ms.
inline void run(sg::phase const& step, cudaStream_t stream, int times) {
  for (int i = 0; i < times; ++i) {
    auto const scope = step.enter(stream);
    simulated::launch(stream, std::chrono::milliseconds{1});
  }
}

/// A machine, a stream, a recorder that fits many, and a phase.
class program : public simulated::fresh_machine {
 public:
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, {1000, 64}};
  sg::phase const step{recorder, "step"};

  void run(int times) const { windows_seen::run(step, stream.get(), times); }
};

inline void check_closed() {
  CHECK(sg::the_profiler.open == 0);
  CHECK_FALSE(sg::the_profiler.collecting);
  CHECK(sg::the_profiler.windows == nullptr);
  CHECK(pending_error() == cudaSuccess);
}

/// The texts of a recording's problems.
inline std::vector<std::string> problems(sg::recorder& of) {
  std::vector<std::string> texts;
  for (sg::problem const& each : of.collect().problems) texts.push_back(each.phase + ": " + each.text);
  return texts;
}

/// The number of a phase's samples whose device time is known.
inline std::size_t kept(sg::recording const& of) {
  std::size_t count = 0;
  for (sg::series const& each : of.all)
    for (sg::sample const& one : each.samples) count += one.device.known() ? 1u : 0u;
  return count;
}

}  // namespace windows_seen
