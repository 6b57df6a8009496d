#pragma once

// What the tests of spans ask again and again.

#include <streamgauge/measure/span.hpp>

#include "observed.hpp"

namespace observed {

/// Lets a stream wait for what another one has queued now, by an event of the program's own.
inline void follow(cudaStream_t later, cudaStream_t earlier) {
  simulated::user_scope const user;
  cudaEvent_t edge = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&edge, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventRecord(edge, earlier) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(later, edge, 0) == cudaSuccess);
  REQUIRE(cudaEventDestroy(edge) == cudaSuccess);
}

/// The one series of a phase under exactly these conditions.
inline sg::series row_of(sg::recording const& of, std::string const& phase, std::vector<sg::condition> const& under) {
  for (auto const& each : of.all)
    if (each.phase == phase && each.conditions == under) return each;
  FAIL("no such series of " << phase);
  return {};
}

/// The one sample of a phase under exactly these conditions.
inline sg::sample sample_of(sg::recording const& of, std::string const& phase,
                            std::vector<sg::condition> const& under) {
  auto const series = row_of(of, phase, under);
  REQUIRE(series.samples.size() == 1);
  return series.samples.front();
}

/// For every series and observable: entered = kept + dropped + incomplete, and no sample was lost.
inline void check_accounts(sg::recording const& of) {
  for (auto const& each : of.all) {
    CAPTURE(each.phase);
    CHECK(each.lost == 0);
    auto const row = sg::summarize(each);
    check_account(row.submit.samples, each.samples.size());
    check_account(row.device.samples, each.samples.size());
    check_account(row.completion.samples, each.samples.size());
  }
}

/// The records and waits of ours since the last `clear_log`, each as its name and what it is about.
inline std::vector<simulated::call> stamps_and_edges() {
  std::vector<simulated::call> found;
  for (auto const& each : simulated::log()) {
    std::string const name = each.name;
    if (!each.by_user && (name == "cuEventRecord" || name == "cuStreamWaitEvent")) found.push_back(each);
  }
  return found;
}

}  // namespace observed
