#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/measure/graph_interval.hpp>
#include <streamgauge/measure/measurement.hpp>
#include <streamgauge/measure/work.hpp>

namespace streamgauge {

/// The conditions of a measured series. What is not as usual is one, so that nothing else is compared with it.
[[nodiscard]] inline conditions measured_conditions(measure_choices const& chosen, std::optional<cache_state> cache) {
  conditions all = chosen.under;
  if (chosen.iterations > 1) all = all.with({{"iterations", chosen.iterations}});
  if (chosen.how == launched_by::graph) all = all.with({{"launched by", describe(chosen.how)}});
  if (cache) all = all.with({{"cache", describe(*cache)}});
  return cache == cache_state::rotating ? all.with({{"sets", chosen.sets}}) : all;
}

/// The measured series with those conditions; null where a recording has none.
[[nodiscard]] inline series* measured_series_in(recording& taken, measure_choices const& chosen,
                                                std::optional<cache_state> cache) {
  auto const wanted = measured_conditions(chosen, cache);
  for (series& each : taken.all)
    if (each.phase == chosen.name && each.conditions == wanted.values()) return &each;
  return nullptr;
}

/// The device times of a series, from one of its samples on. Null: none.
[[nodiscard]] inline std::vector<std::int64_t> known_times_of(series const* of, std::size_t from) {
  std::vector<std::int64_t> all;
  for (std::size_t i = from; of && i < of->samples.size(); ++i)
    if (of->samples[i].device.known()) all.push_back(of->samples[i].device.value()->count());
  return all;
}

/// Whether nothing gets a device time any more, and why: the last eight have none, for another reason than
/// a gate's. Absent where some still do.
/// Why: what a callable broke stays broken, a stream in a capture or a context with an error; each further call goes into it.
[[nodiscard]] inline std::optional<absence> broke_off(series const* of) noexcept {
  constexpr std::size_t in_a_row = 8;
  std::size_t const count = of ? of->samples.size() : 0;
  if (count < in_a_row) return std::nullopt;
  for (std::size_t i = count - in_a_row; i < count; ++i)
    if (of->samples[i].device.known() || of->samples[i].device.why_absent() == absence::gate_timeout) return std::nullopt;
  return of->samples.back().device.why_absent();
}
/// Why a recording has no samples although something was entered; empty where nothing was lost.
[[nodiscard]] inline std::string lost_text(recording const& taken) {
  for (series const& each : taken.all)
    if (each.lost > 0) return describe(absence::no_memory);
  return {};
}
[[nodiscard]] inline std::string broke_off_text(absence why) {
  return std::string{"it broke off, since no execution got a device time any more: "} + describe(why);
}

/// Why no interval is to be begun: the executions that it is to hold take longer than the whole budget. Empty where they fit.
/// A single one is let run, however long: it did already.
[[nodiscard]] inline std::string why_too_long(recorder& from, measure_choices const& chosen) {
  if (chosen.iterations < 2) return {};
  recording const taken = from.collect();
  std::optional<std::int64_t> least;
  for (series const& each : taken.all)
    for (std::int64_t const time : known_times_of(&each, 0))
      if (!least || time < *least) least = time;
  double const all = static_cast<double>(least.value_or(0)) * static_cast<double>(chosen.iterations);
  if (all <= static_cast<double>(chosen.until.time.count())) return {};
  return "an interval of " + std::to_string(chosen.iterations) + " executions takes longer than all of the time for it: fewer in "
         "choices.iterations, or more in choices.until.time";
}

/// A rule that asks for no more samples than a series keeps whole, `before` of them left out: then each is known by its place.
[[nodiscard]] inline stopping_rule kept_whole(stopping_rule asked, std::size_t before = 0) noexcept {
  constexpr std::size_t most = 65'536;
  std::size_t const left = before < most ? most - before : 0;
  if (asked.samples > left) asked.samples = left;
  return asked;
}

/// The work of one interval: that of an execution, as often as the interval holds one.
[[nodiscard]] inline work work_of_interval(measure_choices const& chosen) {
  work all;
  auto const times = static_cast<double>(chosen.iterations);
  if (chosen.work.flops) all = all.flops(*chosen.work.flops * times);
  if (chosen.work.bytes_read) all = all.reads(*chosen.work.bytes_read * times);
  if (chosen.work.bytes_written) all = all.writes(*chosen.work.bytes_written * times);
  return all;
}

/// A phase that says what an interval of it does, where the program has said so.
[[nodiscard]] inline phase declaring(phase made, measure_choices const& chosen) {
  bool const declares = chosen.work.flops || chosen.work.bytes_read || chosen.work.bytes_written;
  return declares ? made.with({}, work_of_interval(chosen)) : made;
}

/// The phase of a measured series.
[[nodiscard]] inline phase measured_phase(recorder& in, measure_choices const& chosen,
                                          std::optional<cache_state> cache) {
  conditions const under = measured_conditions(chosen, cache);
  return declaring(chosen.how == launched_by::graph ? phase{in, chosen.name, under, in_graphs} : phase{in, chosen.name, under},
                   chosen);
}

/// The phase of one callable among several, whose first rounds are warm-up.
[[nodiscard]] inline phase contender_phase(recorder& in, measure_choices const& chosen, std::string const& name) {
  auto const cache = chosen.cache == cache_state::cold ? std::optional{chosen.cache} : std::nullopt;
  return declaring(phase{in, name, measured_conditions(chosen, cache), streamgauge::warmup{chosen.warmup}}, chosen);
}

}  // namespace streamgauge

#endif
