#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/idle_gaps.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Something that ran, and where: a kernel or a copy out of a tool's trace, an interval of a phase.
/// Units: begins and ends are of one clock. Devices share none, so of several a tool has to have brought them to one.
struct placed_stretch {
  std::string name;
  int device = 0;
  std::uint64_t stream = 0;  ///< a handle or a tool's number; two devices may use the same one for different streams
  nanoseconds begin{0};
  nanoseconds end{0};
};

/// What ran on one stream.
struct stream_times {
  int device = 0;
  std::uint64_t stream = 0;
  std::size_t stretches = 0;  ///< those with any time in them
  busy_times busy;            ///< an overlap on one stream: the stretches are nested, or not what the stream ran
};

/// What ran on one device, over all its streams, and when nothing did.
struct device_times {
  int device = 0;
  std::size_t streams = 0;
  std::size_t stretches = 0;
  busy_times busy;
  idle_times idle;  ///< without a window from the device's own first begin to its own last end
};

/// Placed stretches by stream and by device.
struct stream_timeline {
  std::vector<stream_times> streams;  ///< by device, then by stream, in the order of their numbers
  std::vector<device_times> devices;
  std::string reason;                 ///< why there is nothing; empty where there is something
};

/// Why placed stretches cannot be used, with the culprit's name; empty where they can.
template <class = void>
[[nodiscard]] std::string why_not_placed(std::vector<placed_stretch> const& stretches) {
  if (stretches.empty()) return "there are no stretches";
  stretch all{stretches.front().begin, stretches.front().end};
  nanoseconds::rep sum = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    auto const& each = stretches[i];
    auto const culprit = [&](char const* what) {
      return '"' + each.name + "\", stretch " + std::to_string(i) + " of the list, " + what;
    };
    if (each.end < each.begin) return culprit("ends before it begins");
    if (each.begin < all.begin) all.begin = each.begin;
    if (all.end < each.end) all.end = each.end;
    if (too_long(all)) return culprit("lies 292 years or more from another one: are all of one clock?");
    if (__builtin_add_overflow(sum, (each.end - each.begin).count(), &sum))
      return culprit("makes the times add up to 292 years or more");
  }
  return {};
}

/// The places of stretches in their list, by device, then by stream, then as they ran.
template <class = void>
[[nodiscard]] std::vector<std::size_t> in_stream_order(std::vector<placed_stretch> const& stretches) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stretches.size(); ++i) order.push_back(i);
  put_in_order(order, [&](std::size_t i, std::size_t j) {
    auto const& a = stretches[i];
    auto const& b = stretches[j];
    if (a.device != b.device) return a.device < b.device;
    if (a.stream != b.stream) return a.stream < b.stream;
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  return order;
}

/// Works out times by stream and by device. `part_of` says which part of a stretch counts, `idle_of` what was idle.
template <class PartOf, class IdleOf>
[[nodiscard]] stream_timeline timeline_of(std::vector<placed_stretch> const& stretches, PartOf part_of,
                                          IdleOf idle_of) {
  stream_timeline found;
  found.reason = why_not_placed(stretches);
  if (!found.reason.empty()) return found;
  std::vector<stretch> on_stream;
  std::vector<stretch> on_device;
  auto const order = in_stream_order(stretches);
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const& each = stretches[order[i]];
    auto const part = part_of(stretch{each.begin, each.end});
    if (part.begin < part.end) on_stream.push_back(part);
    auto const* const next = i + 1 < order.size() ? &stretches[order[i + 1]] : nullptr;
    bool const last_on_device = !next || next->device != each.device;
    if (!last_on_device && next->stream == each.stream) continue;
    found.streams.push_back({each.device, each.stream, on_stream.size(), busy_times_of(on_stream)});
    if (found.devices.empty() || found.devices.back().device != each.device) {
      found.devices.emplace_back();
      found.devices.back().device = each.device;
    }
    ++found.devices.back().streams;
    on_device.insert(on_device.end(), on_stream.begin(), on_stream.end());
    on_stream.clear();
    if (!last_on_device) continue;
    found.devices.back().stretches = on_device.size();
    found.devices.back().busy = busy_times_of(on_device);
    found.devices.back().idle = idle_of(on_device);
    on_device.clear();
  }
  return found;
}

/// Sum, union and overlap by stream and by device, and the gaps of each device: where none of its streams ran anything
/// of the list.
/// Shape: O(n log n).
template <class = void>
[[nodiscard]] stream_timeline timeline_of(std::vector<placed_stretch> const& stretches) {
  return timeline_of(
      stretches, [](stretch const& each) { return each; }, [](auto const& all) { return idle_times_of(all); });
}

/// The same in a window: only the part of a stretch that lies in it counts, and a device that ran nothing in it was
/// idle.
template <class = void>
[[nodiscard]] stream_timeline timeline_of(std::vector<placed_stretch> const& stretches, stretch const& window) {
  return timeline_of(
      stretches, [&](stretch const& each) { return part_within(each, window); },
      [&](auto const& all) { return idle_times_of(all, window); });
}

}  // namespace streamgauge
