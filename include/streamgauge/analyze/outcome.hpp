#pragma once

#include <cstdint>

#include <streamgauge/analyze/verdict.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>

namespace streamgauge {

/// What a comparison of recordings comes to as a whole. The values are the exit statuses of programs that ask for it.
enum class outcome : std::uint8_t {
  same_or_faster = 0,
  slower = 1,          ///< at least one observable of one series is
  inconclusive = 2,    ///< none is slower that can be judged, of some it cannot be told
  not_comparable = 3,  ///< none is slower that can be judged, and some must not be compared, or there is nothing to compare
};

[[nodiscard]] constexpr char const* describe(outcome what) noexcept {
  switch (what) {
    case outcome::same_or_faster: return "same or faster";
    case outcome::slower: return "slower";
    case outcome::inconclusive: return "inconclusive";
    case outcome::not_comparable: return "not comparable";
  }
  return "unknown";
}

/// The one outcome of all entries: a slower one counts before a refused one, and that before an inconclusive one.
/// Why: what is known to be slower needs no other entry; where some were refused nobody knows what they would have said. What
/// is on one side only decides nothing: programs gain and lose phases.
template <class = void>
[[nodiscard]] outcome outcome_of(recording_comparison const& of) noexcept {
  bool refused = of.entries.empty();
  bool open = false;
  for (series_comparison const& each : of.entries) {
    if (each.result.verdict == verdict::slower) return outcome::slower;
    refused = refused || each.result.verdict == verdict::refused;
    open = open || each.result.verdict == verdict::inconclusive;
  }
  if (refused) return outcome::not_comparable;
  return open ? outcome::inconclusive : outcome::same_or_faster;
}

/// The entries of one observable alone.
template <class = void>
[[nodiscard]] recording_comparison only(observable wanted, recording_comparison const& of) {
  recording_comparison found;
  for (series_comparison const& each : of.entries)
    if (each.what == wanted) found.entries.push_back(each);
  found.unmatched = of.unmatched;
  return found;
}

}  // namespace streamgauge
