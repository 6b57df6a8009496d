// Fails each CUDA call of each way to measure in turn. Whatever fails: no crash, no hang, no leak, a median or the reason why
// there is none and never both, every sample accounted for, and no time that the callable did not take.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>

#include "measured.hpp"

using namespace measured;

namespace {

constexpr nanoseconds takes{20'000};

sg::measure_choices few() {
  sg::measure_choices chosen;
  chosen.until.time = 1s;
  chosen.until.samples = 40;
  chosen.warmup = 1;
  chosen.clocks_from = nullptr;
  return chosen;
}

/// The program's own work, which nothing fails.
void work(cudaStream_t on) {
  simulated::user_scope const user;
  launch(on, takes);
}

void check_samples(sg::recording const& taken, nanoseconds possible) {
  for (sg::series const& each : taken.all) {
    CAPTURE(each.phase);
    CHECK(each.lost == 0);
    check_account(sg::summarize(each).device.samples, each.samples.size());
    bool const is_launch = each.phase.find(", launch") != std::string::npos;
    for (sg::sample const& one : each.samples)
      if (one.device.known() && !is_launch) CHECK(one.device == possible);
  }
}

void check_found(sg::measurement const& found) {
  CAPTURE(found.why_none);
  CHECK(found.median().has_value() == found.why_none.empty());
  if (found.median()) CHECK(*found.median() == sg::fractional_nanoseconds{takes});
  check_samples(found.taken, takes);
}
void check_found(sg::contest const& found) {
  CAPTURE(found.why_none);
  CHECK(found.against_first.empty() != found.why_none.empty());
  if (!found.against_first.empty()) CHECK(found.against_first[0].verdict != sg::verdict::slower);
  if (!found.against_first.empty()) CHECK(found.against_first[0].verdict != sg::verdict::faster);
  check_samples(found.taken, takes);
}

struct scenario {
  std::string name;
  std::size_t of_graphs;  ///< events that its graphs record: they go with the context
  std::function<void(cudaStream_t)> play;
};

std::vector<scenario> every_scenario() {
  return {{"as it is", 0, [](cudaStream_t stream) { check_found(sg::measure(stream, work, few())); }},
          {"in graphs, with cold caches", 4,
           [](cudaStream_t stream) {
             auto chosen = few();
             chosen.how = sg::launched_by::graph;
             chosen.cache = sg::cache_state::cold;
             check_found(sg::measure(stream, work, chosen));
           }},
          {"rotating in graphs", 6,
           [](cudaStream_t stream) {
             auto chosen = few();
             chosen.how = sg::launched_by::graph;
             chosen.cache = sg::cache_state::rotating;
             chosen.sets = 2;
             check_found(sg::measure(stream, [](cudaStream_t on, std::size_t) { work(on); }, chosen));
           }},
          {"in rounds, with cold caches", 0,
           [](cudaStream_t stream) {
             auto chosen = few();
             chosen.cache = sg::cache_state::cold;
             check_found(sg::measure_pair(stream, work, work, chosen));
           }},
          {"without a gate", 0, [](cudaStream_t) {
             check_found(sg::measure_pair(cudaStreamLegacy, work, work, few()));
           }}};
}

/// The functions that a scenario calls, and how often, where nothing fails.
std::map<std::string, std::size_t> calls_of(scenario const& each) {
  plain_run const machine;
  simulated::set_device_attribute(0, l2_attribute, 1'000'000);
  cudaStream_t const stream = new_stream();
  simulated::clear_log();
  each.play(stream);
  std::map<std::string, std::size_t> counts;
  for (auto const& call : simulated::log()) {
    std::string const name = call.name;
    if (!call.by_user && name != "cudaPeekAtLastError" && name != "cudaGetLastError") ++counts[name];
  }
  return counts;
}

void fail_one(scenario const& each, std::string const& name, std::size_t nth, int status) {
  CAPTURE(each.name);
  CAPTURE(name);
  CAPTURE(nth);
  CAPTURE(status);
  plain_run const machine;
  simulated::set_device_attribute(0, l2_attribute, 1'000'000);
  cudaStream_t const stream = new_stream();
  std::size_t const memory = simulated::device_memory_in_use();
  simulated::fail_nth(name, nth, status);
  each.play(stream);
  simulated::clear_injections();
  // Where the driver does not say that a context lives, what is in it is left alone: touching dead things would crash.
  if (name != "cuCtxGetId") {
    // Those of the graphs, and what they may record instead where a swap failed.
    bool const is_swap = name == "cuGraphExecEventRecordNodeSetEvent";
    CHECK(simulated::live_events() <= (is_swap ? 3 : 1) * each.of_graphs);
    CHECK(simulated::device_memory_in_use() == memory);
  }
  simulated::user_scope const user;
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  // Here a call that is failed does nothing; CUDA's own end of a capture ends it whatever it answers.
  if (name != "cudaStreamEndCapture") CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

}  // namespace

TEST_CASE("whatever call of a measurement fails, it ends with a median or a reason, and leaves nothing behind") {
  for (scenario const& each : every_scenario())
    for (auto const& [name, count] : calls_of(each))
      // The first call in both ways, later ones in turn: the sanitizers make minutes of it otherwise.
      for (std::size_t nth = 1; nth <= count; nth += nth < 4 ? 1 : count > nth + 2 ? (count - nth) / 2 : 1)
        for (int const status : {int{cudaErrorMemoryAllocation}, int{cudaErrorIllegalAddress}})
          if (nth == 1 || (nth % 2 == 0) == (status == cudaErrorIllegalAddress)) fail_one(each, name, nth, status);
}
