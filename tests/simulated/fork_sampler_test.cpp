// Without this: a child that is forked while a thread reads the devices would wait for a thread that it does not have, or end
// the readings of its parent.

#include <streamgauge/measure/device_sampler.hpp>

#include "nvml/fake_nvml.hpp"
#include "observed.hpp"
#include "own_process.hpp"
#include "real_time.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
namespace sg = streamgauge;

TEST_CASE_FIXTURE(fresh_machine, "a forked child ends it without waiting for a thread that it does not have") {
  no_hang const within;
  fake_nvml nvml;
  auto* const recorder = new sg::recorder{sg::mode::time};
  sg::phase const step{*recorder, "step"};
  { auto const scope = step.enter(observed::new_stream()); }
  auto* const sampler = new sg::device_sampler{*recorder, 1ms, nvml.library()};
  REQUIRE(comes_to(nvml, 2));
  int const status = in_forked_child([&] {
    alarm(20);
    delete sampler;
    delete recorder;
    return 0;
  });
  CHECK(status == 0);
  int const seen = nvml->readings;
  CHECK(comes_to(nvml, seen + 2));
  delete sampler;
  delete recorder;
  CHECK(nvml->started == 0);
}
