#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>
#include <streamgauge/analyze/cache_state.hpp>
#include <streamgauge/analyze/roofs.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Which roof is the lower one at an intensity.
enum class limiting_roof : std::uint8_t { unknown, memory, arithmetic };

/// How much above a measured roof a rate may lie and still be believed.
/// Why: what a copy or a GEMM reached is not the most that the device can do, and no two measurements agree to the last digit.
inline constexpr double measured_roof_slack = 1.05;

/// Where a piece of work stands under the roofs. What does not exist is absent, and `missing` says why.
struct roofline_point {
  std::optional<double> flops_per_second;
  std::optional<double> bytes_per_second;  ///< read and written
  std::optional<double> intensity;         ///< operations a byte
  std::optional<double> ridge;             ///< the intensity where the roofs meet: below it the memory is the lower one
  std::optional<double> share_of_flops;    ///< 1.0 is the roof
  std::optional<double> share_of_bytes;
  limiting_roof limit = limiting_roof::unknown;
  std::optional<double> share;  ///< of the roof that limits
  bool above_flops = false;     ///< more than the device can do: the declared work is wrong, or the time
  bool above_bytes = false;
  std::vector<std::string> missing;
};

/// Where work that took that time stands under the roofs.
/// Why: the time is taken as it is. An interval holds gaps and its own floor, so the rate of the kernels is at least this.
template <class = void>
[[nodiscard]] roofline_point roofline_of(fractional_nanoseconds time, declared_work const& work,
                                         device_roofs const& roofs) {
  roofline_point found;
  auto const usable = [](std::optional<double> const& number) { return number && *number >= 0 && *number < 1e30; };
  auto const lacks = [&](std::string what) { found.missing.push_back(std::move(what)); };
  std::optional<double> flops;
  std::optional<double> bytes;
  if (usable(work.flops))
    flops = work.flops;
  else
    lacks(work.flops ? "the declared operations are no number of at least 0"
                     : "no operations are declared: flops(), 0 if there are none");
  bool const both = work.bytes_read && work.bytes_written;
  if (usable(work.bytes_read) && usable(work.bytes_written))
    bytes = *work.bytes_read + *work.bytes_written;
  else if (both)
    lacks("the declared bytes are no number of at least 0");
  else if (!work.bytes_read && !work.bytes_written)
    lacks("no bytes are declared: reads() and writes(), 0 where there are none");
  else
    lacks(work.bytes_read ? "no bytes written are declared: writes(), 0 if there are none"
                          : "no bytes read are declared: reads(), 0 if there are none");
  bool const timed = time.count() > 0 && time.count() < 1e30;
  if (!timed) lacks("there is no time above 0");
  if (timed && flops) found.flops_per_second = *flops / time.count() * 1e9;
  if (timed && bytes) found.bytes_per_second = *bytes / time.count() * 1e9;
  if (flops && bytes && *bytes > 0) found.intensity = *flops / *bytes;

  auto const rate = [](roof const& of) -> std::optional<double> {
    return of.per_second && *of.per_second > 0 && *of.per_second < 1e30 ? of.per_second : std::nullopt;
  };
  auto const share = [&](std::optional<double> const& reached, roof const& of) -> std::optional<double> {
    return reached && rate(of) ? std::optional{*reached / *rate(of)} : std::nullopt;
  };
  auto const above = [](std::optional<double> const& part, roof const& of) {
    return part && *part > (of.origin == roof_origin::measured ? measured_roof_slack : 1.0);
  };
  if (!rate(roofs.flops)) lacks("no roof of the arithmetic: " + roofs.flops.why_not);
  if (!rate(roofs.bytes)) lacks("no roof of the memory: " + roofs.bytes.why_not);
  found.share_of_flops = share(found.flops_per_second, roofs.flops);
  found.share_of_bytes = share(found.bytes_per_second, roofs.bytes);
  found.above_flops = above(found.share_of_flops, roofs.flops);
  found.above_bytes = above(found.share_of_bytes, roofs.bytes);
  if (!rate(roofs.flops) || !rate(roofs.bytes)) return found;
  found.ridge = *rate(roofs.flops) / *rate(roofs.bytes);
  if (found.intensity)
    found.limit = *found.intensity < *found.ridge ? limiting_roof::memory : limiting_roof::arithmetic;
  else if (bytes && flops && *flops > 0)  // no byte at all
    found.limit = limiting_roof::arithmetic;
  if (found.limit == limiting_roof::memory) found.share = found.share_of_bytes;
  if (found.limit == limiting_roof::arithmetic) found.share = found.share_of_flops;
  return found;
}

/// Bytes that a tool counted for one execution of a phase. They replace the declared ones if the caches were alike.
/// Why: ncu empties the caches before each kernel unless it is told not to, and then counts what a plain run never moves.
/// Example: `sg::measured_bytes{"gemm", {}, 12.6e6, sg::cache_state::warm}`
struct measured_bytes {
  std::string phase;
  std::vector<condition> conditions;  ///< all of the series, sorted by key
  double bytes = 0;                   ///< read and written: the sum over the phase's kernels
  cache_state counted_with = cache_state::unknown;
  cache_state timed_with = cache_state::warm;  ///< how the program left them when the phase was timed
  std::string source = "ncu, dram__bytes.sum";
};

