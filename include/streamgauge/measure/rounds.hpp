#pragma once

#include <utility>

#include <streamgauge/measure/contest.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {

/// Compiled out: nothing is called, and there is no verdict.
[[nodiscard]] inline contest measure_rounds(stream_ref, std::vector<contender> const& all, measure_choices const& = {}) {
  contest found;
  for (contender const& each : all) found.names.push_back(each.name);
  found.why_none = "measuring is compiled out by STREAMGAUGE_DISABLE";
  return found;
}

}  // namespace disabled
}  // namespace streamgauge

#else

#include <optional>
#include <string>
#include <vector>

#include <streamgauge/analyze/round_comparison.hpp>
#include <streamgauge/report/progress.hpp>
#include <streamgauge/measure/clock_watch.hpp>
#include <streamgauge/measure/cold_cache.hpp>
#include <streamgauge/measure/fed_intervals.hpp>
#include <streamgauge/measure/kernel_floor.hpp>
#include <streamgauge/measure/measured_series.hpp>
#include <streamgauge/measure/spoiled_samples.hpp>
#include <streamgauge/measure/timeline.hpp>

namespace streamgauge {

/// Rounds of several callables: `measure_rounds` has their story.
/// Threads: one at a time.
class contest_under_way {
 public:
  contest_under_way(stream_ref stream, std::vector<contender> const& all, measure_choices const& chosen)
      : stream_{stream},
        all_{all},
        chosen_{chosen},
        until_{kept_whole(chosen.until, chosen.warmup)},
        begun_{host_now()},
        recorder_{mode::time, capacity{4000, 1024}},
        feed_{stream} {
    for (contender const& each : all_) {
      phases_.push_back(contender_phase(recorder_, chosen_, each.name));
      found_.names.push_back(each.name);
      order_.push_back(order_.size());
    }
    found_.iterations = chosen_.iterations;
    found_.work = chosen_.work;
    allow_kernel_floor(recorder_);
  }

  [[nodiscard]] contest take() {
    found_.why_none = why_not();
    if (!found_.why_none.empty()) return finish();
    std::optional<cold_cache> cold;
    if (chosen_.cache == cache_state::cold && !feed_.is_watched()) {
      cold_ = &cold.emplace(stream_);
      if (cold_ && found_.why_none.empty()) found_.why_none = cold_->why_not();
      if (!found_.why_none.empty()) return finish();
    }
    found_.watched = feed_.is_watched();
    run(1);
    begun_ += clocks_.start(chosen_.clocks_from, feed_.last());
    if (found_.why_none.empty()) found_.why_none = why_no_time();
    if (!found_.why_none.empty()) return finish();
    if (found_.watched) {
      while (done_ < chosen_.warmup && !is_over()) run(1);
      run(chosen_.under_tool);
      found_.why_none = "a tool is attached: what is measured under it is no result";
      return finish();
    }
    std::size_t target = 2 * fewest_rounds;
    while (found_.ended == stop_cause::none && found_.why_none.empty()) {
      if (target > until_.samples) target = until_.samples;
      while (done_ < chosen_.warmup + target && !is_over() && found_.why_none.empty()) {
        std::size_t const left = chosen_.warmup + target - done_;
        std::size_t const at_once = feed_.chunk() / all_.size() > 1 ? feed_.chunk() / all_.size() : 1;
        run(at_once < left ? at_once : left);
        line_.show({"rounds", done_, std::nullopt, until_.time - elapsed()});
      }
      found_.ended = look(target);
      target += target / 4;
    }
    return finish();
  }

