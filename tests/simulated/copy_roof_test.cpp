// Without these: a roof out of the cache, one that counts a byte once that is read and written, memory of the device that is
// never given back, or a failure that passes for a slow memory.

#include <streamgauge/measure/copy_roof.hpp>

#include <string>

#include "observed.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;

namespace {

constexpr std::size_t mebibyte = 1U << 20U;
constexpr char const* fastest = "measured: the fastest of 11 readings of 4 copies of ";

/// Nothing of the measurement is left, and the program's device is as it was.
void check_nothing_left() {
  CHECK(simulated::device_memory_in_use() == 0);
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 0);
  CHECK(simulated::fatal_misuses().empty());
}

}  // namespace

TEST_CASE("a copy of 256 MiB that takes 100 us is read and written: 5.37 TB/s") {
  fresh_machine const machine;
  make_context();
  simulated::set_copy_duration(100us);
  auto const found = sg::measure_copy_roof();
  // 2 * 268435456 bytes in 100 us.
  CHECK(found.per_second == doctest::Approx(5.36870912e12).epsilon(1e-9));
  CHECK(found.source == std::string{fastest} + "256 MiB within the device, read and written");
  CHECK(found.origin == sg::roof_origin::measured);
  CHECK(found.why_not.empty());
  CHECK(simulated::count("cuMemcpyDtoDAsync") == 12 * 4);
  check_nothing_left();
}

TEST_CASE("the buffer is four times the L2 cache where that is more, so that nothing comes from there") {
  fresh_machine const machine;
  make_context();
  simulated::set_copy_duration(100us);
  simulated::set_device_attribute(0, cudaDevAttrL2CacheSize, static_cast<int>(100 * mebibyte + 1));
  auto const found = sg::measure_copy_roof();
  CHECK(found.source == std::string{fastest} + "404 MiB within the device, read and written");
  CHECK(found.per_second == doctest::Approx(2.0 * 404 * 1048576 / 100e-6).epsilon(1e-9));
  simulated::set_device_attribute(0, cudaDevAttrL2CacheSize, static_cast<int>(64 * mebibyte));
  CHECK(sg::measure_copy_roof().source == std::string{fastest} + "256 MiB within the device, read and written");
  check_nothing_left();
}

TEST_CASE("the first copies warm up, and the fastest reading counts") {
  // Were the first four counted, or the median taken, or the last: each of these slow copies would show.
  for (std::size_t slow : {1U, 4U, 5U, 30U, 48U}) {
    fresh_machine const machine;
    make_context();
    simulated::set_copy_duration(100us, slow);
    CHECK(sg::measure_copy_roof().per_second == doctest::Approx(5.36870912e12).epsilon(1e-9));
  }
}

TEST_CASE("without a driver, a device or a context there is no roof, and none is made for it") {
  {
    simulated::machine_options options;
    options.driver_state = simulated::driver::missing;
    fresh_machine const machine{options};
    auto const found = sg::measure_copy_roof();
    CHECK_FALSE(found.per_second);
    CHECK(found.why_not == "no CUDA device or driver on this machine");
    CHECK(found.source == "measured: copies within the device");
  }
  fresh_machine const machine;
  auto const found = sg::measure_copy_roof();
  CHECK(found.why_not == "the device had no context yet (any CUDA call of yours makes one)");
  CHECK(simulated::count("cuMemAlloc") == 0);
}

TEST_CASE("a device without room for the buffers says how much was asked for, and what was given is given back") {
  fresh_machine const machine;
  make_context();
  leave_an_error_pending();
  simulated::set_device_memory(300 * mebibyte);
  auto const found = sg::measure_copy_roof();
  CHECK_FALSE(found.per_second);
  CHECK(found.why_not.find("cuMemAlloc: ") == 0);
  CHECK(found.why_not.find(", for two buffers of 256 MiB") != std::string::npos);
  check_nothing_left();
  CHECK(pending_error() == cudaErrorInvalidValue);
}

TEST_CASE("a driver that lacks a function, a copy that takes no time, and a device that does not come to it are reasons") {
  {
    fresh_machine const machine;
    make_context();
    simulated::hide_entry_point("cuMemcpyDtoDAsync");
    CHECK(sg::measure_copy_roof().why_not == "the driver lacks a function that copies");
  }
  {
    fresh_machine const machine;
    make_context();
    CHECK(sg::measure_copy_roof().why_not == "what was measured has no amount or no time above 0");
    check_nothing_left();
  }
  fresh_machine const machine;
  make_context();
  simulated::set_copy_duration(1s);
  CHECK(sg::measure_copy_roof().why_not == "the device did not come to it within a second");
  check_nothing_left();
}

TEST_CASE("whichever call fails, there is no roof but a reason, nothing is left behind, and no error stays pending") {
  std::size_t failed = 0;
  for (std::size_t n = 1;; ++n) {
    fresh_machine const machine;
    make_context();
    simulated::set_copy_duration(1us);
    simulated::fail_nth_call(n, cudaErrorUnknown);
    auto const found = sg::measure_copy_roof();
    bool const injected = simulated::injected_failures() > 0;
    simulated::clear_injections();
    CHECK(pending_error() == cudaSuccess);
    check_nothing_left();
    CHECK(found.per_second.has_value() == found.why_not.empty());
    if (!injected) {
      CHECK(found.per_second.has_value());
      break;
    }
    ++failed;
  }
  // Two look-ups of versions and devices at least, 2 buffers, a stream, 13 events and records, 48 copies, 11 readings.
  CHECK(failed >= 2 + 2 + 1 + 2 * 13 + 48 + 11);
}

TEST_CASE("a stream capture that is under way elsewhere goes on") {
  fresh_machine const machine;
  make_context();
  simulated::set_copy_duration(100us);
  auto const stream = new_stream();
  {
    simulated::user_scope const user;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  CHECK(sg::measure_copy_roof().per_second.has_value());
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}
