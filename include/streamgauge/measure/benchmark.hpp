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

#include <streamgauge/report/progress.hpp>
#include <streamgauge/measure/clock_watch.hpp>
#include <streamgauge/measure/cold_cache.hpp>
#include <streamgauge/measure/fed_intervals.hpp>
#include <streamgauge/measure/kernel_floor.hpp>
#include <streamgauge/measure/measured_series.hpp>
#include <streamgauge/measure/replayed_body.hpp>
#include <streamgauge/measure/rotating_sets.hpp>
#include <streamgauge/measure/spoiled_samples.hpp>
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
        sampled_{measured_phase(recorder_, chosen, said_cache())},
        alone_{recorder_, chosen.name + ", alone", chosen.under, streamgauge::warmup{warmup()}},
        sets_{rotates() ? chosen.sets : 1},
        feed_{stream} {
    found_.name = chosen.name;
    found_.iterations = chosen.iterations;
    found_.work = chosen.work;
    found_.sets = chosen.sets;
    allow_kernel_floor(recorder_);
  }

  [[nodiscard]] measurement take() {
    if (rule_.rule().time <= nanoseconds{0} || rule_.rule().samples == 0)
      found_.why_none = "the budget allows no execution";
    else if (chosen_.iterations == 0)
      found_.why_none = "an interval without an execution has no time";
    else
      found_.why_none = why_not_rotating<Body>(chosen_);
    if (found_.why_none.empty() && feed_.why_not_begun()) found_.why_none = feed_.why_not_begun();
    if (!found_.why_none.empty()) return finish();
    run_alone();
    if (found_.why_none.empty()) found_.why_none = feed_.is_lost() ? why_over(feed_, cold_) : why_too_long(recorder_, chosen_);
    if (!found_.why_none.empty()) return finish();
    found_.watched = feed_.is_watched();
    if (chosen_.how == launched_by::graph) found_.why_none = capture(sampled_, sets_.intervals_in_a_turn(chosen_.iterations));
    if (!found_.why_none.empty()) return finish();
    found_.watched ? sample(chosen_.under_tool) : run_until_tight();
    return finish();
  }

 private:
  static constexpr std::size_t alone_samples = 32;

  [[nodiscard]] bool rotates() const noexcept { return chosen_.cache == cache_state::rotating; }
  [[nodiscard]] std::optional<cache_state> said_cache() const noexcept {
    return chosen_.cache == cache_state::cold || rotates() ? std::optional{chosen_.cache} : std::nullopt;
  }
  // Each set is used once in it: what comes with a first use is no sample's.
  [[nodiscard]] std::size_t warmup() const noexcept {
    return rotates() && chosen_.warmup < chosen_.sets ? chosen_.sets : chosen_.warmup;
  }
  [[nodiscard]] nanoseconds elapsed() const noexcept { return host_now() - begun_; }
  [[nodiscard]] bool is_over() const noexcept { return elapsed() >= rule_.rule().time; }

  // Both sides of single executions, each waited for: the warm-up, then some that count, within a tenth of the time.
  void run_alone() {
    std::size_t counted = 0;
    for (std::size_t i = 0; counted < alone_samples && found_.why_none.empty() && !feed_.is_lost(); ++i) {
      bool const counts = i >= warmup();
      if (counts) ++counted;
      if (i > 0 && (counts ? 10 * elapsed() >= rule_.rule().time : is_over())) return;
      auto scope = alone_.enter(stream_);
      execute();
      scope.wait(chosen_.wait == wait_policy::block ? wait_policy::block : wait_policy::spin);
      if (i == 0) begun_ += clocks_.start(chosen_.clocks_from, feed_.last());
      if (i == 0) found_.why_none = why_no_time();
      clocks_.look();
    }
  }

  // Why the execution that ended last gave no device time, and none will; empty where it gave one. The budget is not for the
  // floor, which is measured here, and whose kernels the driver may have to compile first.
  [[nodiscard]] std::string why_no_time() {
    host_stamp const asked = host_now();
    auto const taken = recorder_.collect();
    begun_ += host_now() - asked;
    for (auto const& each : taken.all)
      for (auto const& one : each.samples)
        if (!one.device.known()) return describe(one.device.why_absent());
    return lost_text(taken);
  }

  void execute() { run_body(body_, stream_, sets_.next()); }

  // Empty, or why it cannot be captured. As many graphs as there are sets that an interval may begin with.
  [[nodiscard]] std::string capture(phase const& inside, std::size_t graphs) {
    phase const launches{recorder_, chosen_.name + ", launch", chosen_.under};
    replayed_.emplace();
    for (std::size_t i = 0; i < graphs; ++i) {
      if (i > 0 && is_over())
        return "the time for it was spent on capturing a graph for each set: of choices.iterations that are a multiple of "
               "choices.sets one holds all";
      if (!replayed_->add(recorder_, inside, launches, stream_, chosen_.iterations, [this] { execute(); })) break;
    }
    return replayed_->why_not();
  }

  void run_until_tight() {
    std::optional<cold_cache> cold;
    if (chosen_.cache == cache_state::cold) {
      cold_ = &cold.emplace(stream_);
      if (cold_ && found_.why_none.empty()) found_.why_none = cold_->why_not();
    }
    std::size_t target = 32;
    while (!rule_.state().stopped() && found_.why_none.empty()) {
      if (target > rule_.rule().samples) target = rule_.rule().samples;
      while (taken_ < target && !is_over() && found_.why_none.empty()) {
        std::size_t const left = target - taken_;
        sample(feed_.chunk() < left ? feed_.chunk() : left);
        line_.show({chosen_.name, taken_, rule_.state().half_width, rule_.rule().time - elapsed()});
      }
      offer_samples();
      target += target / 4;
    }
    cold_ = nullptr;
    if (said_cache() && found_.why_none.empty()) compare_with_warm();
  }

  void sample(std::size_t count) {
    std::size_t const first = taken_;
    bool const holds = run_chunk(count, sampled_);
    taken_ += count;
    if (!holds) spoiled_.add(first, taken_);
  }

  [[nodiscard]] bool run_chunk(std::size_t count, phase const& in) {
    auto const one = [&] {
      if (cold_) cold_->overwrite();
      run_once(in);
    };
    bool const holds = feed_.run(count, recorder_, one, [&] { clocks_.look(); });
    if (found_.why_none.empty()) found_.why_none = why_over(feed_, cold_);
    return holds;
  }

  // One interval.
  void run_once(phase const& in) {
    feed_.part();
    if (replayed_) {
      if (cudaError_t const status = replayed_->launch(); status != cudaSuccess && found_.why_none.empty())
        found_.why_none = "the graph cannot be launched: " + describe(status, "cudaGraphLaunch");
      return;
    }
    auto const scope = in.enter(stream_);
    for (std::size_t k = 0; k < chosen_.iterations; ++k) execute();
  }

  // To the rule: those that it has not seen. A sample without a time counts for the budget.
  void offer_samples() {
    auto taken = collected();
    series const* const all = measured_series_in(taken, chosen_, said_cache());
    std::size_t const count = all ? all->samples.size() : 0;
    for (; offered_ < taken_ && !rule_.state().stopped(); ++offered_) {
      bool const is_known = offered_ < count && all->samples[offered_].device.known();
      rule_.add(is_known ? static_cast<double>(all->samples[offered_].device.value()->count()) : -1.0, elapsed());
    }
    if (is_over() && !rule_.state().stopped()) rule_.add(-1.0, elapsed());
    if (auto const why = broke_off(all); why && found_.why_none.empty()) found_.why_none = broke_off_text(*why);
  }

  // Whether the caches held nothing is not taken on trust: the same work on the same inputs, again and again, stands beside it.
  void compare_with_warm() {
    constexpr std::size_t times = 16;
    auto const first = median_of(said_cache(), 0);
    if (!first) return;
    fractional_nanoseconds const all{rule_.rule().time};  // a tenth more than the longest is no whole number of nanoseconds
    fractional_nanoseconds const left = all / 10 + (is_over() ? fractional_nanoseconds{0} : all - elapsed());
    if (*first * (times + 1) > left.count()) {
      found_.why_not_compared = "no time was left for the same work with warm ones";
      return;
    }
    sets_.stay();
    phase const warm = measured_phase(recorder_, chosen_, cache_state::warm);
    if (replayed_) found_.why_not_compared = capture(warm, 1);
    if (!found_.why_not_compared.empty()) return;
    // What the caches held before the first one was another's.
    bool const holds = run_chunk(1, warm) && run_chunk(times, warm);
    auto const again = holds ? median_of(cache_state::warm, 1) : std::nullopt;
    if (again && *again > 0) found_.cold_over_warm = *first / *again;
    if (!again) found_.why_not_compared = "the same work with warm ones got no device time";
    found_.why_none.clear();  // what failed now is not the measurement
  }

  [[nodiscard]] std::optional<double> median_of(std::optional<cache_state> cache, std::size_t from) {
    recording taken = collected();
    return median(known_times_of(measured_series_in(taken, chosen_, cache), from));
  }

  [[nodiscard]] recording collected() {
    recording taken = recorder_.collect();
    if (series* const all = measured_series_in(taken, chosen_, said_cache())) spoiled_.drop_from(*all);
    return taken;
  }

  [[nodiscard]] measurement finish() {
    replayed_.reset();
    found_.taken = collected();
    found_.stopped = rule_.state();
    found_.feeding = feed_.feeding();
    found_.gate = feed_.last();
    found_.overtaken = feed_.overtaken();
    found_.took = elapsed();
    if (found_.why_none.empty() && !found_.median()) found_.why_none = why_no_median();
    return std::move(found_);
  }

  [[nodiscard]] std::string why_no_median() const {
    series const* const all = found_.samples();
    if (found_.watched && chosen_.under_tool == 0) return "choices.under_tool asks for no execution";
    if (!all && taken_ == 0)
      return "the time for it was spent on executions one by one, before the first interval: allow more in choices.until.time";
    std::string const none = "no execution has a device time";
    if (!all || all->samples.back().device.known()) return none;
    return none + ": " + describe(all->samples.back().device.why_absent());
  }

  stream_ref stream_;
  Body& body_;
  measure_choices const& chosen_;
  stopping<> rule_;
  host_stamp begun_;
  timeline_recorder recorder_;
  phase sampled_;
  phase alone_;
  set_rotation sets_;
  fed_intervals feed_;
  clock_watch clocks_{recorder_};
  std::optional<replayed_body> replayed_;
  cold_cache* cold_ = nullptr;
  measurement found_;
  std::size_t taken_ = 0;
  std::size_t offered_ = 0;
  spoiled_samples spoiled_;
  report::progress line_;
};

