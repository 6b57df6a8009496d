#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/analyze/verdict.hpp>
#include <streamgauge/analyze/comparison.hpp>
#include <streamgauge/analyze/run_comparison.hpp>
#include <streamgauge/analyze/comparable.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Which observable of a series is meant. Each is judged apart: what the device gained the host may have lost.
enum class observable : std::uint8_t { submit, device, completion };

[[nodiscard]] constexpr char const* describe(observable what) noexcept {
  switch (what) {
    case observable::submit: return "submit";
    case observable::device: return "device";
    case observable::completion: return "completion";
  }
  return "unknown";
}

/// One observable of one series that is on both sides.
struct series_comparison {
  std::string phase;
  std::vector<condition> conditions;  ///< as side a has them
  observable what = observable::submit;
  std::optional<wait_policy> waited;  ///< of a completion: each way of waiting has an entry of its own
  comparison result;
};

/// A series that is not in every recording of both sides, so that there is nothing to compare it with.
struct unmatched_series {
  std::string phase;
  std::vector<condition> conditions;
  std::size_t in_a = 0;  ///< how many recordings of side a have it
  std::size_t in_b = 0;
};

/// Two recordings, or several a side, series by series.
struct recording_comparison {
  std::vector<series_comparison> entries;  ///< in the order in which side a has the series
  std::vector<unmatched_series> unmatched;
};

/// The steady samples of one observable of one series, and what they stand for.
struct observed_run {
  comparable what;
  std::vector<std::int64_t> numbers;        ///< nanoseconds, in the order in which the executions were entered
  absence why_absent = absence::not_asked;  ///< of the last steady sample that has no value
  bool walls_and_branches = false;          ///< spans and branches of spans in one series
  bool merged = false;                      ///< of several runs, one behind the other
  std::size_t warmup = 0;                   ///< executions left out, where all were
};

/// Collects the steady samples of one observable. Executions that count as warm-up are left out; a condition called
/// "cache" is the cache state.
template <class = void>
[[nodiscard, gnu::cold]] observed_run observe(recording const& from, series const& all, observable what,
                                              std::optional<wait_policy> policy) {
  observed_run found;
  found.what.phase = all.phase;
  for (auto const& each : all.conditions) {
    if (each.key == "cache") found.what.cache = each.value;
    else found.what.conditions.push_back(each);
  }
  for (auto const& device : from.environment.devices) found.what.devices.push_back(device.name);
  found.what.cpu = from.environment.cpu;
  found.what.waited = policy;
  found.what.clock = what == observable::device ? clock_domain::device : clock_domain::host;
  found.merged = all.runs > 1;
  std::size_t watched = 0;
  std::uint64_t kept_watched = 0;
  bool part_seen[3] = {};
  for (auto const& one : all.samples) found.warmup += one.warmup ? 1 : 0;
  if (found.warmup < all.samples.size()) found.warmup = 0;
  for (auto const& one : all.samples) {
    if (one.watched) ++kept_watched;
    if (one.warmup || (policy && one.waited != *policy)) continue;
    auto const seen = what == observable::submit ? one.submit : what == observable::device ? one.device : one.completion;
    auto const value = seen.value();
    if (!value) {
      found.why_absent = seen.why_absent();
      continue;
    }
    found.numbers.push_back(value->count());
    if (one.watched) ++watched;
    part_seen[static_cast<std::size_t>(one.part)] = true;
  }
  found.walls_and_branches =
      part_seen[static_cast<std::size_t>(span_part::whole)] && part_seen[static_cast<std::size_t>(span_part::branch)];
  if (watched > 0)
    found.what.watched = watched == found.numbers.size() ? watched_samples::all : watched_samples::some;
  else if (all.totals && all.totals->watched > kept_watched)
    found.what.watched = watched_samples::some;  // among those that were not kept
  return found;
}

