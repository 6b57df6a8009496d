// A machine whose CUDA cannot be used from the start of the process on. Each of these cases leaves the library without a
// driver, so that the next one starts as a fresh process would; a case that finds one belongs elsewhere.

#include <sstream>

#include <streamgauge/measure/interval.hpp>

#include "observed.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;

namespace {

simulated::machine_options without_driver() {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  return options;
}

simulated::machine_options with_old_driver() {
  simulated::machine_options options;
  options.driver_version = CUDART_VERSION - 1000;
  return options;
}

simulated::machine_options with_ancient_driver() {
  simulated::machine_options options;
  options.runtime_version = 11080;
  options.driver_version = 11080;
  return options;
}

simulated::machine_options with_incomplete_driver() {
  simulated::machine_options options;
  options.hidden_entry_points = {"cuCtxGetId"};
  return options;
}

std::string table_of(sg::recording const& of) {
  std::ostringstream text;
  sg::report::table(text, of);
  return text.str();
}

// How often a sentence stands in a text, wherever its lines are broken.
std::size_t occurrences(std::string const& lines, std::string const& of) {
  std::string text;
  for (char const letter : lines) {
    bool const blank = letter == ' ' || letter == '\n';
    if (!blank) text += letter;
    else if (!text.empty() && text.back() != ' ') text += ' ';
  }
  std::size_t times = 0;
  for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++times;
  return times;
}

// A program that measures, as if all were well. Its streams are what the failed creation left: null.
sg::recording measured() {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const parse{recorder, "parse"};
  cudaStream_t const stream = nullptr;
  for (auto const policy : {sg::wait_policy::none, sg::wait_policy::spin, sg::wait_policy::block}) {
    auto scope = step.enter(stream);
    simulated::host_advance(5us);
    { auto const inner = parse.enter(sg::host_only); }
    scope.wait(policy);
  }
  auto open = step.start(stream);
  simulated::host_advance(5us);
  open.stop();
  recorder.drain();
  return recorder.collect();
}

void check_host_columns(sg::recording const& recording, sg::absence why) {
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == 4);
  for (auto const& each : series.samples) {
    CHECK(each.submit == 5us);
    CHECK(missing(each.device) == why);
  }
  CHECK(missing(series.samples[0].completion) == sg::absence::not_asked);
  CHECK(missing(series.samples[1].completion) == why);
  CHECK(missing(series.samples[2].completion) == why);
  CHECK(series_of(recording, "parse").samples.size() == 3);
  CHECK(recording.problems.empty());
  CHECK(recording.environment.devices.empty());
  CHECK(recording.environment.why_no_device == sg::describe(why));
  auto const table = table_of(recording);
  CHECK_MESSAGE(occurrences(table, std::string{"no device: "} + sg::describe(why)) == 1, table);
}

}  // namespace

TEST_CASE("without a driver the host columns work, and the device's are absent with the reason") {
  fresh_machine const machine{without_driver()};
  ranges_seen::so_far.forget();
  check_host_columns(measured(), sg::absence::no_driver);
  CHECK(ranges_seen::so_far.pushes == 6);
  CHECK(ranges_seen::so_far.pops == 6);
  CHECK(simulated::count("cudaGetDriverEntryPointByVersion") + simulated::count("cudaGetDriverEntryPoint") == 0);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a driver that is older than the runtime costs the device columns, with that reason") {
  for (auto const& options : {with_old_driver(), with_ancient_driver()}) {
    fresh_machine const machine{options};
    check_host_columns(measured(), sg::absence::driver_too_old);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
}

TEST_CASE("a driver that lacks a function is too old, and half of it is never used") {
  fresh_machine const machine{with_incomplete_driver()};
  {
    simulated::user_scope const user;
    REQUIRE(cudaFree(nullptr) == cudaSuccess);
  }
  auto const recording = measured();
  CHECK(missing(series_of(recording, "step").samples.at(0).device) == sg::absence::driver_too_old);
  for (auto const& each : simulated::log()) CHECK(each.kind != simulated::call_kind::driver);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the program's pending error survives a machine without a driver (case-32)") {
  fresh_machine const machine{without_driver()};
  {
    simulated::user_scope const user;
    REQUIRE(cudaFree(nullptr) == cudaErrorInsufficientDriver);
  }
  static_cast<void>(measured());
  CHECK(cudaGetLastError() == cudaErrorInsufficientDriver);
}

TEST_CASE("what needs CUDA says so with one type: an event, an interval") {
  fresh_machine const machine{without_driver()};
  cudaStream_t const stream = nullptr;
  CHECK_THROWS_AS(sg::event{stream}, sg::cuda_error);
  CHECK_THROWS_AS(sg::interval{stream}, sg::cuda_error);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a recorder of a machine without a driver ends quietly") {
  fresh_machine const machine{without_driver()};
  {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(cudaStream_t{nullptr}); }
  }
  CHECK(simulated::count("cuEventDestroy") == 0);
}

// The last one: it finds a driver, which the library then keeps.
TEST_CASE("a machine with a driver and no device measures the host") {
  simulated::machine_options options;
  options.devices = 0;
  fresh_machine const machine{options};
  check_host_columns(measured(), sg::absence::no_driver);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}
