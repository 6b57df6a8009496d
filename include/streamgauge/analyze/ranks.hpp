#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// One rank's side of an observable: the median of its executions without warm-up.
struct rank_median {
  std::size_t executions = 0;
  std::optional<fractional_nanoseconds> median;  ///< absent: it has none
};

/// One observable of one series, rank by rank.
/// Why: what all ranks do together takes as long as the slowest; a median over all of them hides it.
struct series_by_rank {
  std::string phase;
  std::vector<condition> conditions;
  observable what = observable::device;
  std::vector<rank_median> ranks;         ///< as the recordings were given
  std::optional<std::size_t> slowest;     ///< of those that have a median; absent with fewer than two
  std::optional<std::size_t> fastest;
  std::optional<double> spread;           ///< how much longer the slowest takes than the fastest: 0.5 is half as long again
};

/// The median of an observable in a series, warm-up left out; of completions over all ways of waiting.
template <class = void>
[[nodiscard]] rank_median rank_median_of(series const& of, observable what) {
  std::vector<std::int64_t> values;
  for (sample const& one : of.samples) {
    if (one.warmup) continue;
    auto const& seen = what == observable::submit ? one.submit : what == observable::device ? one.device : one.completion;
    if (seen.known()) values.push_back(seen.value()->count());
  }
  rank_median found;
  found.executions = values.size();
  if (auto const middle = median(values)) found.median = fractional_nanoseconds{*middle};
  return found;
}

/// Recordings of several ranks, or of several processes, of one program: each series that any of them has, each observable
/// that any of them has of it.
/// Throws: only `std::bad_alloc`.
/// Example: `for (sg::series_by_rank const& each : sg::by_rank(recordings)) ...`
template <class = void>
[[nodiscard]] std::vector<series_by_rank> by_rank(std::vector<recording> const& ranks) {
  std::vector<series_by_rank> found;
  auto const row_of = [&](series const& wanted, observable what) -> series_by_rank& {
    for (auto& each : found)
      if (each.what == what && each.phase == wanted.phase && each.conditions == wanted.conditions) return each;
    found.push_back({wanted.phase, wanted.conditions, what, std::vector<rank_median>(ranks.size()), {}, {}, {}});
    return found.back();
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (series const& each : ranks[rank].all) {
      for (auto const what : {observable::submit, observable::device, observable::completion}) {
        rank_median const seen = rank_median_of(each, what);
        if (seen.median) row_of(each, what).ranks[rank] = seen;
      }
    }
  }
  for (auto& each : found) {
    std::size_t with_median = 0;
    for (std::size_t rank = 0; rank < each.ranks.size(); ++rank) {
      auto const& median = each.ranks[rank].median;
      if (!median) continue;
      ++with_median;
      if (!each.slowest || *each.ranks[*each.slowest].median < *median) each.slowest = rank;
      if (!each.fastest || *median < *each.ranks[*each.fastest].median) each.fastest = rank;
    }
    if (with_median < 2) {
      each.slowest = each.fastest = std::nullopt;
      continue;
    }
    double const least = each.ranks[*each.fastest].median->count();
    if (least > 0) each.spread = each.ranks[*each.slowest].median->count() / least - 1;
  }
  return found;
}

}  // namespace streamgauge