/// Compares recordings, one run each, series by series.
template <class = void>
class recording_matcher {
 public:
  recording_matcher(std::vector<recording const*> a, std::vector<recording const*> b, comparison_basis basis,
                    double threshold)
      : a_{std::move(a)}, b_{std::move(b)}, basis_{basis}, threshold_{threshold} {
    for (std::size_t run = 0; run < a_.size(); ++run) place(*a_[run], run, &row::in_a, a_.size());
    for (std::size_t run = 0; run < b_.size(); ++run) place(*b_[run], run, &row::in_b, b_.size());
  }

  [[nodiscard, gnu::cold]] recording_comparison take() {
    recording_comparison found;
    for (auto& each : rows_) {
      if (each.taken) continue;
      auto const* other = &each;
      if (count(each.in_a) > 0 && count(each.in_b) == 0) other = under_other_conditions(each);
      if (whole(each.in_a, a_) && whole(other->in_b, b_)) {
        add(each, *other, found.entries);
      } else {
        found.unmatched.push_back({each.phase, each.conditions, count(each.in_a), count(each.in_b)});
      }
    }
    return found;
  }

 private:
  using found_series = std::vector<series const*>;  // one of each recording; null where it has none

  struct row {
    std::string phase;
    std::vector<condition> conditions;
    found_series in_a;
    found_series in_b;
    bool taken = false;  // its refusal stands beside the series of the other side
  };

  [[gnu::cold]] void place(recording const& from, std::size_t run, found_series row::*side, std::size_t runs) {
    for (auto const& each : from.all) {
      if (each.samples.empty() && each.lost == 0) continue;  // a handle that was never entered
      auto& in = (row_of(each).*side);
      in.resize(runs, nullptr);
      if (in[run] == nullptr) in[run] = &each;
    }
  }

  [[nodiscard]] row& row_of(series const& wanted) {
    for (auto& each : rows_)
      if (each.phase == wanted.phase && why_other_conditions(each.conditions, wanted.conditions).empty()) return each;
    rows_.push_back({wanted.phase, wanted.conditions, {}, {}, false});
    return rows_.back();
  }

  [[nodiscard]] static std::size_t count(found_series const& in) noexcept {
    std::size_t found = 0;
    for (auto const* each : in)
      if (each != nullptr) ++found;
    return found;
  }
  [[nodiscard]] static bool whole(found_series const& in, std::vector<recording const*> const& side) noexcept {
    return !side.empty() && count(in) == side.size();
  }

  /// A series that only b has, of the phase that only a has: the same phase under other conditions. Itself if none.
  [[nodiscard]] row* under_other_conditions(row& of) noexcept {
    for (auto& each : rows_) {
      if (each.taken || each.phase != of.phase || count(each.in_a) > 0 || !whole(each.in_b, b_)) continue;
      each.taken = true;
      return &each;
    }
    return &of;
  }

  [[gnu::cold]] void add(row const& a, row const& b, std::vector<series_comparison>& to) const {
    for (auto const what : {observable::submit, observable::device}) add(a, b, what, std::nullopt, to);
    for (auto const policy : {wait_policy::none, wait_policy::spin, wait_policy::block})
      add(a, b, observable::completion, policy, to);
  }

  [[gnu::cold]] void add(row const& a, row const& b, observable what, std::optional<wait_policy> policy,
                         std::vector<series_comparison>& to) const {
    std::vector<observed_run> of_a;
    std::vector<observed_run> of_b;
    for (std::size_t run = 0; run < a_.size(); ++run) of_a.push_back(observe(*a_[run], *a.in_a[run], what, policy));
    for (std::size_t run = 0; run < b_.size(); ++run) of_b.push_back(observe(*b_[run], *b.in_b[run], what, policy));
    auto const any = [](std::vector<observed_run> const& runs) {
      for (auto const& run : runs)
        if (!run.numbers.empty()) return true;
      return false;
    };
    if (!any(of_a) && !any(of_b)) return;
    series_comparison entry{a.phase, a.conditions, what, policy, {}};
    auto const why = !any(of_a) ? missing(of_a, "a", what, policy)
                                : !any(of_b) ? missing(of_b, "b", what, policy) : why_refused(of_a, of_b);
    if (why.empty()) {
      entry.result = judge_runs(of_a, of_b);
    } else {
      entry.result.verdict = verdict::refused;
      entry.result.basis = basis_;
      entry.result.threshold = threshold_;
      entry.result.reason = why;
    }
    to.push_back(std::move(entry));
  }

