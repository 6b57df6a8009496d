#pragma once

#include <streamgauge/measure/measurement.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {

/// Compiled out: the callable is not called, and there is no number.
template <class Body>
[[nodiscard]] measurement measure(stream_ref, Body&&, measure_choices const& choices = {}) {
  measurement found;
  found.name = choices.name;
  found.iterations = choices.iterations;
  found.why_none = "measuring is compiled out by STREAMGAUGE_DISABLE";
  return found;
}

}  // namespace disabled
}  // namespace streamgauge

#else

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <streamgauge/report/progress.hpp>
#include <streamgauge/measure/captured_body.hpp>
#include <streamgauge/measure/clock_watch.hpp>
#include <streamgauge/measure/cold_cache.hpp>
#include <streamgauge/measure/fed_intervals.hpp>
#include <streamgauge/measure/kernel_floor.hpp>
#include <streamgauge/measure/measured_series.hpp>
#include <streamgauge/measure/timeline.hpp>

namespace streamgauge {

/// One measurement of one callable: `measure` has its story.
/// Threads: one at a time.
template <class Body>
class benchmark {
 public:
  benchmark(stream_ref stream, Body& body, measure_choices const& chosen)
      : stream_{stream},
        body_{body},
        chosen_{chosen},
        rule_{kept_whole(chosen.until)},
        begun_{host_now()},
        recorder_{mode::time, capacity{4000, 1024}},
        sampled_{measured_phase(recorder_, chosen, cache_word())},
        alone_{recorder_, chosen.name + ", alone", chosen.under, streamgauge::warmup{chosen.warmup}},
        feed_{stream} {
    found_.name = chosen.name;
    found_.iterations = chosen.iterations;
    found_.work = chosen.work;
    allow_kernel_floor(recorder_);
  }

  [[nodiscard]] measurement take() {
    if (rule_.rule().time <= nanoseconds{0} || rule_.rule().samples == 0)
      found_.why_none = "the budget allows no execution";
    else if (chosen_.iterations == 0)
      found_.why_none = "an interval without an execution has no time";
    if (!found_.why_none.empty()) return finish();
    run_alone();
    if (!found_.why_none.empty()) return finish();
    found_.watched = feed_.is_watched();
    if (chosen_.how == launched_by::graph && !capture()) return finish();
    if (found_.watched)
      run_chunk(chosen_.under_tool, sampled_);
    else
      run_until_tight();
    return finish();
  }

 private:
  static constexpr std::size_t alone_samples = 32;

  [[nodiscard]] char const* cache_word() const noexcept { return chosen_.cache == cache_state::cold ? "cold" : nullptr; }
  [[nodiscard]] nanoseconds elapsed() const noexcept { return host_now() - begun_; }
  [[nodiscard]] bool is_over() const noexcept { return elapsed() >= rule_.rule().time; }

  // Both sides of single executions, each waited for: the warm-up, then some that count, within a tenth of the time.
  void run_alone() {
    for (std::size_t i = 0; i < chosen_.warmup + alone_samples && found_.why_none.empty(); ++i) {
      bool const counts = i >= chosen_.warmup;
      if (i > 0 && (counts ? 10 * elapsed() >= rule_.rule().time : is_over())) return;
      auto scope = alone_.enter(stream_);
      run_body(body_, stream_);
      scope.wait(wait_policy::spin);
      if (i == 0) begun_ += clocks_.start(chosen_.clocks_from, feed_.last());
      if (i == 0) found_.why_none = why_no_time();
      clocks_.look();
    }
  }

  // Why the execution that ended last gave no device time, and none will; empty where it gave one.
  [[nodiscard]] std::string why_no_time() {
    auto const taken = recorder_.collect();
    for (auto const& each : taken.all)
      for (auto const& one : each.samples)
        if (!one.device.known()) return describe(one.device.why_absent());
    return {};
  }

  [[nodiscard]] bool capture() {
    captured_.emplace(recorder_, sampled_, stream_, body_, chosen_.iterations);
    found_.why_none = captured_->why_not();
    if (!found_.why_none.empty()) return false;
    phase const launches{recorder_, chosen_.name + ", launch", chosen_.under};
    replay_.emplace(launches, captured_->executable(), captured_->graph(), stream_);
    return true;
  }

  void run_until_tight() {
    std::optional<cold_cache> cold;
    if (chosen_.cache == cache_state::cold) {
      cold_ = &cold.emplace();
      if (cold_ && found_.why_none.empty()) found_.why_none = cold_->why_not();
    }
    std::size_t target = 32;
    while (!rule_.state().stopped() && found_.why_none.empty()) {
      if (target > rule_.rule().samples) target = rule_.rule().samples;
      while (taken_ < target && !is_over() && found_.why_none.empty()) {
        std::size_t const left = target - taken_;
        run_chunk(feed_.chunk() < left ? feed_.chunk() : left, sampled_);
        clocks_.look();
        line_.show({chosen_.name, taken_, rule_.state().half_width, rule_.rule().time - elapsed()});
      }
      offer_samples();
      target += target / 4;
    }
    if (cold_ && found_.why_none.empty()) compare_with_warm();
    cold_ = nullptr;
  }

  void run_chunk(std::size_t count, phase const& in) {
    std::size_t const first = taken_;
    bool const holds = feed_.run(count, recorder_, [&] {
      if (cold_) cold_->overwrite(stream_);
      run_once(in);
      if (!comparing_) ++taken_;
    });
    if (!holds) spoiled_.push_back({first, taken_});
    if (cold_ && found_.why_none.empty()) found_.why_none = cold_->why_not();
  }