 private:
  [[nodiscard]] std::string why_not() const {
    if (all_.size() < 2) return "there is nothing to compare: fewer than two callables";
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].body) return "\"" + all_[i].name + "\" is no callable";
      for (std::size_t k = 0; k < i; ++k)
        if (all_[k].name == all_[i].name) return "two callables are called \"" + all_[i].name + "\"";
    }
    if (until_.time <= nanoseconds{0} || chosen_.until.samples == 0) return "the budget allows no round";
    if (until_.samples == 0) return "choices.warmup leaves no round that counts: a series keeps 65,536 of them whole";
    if (chosen_.how == launched_by::graph)
      return "callables in rounds are not captured: let each launch a graph of its own, and leave choices.how";
    if (feed_.why_not_begun()) return feed_.why_not_begun();
    if (chosen_.cache == cache_state::rotating || chosen_.sets != 1)
      return "callables in rounds get no number of a set: let each rotate by itself, and leave choices.cache and choices.sets";
    return chosen_.iterations == 0 ? "an interval without an execution has no time" : "";
  }
  [[nodiscard]] nanoseconds elapsed() const noexcept { return host_now() - begun_; }
  [[nodiscard]] bool is_over() const noexcept { return elapsed() >= until_.time; }

  // Why no execution so far has a device time, and none will; empty where one has, or where a gate was let go too early. The
  // budget is not for the floor, which is measured here.
  [[nodiscard]] std::string why_no_time() {
    absence why = absence::none;
    host_stamp const asked = host_now();
    recording const taken = recorder_.collect();
    begun_ += host_now() - asked;
    for (series const& each : taken.all)
      for (sample const& one : each.samples) {
        if (one.device.known()) return {};
        why = one.device.why_absent();
      }
    if (why == absence::none) return lost_text(taken);
    return spoiled_.empty() ? describe(why) : "";
  }

  void run(std::size_t rounds) {
    std::size_t const first = done_;
    auto const round = [&] {
      shuffle();
      for (std::size_t const each : order_) {
        if (feed_.is_lost()) break;
        if (cold_) cold_->overwrite();
        feed_.part();
        auto const scope = phases_[each].enter(stream_);
        for (std::size_t k = 0; k < chosen_.iterations; ++k) all_[each].body(stream_.handle());
      }
      ++done_;
    };
    bool const holds = feed_.run(rounds, recorder_, round, [&] { clocks_.look(); });
    if (!holds) spoiled_.add(first, done_);
    if (found_.why_none.empty()) found_.why_none = why_over(feed_, cold_);
  }

  // Who runs first in a round, or behind whom, must not decide. From run to run the same order.
  void shuffle() noexcept {
    for (std::size_t i = order_.size() - 1; i > 0; --i) {
      random_ ^= random_ << 13U;
      random_ ^= random_ >> 7U;
      random_ ^= random_ << 17U;
      std::swap(order_[i], order_[random_ % (i + 1)]);
    }
  }

  [[nodiscard]] stop_cause look(std::size_t target) {
    recording const taken = recorder_.collect();
    compare_with_first(taken);
    for (series const& each : taken.all)
      if (auto const why = broke_off(&each)) {
        found_.why_none = "\"" + each.phase + "\": " + broke_off_text(*why);
        return stop_cause::none;
      }
    bool tight = !found_.against_first.empty();
    for (comparison const& each : found_.against_first) {
      bool const narrow = each.interval && each.interval->high - each.interval->low <= 2 * until_.width;
      tight = tight && narrow;
    }
    if (tight) return stop_cause::narrow;
    if (is_over()) return stop_cause::time_spent;
    return target >= until_.samples ? stop_cause::samples_spent : stop_cause::none;
  }

  // A round counts where every contender has a time in it.
  void compare_with_first(recording const& taken) {
    std::vector<std::vector<std::int64_t>> times(all_.size());
    std::vector<series const*> of;
    for (contender const& each : all_)
      for (series const& one : taken.all)
        if (one.phase == each.name) of.push_back(&one);
    found_.against_first.clear();
    found_.rounds = 0;
    if (of.size() != all_.size()) return;
    for (std::size_t round = chosen_.warmup; round < done_; ++round) {
      bool whole = !spoiled_.has(round);
      for (series const* each : of) whole = whole && round < each->samples.size() && each->samples[round].device.known();
      if (!whole) continue;
      ++found_.rounds;
      for (std::size_t i = 0; i < of.size(); ++i) times[i].push_back(of[i]->samples[round].device.value()->count());
    }
    std::optional<double> least;
    for (std::size_t i = 0; i < times.size(); ++i) {
      auto const middle = median(times[i]);
      if (middle && (!least || *middle < *least)) {
        least = middle;
        found_.fastest = i;
      }
      if (i > 0) found_.against_first.push_back(compare_rounds(times[0], times[i]));
    }
  }

  [[nodiscard]] contest finish() {
    found_.taken = recorder_.collect();
    for (series& each : found_.taken.all) spoiled_.drop_from(each);
    found_.feeding = feed_.feeding();
    found_.gate = feed_.last();
    found_.overtaken = feed_.overtaken();
    found_.took = elapsed();
    if (found_.why_none.empty() && found_.rounds == 0)
      found_.why_none = done_ > chosen_.warmup ? "no round has a device time of every callable"
                                               : "the time for it was spent on the warm-up: allow more in choices.until.time";
    if (!found_.why_none.empty()) {
      found_.against_first.clear();
      found_.fastest.reset();
    }
    return std::move(found_);
  }

  stream_ref stream_;
  std::vector<contender> const& all_;
  measure_choices const& chosen_;
  stopping_rule until_;
  host_stamp begun_;
  timeline_recorder recorder_;
  std::vector<phase> phases_;
  std::vector<std::size_t> order_;
  fed_intervals feed_;
  clock_watch clocks_{recorder_};
  cold_cache* cold_ = nullptr;
  contest found_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;
  std::size_t done_ = 0;
  spoiled_samples spoiled_;
  report::progress line_;
};

/// Which of several callables takes the least time on the device: rounds in which each runs once, in random order, until the
/// ratio to the first is known within `choices.until.width` for all of them, or a budget is spent.
/// Why: measured one after the other, the clock that the later one meets decides; within a round they meet the same one. It
/// says nothing of the next process, so no CI job should hang on it: `compare_runs` is for that.
/// Requires: of the choices `how` is `launched_by::stream`. As `measure`.
/// Throws: what a callable throws, and `std::bad_alloc`. Sync: waits for the stream's work again and again.
/// Example: `auto found = sg::measure_rounds(stream, {{"128", with(128)}, {"256", with(256)}});`
[[nodiscard]] inline contest measure_rounds(stream_ref stream, std::vector<contender> const& all,
                                            measure_choices const& choices = {}) {
  return contest_under_way{stream, all, choices}.take();
}

}  // namespace streamgauge

#endif

namespace streamgauge {

/// The same for two: `against_first[0]` is b against a.
template <class A, class B>
[[nodiscard]] contest measure_pair(stream_ref stream, A a, B b, measure_choices const& choices = {}) {
  std::vector<contender> both;  // two braced pairs alone could be taken for a pair of iterators
  both.push_back({"a", std::move(a)});
  both.push_back({"b", std::move(b)});
  return measure_rounds(stream, both, choices);
}

}  // namespace streamgauge