/// One series under the roofs.
struct roofline_row {
  std::size_t series = 0;  ///< in `recording::all`
  std::string phase;
  std::vector<condition> conditions;
  std::optional<fractional_nanoseconds> time;  ///< device, the steady median
  std::uint64_t count = 0;                     ///< how many executions it is of
  bool steady = false;                         ///< whether a steady level was seen
  std::string bytes_source;                    ///< "declared", or the tool that counted them
  std::string why_not_measured;                ///< why counted bytes were not taken: empty, or the reason
  roofline_point point;
  std::string why_not;  ///< why there is nothing: empty, or the reason
};

/// The series of a recording that declare their work, under the roofs of a device.
struct roofline {
  device_roofs roofs;
  std::vector<roofline_row> rows;
  std::vector<std::string> counted_nowhere;  ///< phases of counted bytes that no series is of
  std::string why_not_measured;              ///< why the recording measured nothing: empty, or the reason
};

/// Why counted bytes cannot stand for those of a timed phase; empty where they can.
template <class = void>
[[nodiscard]] std::string why_not_alike(measured_bytes const& of) {
  bool const usable = of.bytes >= 0 && of.bytes < 1e30;
  if (!usable) return "they are no number of at least 0";
  if (of.counted_with == cache_state::unknown || of.timed_with == cache_state::unknown)
    return "it is not known what the caches held";
  if (of.counted_with == of.timed_with) return {};
  auto const with = [](cache_state state) -> std::string {
    if (state == cache_state::cold) return "flushed caches";
    return state == cache_state::warm ? "what the program had left in the caches" : "inputs that rotate";
  };
  std::string const remedy = of.timed_with == cache_state::cold       ? "with --cache-control all"
                             : of.timed_with == cache_state::rotating ? "as they rotate, with --cache-control none"
                                                                      : "with --cache-control none";
  return "they were counted with " + with(of.counted_with) + " and the phase was timed with " + with(of.timed_with) +
         ": count " + remedy;
}

/// Why a series does not belong under the roofs of one device; empty where it does.
template <class Recording>
[[nodiscard]] std::string why_other_device(Recording const& in, series const& of, std::optional<int> device) {
  std::optional<int> seen;
  for (sample const& one : of.samples) {
    std::optional<int> const on = one.device.known() ? device_of(in, one) : std::nullopt;
    if (!on) continue;
    if (seen && *seen != *on) return "its executions ran on several devices";
    seen = on;
  }
  if (!seen || !device || *seen == *device) return {};
  return "it ran on device " + std::to_string(*seen) + ", and the roofs are those of device " + std::to_string(*device);
}

/// Every series with declared or counted work under the roofs, by the steady median of its device time. Of a span the time is
/// the wall.
template <class Recording>
[[nodiscard]] roofline roofline_of(Recording const& of, device_roofs const& roofs,
                                   std::vector<measured_bytes> const& counted = {}) {
  roofline found;
  found.roofs = roofs;
  if (of.recorded != mode::time) found.why_not_measured = of.why_not_measured.empty() ? "ranges were marked only" : of.why_not_measured;
  for (measured_bytes const& each : counted) {
    bool seen = false;
    for (auto const& from : of.all) seen = seen || (each.phase == from.phase && each.conditions == from.conditions);
    if (!seen) found.counted_nowhere.push_back(each.phase);
  }
  for (std::size_t i = 0; i < of.all.size(); ++i) {
    auto const& from = of.all[i];
    measured_bytes const* measured = nullptr;
    for (measured_bytes const& each : counted)
      if (each.phase == from.phase && each.conditions == from.conditions) measured = &each;
    if ((!from.work && !measured) || only_a_handle(of.all, i)) continue;
    found.rows.push_back({});
    roofline_row& row = found.rows.back();
    row.series = i;
    row.phase = from.phase;
    row.conditions = from.conditions;
    row.bytes_source = "declared";
    declared_work work = from.work.value_or(declared_work{});
    if (measured) row.why_not_measured = why_not_alike(*measured);
    if (measured && row.why_not_measured.empty()) {
      work.bytes_read = measured->bytes;  // the sum is all that counts
      work.bytes_written = 0.0;
      row.bytes_source = measured->source;
    }
    summary const what = summarize(from);
    row.time = what.device.values.steady.median;
    row.count = what.device.values.steady.count;
    row.steady = what.device.values.is_steady();
    row.why_not = why_other_device(of, from, roofs.device);
    if (what.walls_and_branches) row.why_not = "it is a span and a branch of one, which have no time in common";
    if (!row.time) row.why_not = "no device time of a steady execution";
    if (row.why_not.empty()) row.point = roofline_of(*row.time, work, roofs);
  }
  return found;
}

}  // namespace streamgauge