  // One interval.
  void run_once(phase const& in) {
    feed_.part();
    if (replay_) {
      if (cudaError_t const status = replay_->launch(); status != cudaSuccess && found_.why_none.empty())
        found_.why_none = "the graph cannot be launched: " + describe(status, "cudaGraphLaunch");
      return;
    }
    auto const scope = in.enter(stream_);
    for (std::size_t k = 0; k < chosen_.iterations; ++k) run_body(body_, stream_);
  }

  // To the rule: those that it has not seen. A sample without a time counts for the budget.
  void offer_samples() {
    auto const taken = collected();
    series const* const all = find_samples(taken);
    std::size_t const count = all ? all->samples.size() : 0;
    for (; offered_ < count && !rule_.state().stopped(); ++offered_) {
      auto const& seen = all->samples[offered_].device;
      double const time = seen.known() ? static_cast<double>(seen.value()->count()) : -1.0;
      rule_.add(time, elapsed());
    }
    if (offered_ == count && is_over() && !rule_.state().stopped()) rule_.add(-1.0, elapsed());
  }

  // Whether the caches were cold is not taken on trust: the same work with warm ones stands beside it.
  void compare_with_warm() {
    comparing_ = true;
    cold_ = nullptr;
    phase const warm = measured_phase(recorder_, chosen_, "warm");
    run_chunk(1, warm);  // the caches were cold before it
    run_chunk(16, warm);
    // Inside a graph the phase is the cold one still: there they stand behind the others.
    recording const taken = recorder_.collect();
    std::vector<std::int64_t> of_cold, of_warm;
    for (series const& each : taken.all) {
      if (each.phase != chosen_.name) continue;
      bool const is_sampled = &each == find_samples(taken);
      std::size_t const first_warm = is_sampled ? taken_ : 0;
      for (std::size_t i = 0; i < each.samples.size(); ++i) {
        if (!each.samples[i].device.known() || i == first_warm) continue;
        (i < first_warm ? of_cold : of_warm).push_back(each.samples[i].device.value()->count());
      }
    }
    auto const cold = streamgauge::median(of_cold);
    auto const again = streamgauge::median(of_warm);
    if (cold && again && *again > 0) found_.cold_over_warm = *cold / *again;
  }

  [[nodiscard]] series const* find_samples(recording const& taken) const {
    auto const wanted = measured_conditions(chosen_, cache_word());
    for (series const& each : taken.all)
      if (each.phase == chosen_.name && each.conditions == wanted.values()) return &each;
    return nullptr;
  }
  [[nodiscard]] recording collected() {
    recording taken = recorder_.collect();
    for (series& each : taken.all) {
      if (&each != find_samples(taken)) continue;
      if (comparing_ && each.samples.size() > taken_) each.samples.resize(taken_);
      for (sample_range const& range : spoiled_)
        for (std::size_t i = range.begin; i < range.end && i < each.samples.size(); ++i)
          each.samples[i].device = absence::gate_timeout;
    }
    return taken;
  }

  [[nodiscard]] measurement finish() {
    replay_.reset();
    found_.taken = collected();
    found_.stopped = rule_.state();
    found_.feeding = feed_.feeding();
    found_.gate = feed_.last();
    found_.took = elapsed();
    if (found_.why_none.empty() && !found_.median()) {
      found_.why_none = "no execution has a device time";
      series const* const all = found_.samples();
      if (all && !all->samples.back().device.known())
        found_.why_none += std::string{": "} + describe(all->samples.back().device.why_absent());
    }
    return std::move(found_);
  }

  struct sample_range {
    std::size_t begin;
    std::size_t end;
  };

  stream_ref stream_;
  Body& body_;
  measure_choices const& chosen_;
  stopping<> rule_;
  host_stamp begun_;
  timeline_recorder recorder_;
  phase sampled_;
  phase alone_;
  fed_intervals feed_;
  clock_watch clocks_{recorder_};
  std::optional<captured_body> captured_;
  std::optional<graph_replay> replay_;  // ends before what it launches
  cold_cache* cold_ = nullptr;
  measurement found_;
  bool comparing_ = false;
  std::size_t taken_ = 0;
  std::size_t offered_ = 0;
  std::vector<sample_range> spoiled_;
  report::progress line_;
};

/// How long a callable's work takes on the device, as closely as asked: warms up, then samples until it is steady and the
/// median is known within `choices.until.width`, or until the budget of time or samples is spent.
/// Why: one interval says little; launch gaps, cold code and unsteady clocks are in it. Here the device is fed ahead of each
/// interval by a gate where one is allowed, what came before the work was steady is kept apart, and the answer says how it
/// was got. The clocks are read between intervals (`choices.clocks_from`), every 10 ms at most.
/// On a terminal a line of standard error says how far it has come, and is taken away again.
/// Requires: the callable enqueues on the stream, or what the stream waits for: other streams' work is not seen. It is called
/// with the stream where it takes one.
/// Throws: what the callable throws, and `std::bad_alloc`. Sync: waits for the stream's work again and again.
/// Capture: never on a stream that is being captured; then there is no median, and the reason.
/// Example: `auto found = sg::measure(stream, [&](cudaStream_t on) { scale<<<blocks, 256, 0, on>>>(x, n); });`
template <class Body>
[[nodiscard]] measurement measure(stream_ref stream, Body&& body, measure_choices const& choices = {}) {
  return benchmark<std::remove_reference_t<Body>>{stream, body, choices}.take();
}

}  // namespace streamgauge

#endif
