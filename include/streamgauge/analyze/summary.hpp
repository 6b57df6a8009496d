#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/nesting.hpp>
#include <streamgauge/analyze/distribution.hpp>
#include <streamgauge/analyze/clock_readings.hpp>
#include <streamgauge/analyze/clock_changes.hpp>
#include <streamgauge/analyze/span_summary.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// What became of one observable over all samples of a series. entered = kept + dropped + incomplete, always.
struct account {
  std::uint64_t entered = 0;
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t not_asked = 0;  ///< samples that have no such observable (two reasons); not entered
  std::uint64_t by_reason[absence_count] = {};

  /// All samples, asked or not.
  [[nodiscard]] std::uint64_t seen() const noexcept { return entered + not_asked; }

  /// How many samples lack a value for this reason.
  [[nodiscard]] std::uint64_t count(absence why) const noexcept { return by_reason[static_cast<std::size_t>(why)]; }

  void add(absence why, std::uint64_t times = 1) noexcept {
    by_reason[static_cast<std::size_t>(why)] += times;
    auto const what = fate_of(why);
    if (what == fate::not_asked) {
      not_asked += times;
      return;
    }
    entered += times;
    (what == fate::kept ? kept : what == fate::dropped ? dropped : incomplete) += times;
  }
};

/// Whose clock an observable was read from. Values of different clocks are never merged.
enum class clock_domain : std::uint8_t { host, device };

/// One observable of a series.
struct observable_summary {
  clock_domain clock = clock_domain::host;
  account samples;
  distribution values;
};

/// Completion as the host observed it, apart for each way of waiting.
/// Why: waking from a block costs many microseconds that a spin does not; a median over both describes neither.
struct completion_summary {
  clock_domain clock = clock_domain::host;
  account samples;  ///< over all ways of waiting
  distribution by_policy[3];
  bool mixed_policies = false;  ///< values by more than one way of waiting

  [[nodiscard]] distribution const& by(wait_policy policy) const noexcept {
    return by_policy[static_cast<std::size_t>(policy)];
  }
};

/// What the samples of one series amount to.
struct summary {
  std::string phase;
  std::vector<condition> conditions;
  observable_summary submit{clock_domain::host, {}, {}};
  observable_summary device{clock_domain::device, {}, {}};
  completion_summary completion;
  std::uint32_t fewest_records_inside = 0;  ///< event records of nested phases within one device interval
  std::uint32_t most_records_inside = 0;
  std::uint64_t kept_one_in = 1;     ///< 1: every sample is there; `series`
  std::uint64_t watched = 0;         ///< samples that were taken under a tool, or while a capture was open
  bool near_resolution = false;      ///< the steady device median is under 1000 ns
  bool near_floor = false;           ///< the steady device median is under three times the floor
  bool walls_and_branches = false;   ///< it holds both, so its device statistics describe neither
  latency_split latency{};           ///< of a `timeline_recorder`; nothing is placed by any other
  std::optional<span_summary> span;  ///< absent for what is no span, and where only the series was at hand
};

/// Counts what became of every sample of a series that did not keep them all.
template <class = void>
void add_totals(account& to, observable_totals const& from) noexcept {
  to.add(absence::none, from.count());
  for (std::size_t i = 1; i < absence_count; ++i) to.add(static_cast<absence>(i), from.absent[i]);
}

