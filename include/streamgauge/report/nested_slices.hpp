#pragma once

#include <algorithm>
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

/// When the innermost slice of each lane ends, so that a lane with room is found without looking at all of them.
/// Why: requests that overlap by the thousand take as many lanes, and each of them would be asked for each slice.
template <class Time = nanoseconds>
class lane_ends {
 public:
  /// The first lane whose innermost slice has ended by `begin`, or ends no earlier than `end`; their number where none does.
  [[nodiscard]] std::size_t first(Time begin, Time end) const {
    auto const fits = [&](std::size_t at) { return soonest_[at] <= begin || latest_[at] >= end; };
    if (lanes_ == 0 || !fits(1)) return lanes_;
    std::size_t at = 1;
    while (at < leaves_) at = fits(2 * at) ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }
  /// Says when a lane's innermost slice ends. The lane behind the last one is a new one.
  void set(std::size_t lane, Time ends) {
    if (lane == lanes_ && lanes_++ == leaves_) grow();
    std::size_t at = leaves_ + lane;
    soonest_[at] = latest_[at] = ends;
    while (at > 1) {
      at /= 2;
      soonest_[at] = (std::min)(soonest_[2 * at], soonest_[2 * at + 1]);
      latest_[at] = (std::max)(latest_[2 * at], latest_[2 * at + 1]);
    }
  }

 private:
  // No slice fits where there is no lane yet.
  void grow() {
    std::vector<Time> const before(soonest_.begin() + static_cast<std::ptrdiff_t>(leaves_), soonest_.end());
    leaves_ = leaves_ == 0 ? 1 : 2 * leaves_;
    soonest_.assign(2 * leaves_, (Time::max)());
    latest_.assign(2 * leaves_, (Time::min)());
    std::size_t const lanes = lanes_;
    lanes_ = before.size();
    for (std::size_t i = 0; i < before.size(); ++i) set(i, before[i]);
    lanes_ = lanes;
  }

  // Both are trees of one shape: below a place `at` are `2 * at` and `2 * at + 1`, and at the end the lanes.
  std::vector<Time> soonest_;
  std::vector<Time> latest_;
  std::size_t leaves_ = 0;
  std::size_t lanes_ = 0;
};

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
  lane_ends<> ends;
  std::vector<std::optional<std::size_t>> outer(slices.size());
  std::vector<bool> followed(slices.size(), false);     // at once, by the next one on its lane
  for (std::size_t i = 0; i < slices.size(); ++i) {
    drawn_slice& each = slices[i];
    for (;;) {
      each.lane = ends.first(each.begin, each.end);
      if (each.lane == open.size()) open.emplace_back();
      auto& lane = open[each.lane];
      while (!lane.empty() && slices[lane.back()].end <= each.begin) {
        followed[lane.back()] = slices[lane.back()].end == each.begin;
        lane.pop_back();
      }
      if (!lane.empty() && slices[lane.back()].end < each.end) {
        ends.set(each.lane, slices[lane.back()].end);
        continue;
      }
      if (!lane.empty()) outer[i] = lane.back();
      lane.push_back(i);
      ends.set(each.lane, each.end);
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
