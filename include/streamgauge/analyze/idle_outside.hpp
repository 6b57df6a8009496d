#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/idle_gaps.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/number_places.hpp>

namespace streamgauge {

/// When a device of a recording ran no phase, and what of that time the host was in no phase either.
/// Why: a device that waits while the host is busy elsewhere is waiting for its input. Work that is in no phase is not seen,
/// so it counts as idle.
struct idle_outside_phases {
  int device = 0;          ///< as the program numbers its devices
  nanoseconds within{0};   ///< from the first placed begin to the last placed end
  nanoseconds idle{0};     ///< the device ran no phase
  nanoseconds outside{0};  ///< nor was the host in one
  nanoseconds longest{0};  ///< the longest gap of the device's
  std::size_t gaps = 0;    ///< those that are longer than the bounds of their two ends together
  nanoseconds bound{0};    ///< `idle` and `outside` may be off by no more than this
};

/// The idle times of one device; absent where fewer than two executions were placed on it. Of a recording that was merged
/// from several runs there are none: their clocks have no origin in common. Nor are there where only a choice of the samples
/// was kept of a phase that lies in no other one: between those others ran. Where an execution was not placed the device counts as busy, from when it was entered
/// until the next one of its phase and thread began.
template <class Recording>
[[nodiscard]] std::optional<idle_outside_phases> idle_outside(Recording const& of, int on) {
  std::vector<stretch> device;
  std::vector<stretch> host;
  std::vector<stretch> not_placed;
  nanoseconds widest{0};
  if (*why_no_stretches(of) != '\0') return std::nullopt;
  for (series const& each : of.all) {
    std::vector<std::uint32_t> seen;
    for (sample const& one : each.samples)
      if (seen.empty() || seen.back() != one.thread) seen.push_back(one.thread);
    number_places<> const threads{std::move(seen)};
    std::vector<nanoseconds> next_begin(threads.size(), (nanoseconds::max)());
    for (std::size_t i = each.samples.size(); i-- > 0;) {
      sample const& one = each.samples[i];
      if (each.kept_one_in > 1 && !one.parent) return std::nullopt;
      nanoseconds length = one.submit.value().value_or(nanoseconds{0});
      if (one.completion.known() && *one.completion.value() > length) length = *one.completion.value();
      bool const is_open = one.submit == observation{absence::still_open};
      nanoseconds const left = is_open ? (nanoseconds::max)() : one.entered + length;
      if (one.entered < left) host.push_back({one.entered, left});
      auto const end = device_end(one);
      auto const where = device_of(of, one);
      if (where ? *where != on : one.part == span_part::whole) continue;  // its branches are there
      nanoseconds& next = next_begin[threads.of(one.thread)];
      if (end && where) {
        device.push_back({one.entered + *one.queue.value(), one.entered + *end});
        next = device.back().begin;
        if (end_bound(one) > widest) widest = end_bound(one);
      } else if (fate_of(one.device.why_absent()) != fate::not_asked) {
        not_placed.push_back({one.entered, next});
      }
    }
  }
  if (device.size() < 2) return std::nullopt;
  std::optional<stretch> const window = extent_of(device);
  if (!window) return std::nullopt;
  device.insert(device.end(), not_placed.begin(), not_placed.end());
  idle_times const gaps = idle_times_of(device, *window);
  if (!gaps.total || !gaps.within) return std::nullopt;
  idle_outside_phases found;
  found.device = on;
  found.within = gaps.within->end - gaps.within->begin;
  std::vector<stretch> counted;
  for (stretch const& gap : gaps.gaps) {
    if (gap.end - gap.begin <= 2 * widest) continue;
    counted.push_back(gap);
    found.idle += gap.end - gap.begin;
    if (gap.end - gap.begin > found.longest) found.longest = gap.end - gap.begin;
  }
  found.gaps = counted.size();
  found.bound = 2 * widest * static_cast<nanoseconds::rep>(found.gaps);
  // Both are in order, so one walk along the gaps sees what of the host lies in each.
  put_in_order(host, [](stretch const& a, stretch const& b) { return a.begin < b.begin; });
  std::size_t next = 0;
  nanoseconds busy_until = (nanoseconds::min)();
  for (stretch const& gap : counted) {
    nanoseconds free_from = busy_until < gap.begin ? gap.begin : busy_until;
    for (; next < host.size() && host[next].begin < gap.end; ++next) {
      if (host[next].begin > free_from) found.outside += host[next].begin - free_from;
      if (host[next].end > free_from) free_from = host[next].end < gap.begin ? gap.begin : host[next].end;
      if (host[next].end > busy_until) busy_until = host[next].end;
    }
    if (free_from < gap.end) found.outside += gap.end - free_from;
  }
  return found;
}

/// The idle times of every device of a recording on which two executions were placed, in the order of their numbers.
template <class Recording>
[[nodiscard]] std::vector<idle_outside_phases> idle_outside(Recording const& of) {
  std::vector<int> devices;
  for (placed_clock const& clock : of.clocks) {
    bool known = false;
    for (int const each : devices) known = known || each == clock.device;
    if (!known) devices.push_back(clock.device);
  }
  put_in_order(devices, [](int a, int b) { return a < b; });
  std::vector<idle_outside_phases> found;
  for (int const each : devices)
    if (auto const idle = idle_outside(of, each)) found.push_back(*idle);
  return found;
}

}  // namespace streamgauge