/// The summary of one series. `near_floor` needs the device and `span` the branches: `summarize(recording)` knows them.
///
/// A sample that the host had no memory to keep (`series::lost`) counts as entered and dropped for submit, unless device
/// time is all that the series was asked for; for device and completion as well if any sample that was kept was asked
/// for them. Nothing is left of it that could say more, and a loss that counts twice is the smaller error than one that
/// is hidden.
template <class = void>
[[nodiscard]] summary summarize(series const& from) {
  summary found;
  found.phase = from.phase;
  found.conditions = from.conditions;
  found.kept_one_in = from.kept_one_in;
  std::uint64_t kept_by_policy[3] = {};
  bool any_inside = false;
  bool any_placed = false;
  bool part_seen[3] = {};
  auto const account_for = [&](sample const& one) {
    found.submit.samples.add(one.submit.why_absent());
    found.device.samples.add(one.device.why_absent());
    found.completion.samples.add(one.completion.why_absent());
  };
  for (auto const& one : from.samples) {
    if (one.completion.known()) ++kept_by_policy[static_cast<std::size_t>(one.waited)];
    any_placed = any_placed || one.queue.known();
    if (from.totals) continue;
    account_for(one);
    part_seen[static_cast<std::size_t>(one.part)] = true;
    if (one.watched) ++found.watched;
    if (!one.device.known()) continue;
    auto const inside = one.records_inside;
    if (!any_inside || inside < found.fewest_records_inside) found.fewest_records_inside = inside;
    if (!any_inside || inside > found.most_records_inside) found.most_records_inside = inside;
    any_inside = true;
  }
  if (from.totals) {
    auto const& all = *from.totals;
    add_totals(found.submit.samples, all.submit);
    add_totals(found.device.samples, all.device);
    for (auto const& each : all.completion) add_totals(found.completion.samples, each);
    for (std::size_t i = 0; i < 3; ++i) kept_by_policy[i] = all.completion[i].count();
    for (std::size_t i = 0; i < 3; ++i) part_seen[i] = all.parts[i];
    found.watched = all.watched;
    found.fewest_records_inside = all.fewest_records_inside.value_or(0);
    found.most_records_inside = all.most_records_inside.value_or(0);
  }
  found.walls_and_branches =
      part_seen[static_cast<std::size_t>(span_part::whole)] && part_seen[static_cast<std::size_t>(span_part::branch)];
  if (from.lost > 0) {
    if (found.submit.samples.entered > 0 || found.device.samples.entered == 0)
      found.submit.samples.add(absence::no_memory, from.lost);
    if (found.device.samples.entered > 0) found.device.samples.add(absence::no_memory, from.lost);
    if (found.completion.samples.entered > 0) found.completion.samples.add(absence::no_memory, from.lost);
  }
  found.submit.values = distribution_of(from, &sample::submit);
  found.device.values = distribution_of(from, &sample::device);
  std::size_t policies = 0;
  for (std::size_t policy = 0; policy < 3; ++policy) {
    if (kept_by_policy[policy] == 0) continue;
    found.completion.by_policy[policy] = distribution_of(from, &sample::completion, static_cast<waited_by>(1 + policy));
    ++policies;
  }
  found.completion.mixed_policies = policies > 1;
  if (any_placed) found.latency = split_latency(from);
  auto const& device_median = found.device.values.steady.median;
  found.near_resolution = device_median && *device_median < nanoseconds{1000};
  return found;
}

/// One series of a recording with its place in the tree.
struct summary_row {
  std::size_t index = 0;       ///< in `recording::all`
  std::size_t depth = 0;       ///< 0: a root
  std::vector<place> seen_in;  ///< where its samples were entered; `parent` is an index in `recording::all`
  summary what;
  std::vector<clocked_change> clock_changes{};  ///< of the device time's level, where its device was read
};

/// A recording without its samples: rows in display order and everything that is needed to read them.
struct recording_summary {
  mode recorded = mode::time;
  std::string why_not_measured;
  streamgauge::environment environment;
  std::vector<problem> problems;
  std::vector<summary_row> rows;
  std::size_t runs = 1;  ///< more where recordings were merged
};

/// Whether a series was never entered while the same phase was, under other conditions: a handle to which conditions are
/// added on entering has nothing of its own to show.
template <class = void>
[[nodiscard]] bool only_a_handle(std::vector<series> const& all, std::size_t index) noexcept {
  auto const entered = [](series const& each) { return !each.samples.empty() || each.lost > 0; };
  if (entered(all[index])) return false;
  for (auto const& other : all)
    if (other.phase == all[index].phase && entered(other)) return true;
  return false;
}

/// The summary of a whole recording.
/// A device median is near the floor when it is under three times what a phase around an empty kernel reads, or an empty
/// phase where only that is known: more than a third of it may be the instrument.
template <class = void>
[[nodiscard]] recording_summary summarize(recording const& from) {
  recording_summary found{from.recorded, from.why_not_measured, from.environment, from.problems, {}, from.runs};
  device_description const* const limit = limiting_device(from.environment);
  auto const tree = nest(from.all);
  span_join<> spans{from.all};
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    if (only_a_handle(from.all, tree.order[i])) continue;
    found.rows.push_back({});
    auto& row = found.rows.back();
    row.index = tree.order[i];
    row.depth = tree.depth[i];
    row.seen_in = places_of(from.all[row.index], from.all.size());
    row.what = summarize(from.all[row.index]);
    auto const& median = row.what.device.values.steady.median;
    row.what.near_floor = median && limit && *median < near_floor_factor * *floor_time_of(*limit);
    row.what.span = spans.of(row.index);
    device_description const* const on = device_of(from.all[row.index], from);
    if (on && !on->readings.empty())
      row.clock_changes = clock_changes(from.all[row.index], row.what.device.values.steadiness, on->readings);
  }
  return found;
}

}  // namespace streamgauge