  [[nodiscard]] static std::string missing(std::vector<observed_run> const& runs, char const* side, observable what,
                                           std::optional<wait_policy> policy) {
    auto text = std::string{"no "} + describe(what) + " time in " + side;
    if (runs.front().warmup > 0) return text + ": all " + std::to_string(runs.front().warmup) + " executions were warm-up";
    if (policy) return text + " that was observed by " + describe(*policy);
    return text + ": " + describe(runs.front().why_absent);
  }

  [[nodiscard]] static std::string why_refused(std::vector<observed_run> const& a, std::vector<observed_run> const& b) {
    for (auto const* side : {&a, &b}) {
      for (std::size_t run = 0; run < side->size(); ++run) {
        if ((*side)[run].walls_and_branches) return "the series holds spans and branches of spans";
        if ((*side)[run].merged)
          return "the series holds several merged runs, over whose seams no steady part can be looked for: compare the "
                 "recordings that were merged, one a run";
        if (run == 0) continue;
        if (auto const why = why_not_comparable(side->front().what, (*side)[run].what, {"its first run", "another"}))
          return std::string{"the runs of side "} + (side == &a ? "a" : "b") + " differ: " + *why;
      }
    }
    auto const why = why_not_comparable(a.front().what, b.front().what);
    return why ? *why : std::string{};
  }

  [[nodiscard]] comparison judge_runs(std::vector<observed_run> const& a, std::vector<observed_run> const& b) const {
    if (basis_ == comparison_basis::one_run) return compare(a.front().numbers, b.front().numbers, threshold_);
    std::vector<std::vector<std::int64_t>> of_a;
    std::vector<std::vector<std::int64_t>> of_b;
    for (auto const& run : a) of_a.push_back(run.numbers);
    for (auto const& run : b) of_b.push_back(run.numbers);
    return basis_ == comparison_basis::paired_runs ? compare_pairs(of_a, of_b, threshold_)
                                                   : compare_runs(of_a, of_b, threshold_);
  }

  std::vector<recording const*> a_;
  std::vector<recording const*> b_;
  comparison_basis basis_;
  double threshold_;
  std::vector<row> rows_;
};

/// Whether b is faster than a, for each series that both recordings have: submit, device, and completion by each way of
/// waiting, apart. One recording a side is one run a side: within one run only.
///
/// What must not be compared has an entry that is refused: other devices, conditions, cache states or ways of waiting,
/// samples under a tool on one side, several runs merged into one series. What the other side does not have is listed.
template <class = void>
[[nodiscard]] recording_comparison compare(recording const& a, recording const& b,
                                           double threshold = default_threshold) {
  return recording_matcher<>{{&a}, {&b}, comparison_basis::one_run, threshold}.take();
}

/// The addresses of several recordings.
template <class = void>
[[nodiscard]] std::vector<recording const*> each_of(std::vector<recording> const& all) {
  std::vector<recording const*> found;
  for (auto const& one : all) found.push_back(&one);
  return found;
}

/// The same for several runs a side, each with a recording of its own, made in turns.
template <class = void>
[[nodiscard]] recording_comparison compare_runs(std::vector<recording> const& a, std::vector<recording> const& b,
                                                double threshold = default_threshold) {
  return recording_matcher<>{each_of(a), each_of(b), comparison_basis::several_runs, threshold}.take();
}

/// The same for runs that were made in pairs: the first of a with the first of b, and so on.
template <class = void>
[[nodiscard]] recording_comparison compare_pairs(std::vector<recording> const& a, std::vector<recording> const& b,
                                                 double threshold = default_threshold) {
  return recording_matcher<>{each_of(a), each_of(b), comparison_basis::paired_runs, threshold}.take();
}

}  // namespace streamgauge