/// How long a callable's work takes on the device, as closely as asked: warms up, then samples until it is steady and the
/// median is known within `choices.until.width`, or until the budget of time or samples is spent.
/// Why: one interval says little; launch gaps, cold code and unsteady clocks are in it. Here the device is fed ahead of each
/// interval by a gate where one is allowed, or by work of ours that is queued first; what came before the work was steady is
/// kept apart, and the answer says how it was got. The clocks are read while the device works (`choices.clocks_from`).
/// On a terminal a line of standard error says how far it has come, and is taken away again.
/// With `cache_state::rotating` the callable is also called with the number of a set of inputs, a `std::size_t` from 0 to
/// `choices.sets` less one, and goes through them in turn; in graphs too, one for each set that an interval may begin with.
/// Requires: the callable enqueues on the stream, or what the stream waits for: other streams' work is not seen. It is called
/// with the stream where it takes one. Sets are alike, and larger than the L2 cache together, some times over.
/// Throws: what the callable throws, and `std::bad_alloc`. Sync: waits for the stream's work again and again.
/// Capture: never on a stream that is being captured; then there is no median, and the reason.
/// Example: `auto found = sg::measure(stream, [&](cudaStream_t on) { scale<<<blocks, 256, 0, on>>>(x, n); });`
template <class Body>
[[nodiscard]] measurement measure(stream_ref stream, Body&& body, measure_choices const& choices = {}) {
  return benchmark<std::remove_reference_t<Body>>{stream, body, choices}.take();
}

}  // namespace streamgauge

#endif
