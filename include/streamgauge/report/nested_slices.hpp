#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge::report {

/// A stretch that a viewer is to draw on a track.
struct drawn_slice {
  nanoseconds begin{0};  ///< since the trace's base: 0 or more
  nanoseconds end{0};
  std::size_t what = 0;   ///< the caller's own
  std::size_t lane = 0;   ///< which of the track's lanes it is on
  nanoseconds length{0};  ///< as it is to be written
};

/// A time as a viewer reads it: microseconds in a double.
[[nodiscard]] constexpr double as_read(nanoseconds time) noexcept { return static_cast<double>(time.count()) / 1000.0; }

/// Puts the slices of one track in order and on lanes, so that on each lane every two nest or follow each other, and finds
/// the lengths to write. The number of lanes.
/// Why: viewers drop or misplace a slice that overlaps another one and does not nest in it. Such a one goes to the first
/// further lane that has room. And viewers add begin and length as doubles: where that sum would come behind what follows at
/// once, or behind the end of the slice around it, the length is written a nanosecond or two shorter.
template <class = void>
[[nodiscard]] std::size_t nest_slices(std::vector<drawn_slice>& slices) {
  put_in_order(slices, [](drawn_slice const& a, drawn_slice const& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::vector<std::size_t>> open;           // by lane, the innermost one last
  std::vector<std::optional<std::size_t>> outer(slices.size());
  std::vector<bool> followed(slices.size(), false);     // at once, by the next one on its lane
  for (std::size_t i = 0; i < slices.size(); ++i) {
    drawn_slice& each = slices[i];
    for (each.lane = 0;; ++each.lane) {
      if (each.lane == open.size()) open.emplace_back();
      auto& lane = open[each.lane];
      while (!lane.empty() && slices[lane.back()].end <= each.begin) {
        followed[lane.back()] = slices[lane.back()].end == each.begin;
        lane.pop_back();
      }
      if (!lane.empty() && slices[lane.back()].end < each.end) continue;
      if (!lane.empty()) outer[i] = lane.back();
      lane.push_back(i);
      break;
    }
  }
  for (std::size_t i = 0; i < slices.size(); ++i) {
    drawn_slice& each = slices[i];
    each.length = each.end - each.begin;
    drawn_slice const* around = outer[i] ? &slices[*outer[i]] : nullptr;
    // What begins in the nanosecond that its outer one lost stands behind it.
    while (around && around->begin + around->length <= each.begin) {
      auto const further = outer[static_cast<std::size_t>(around - slices.data())];
      around = further ? &slices[*further] : nullptr;
    }
    auto const too_long = [&] {
      double const end = as_read(each.begin) + as_read(each.length);
      return (followed[i] && as_read(each.end) < end) ||
             (around && as_read(around->begin) + as_read(around->length) < end);
    };
    while (each.length.count() > 0 && too_long()) each.length -= nanoseconds{1};
  }
  return open.size();
}

}  // namespace streamgauge::report
