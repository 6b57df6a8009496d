#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge {

/// Whether the device had all of an execution's work before it when it began.
enum class feeding : std::uint8_t {
  unknown,  ///< the bound is too wide to tell, or something is missing
  clean,    ///< it began when the host had submitted everything
  starved,  ///< it began before: its interval may hold the host's gaps between launches
};

/// How one execution was fed. Only what the bound leaves no doubt of is called clean or starved.
[[nodiscard]] constexpr feeding feeding_of(sample const& one) noexcept {
  if (!one.queue.known() || !one.submit.known()) return feeding::unknown;
  if (*one.queue.value() - one.bound >= *one.submit.value()) return feeding::clean;
  if (*one.queue.value() + one.bound < *one.submit.value()) return feeding::starved;
  return feeding::unknown;
}

/// When the device was done with an execution, from entering it: give or take `end_bound`. Where somebody waited, that is
/// before he noticed.
[[nodiscard]] constexpr std::optional<nanoseconds> device_end(sample const& one) noexcept {
  if (!one.queue.known() || !one.device.known()) return std::nullopt;
  return *one.queue.value() + *one.device.value();
}

/// How far that may be off: as the begin, and by what the clocks drift apart while it runs.
[[nodiscard]] constexpr nanoseconds end_bound(sample const& one) noexcept {
  return one.bound + drift_over(one.device.value().value_or(nanoseconds{0}));
}

/// Where the time of a phase goes between host and device: medians over its steady executions.
/// Shape: each part is a median of its own, so they need not add up.
struct latency_split {
  std::uint64_t executions = 0;  ///< steady ones with a device time
  std::uint64_t placed = 0;      ///< of those, whose device time was placed on the host's clock
  std::optional<fractional_nanoseconds> submit;      ///< host: from entering to leaving
  std::optional<fractional_nanoseconds> queue;       ///< host: from entering until the device began
  std::optional<fractional_nanoseconds> device;      ///< device: from its start to its stop
  std::optional<fractional_nanoseconds> end;         ///< host: from entering until the device was done; through the map
  std::optional<fractional_nanoseconds> completion;  ///< host: from entering until a wait saw it done
  std::optional<fractional_nanoseconds> notice;      ///< host: from the device's end until the wait saw it
  std::uint64_t waited = 0;                          ///< executions with a completion
  std::optional<fractional_nanoseconds> bound;       ///< of queue, end and notice: the median
  nanoseconds widest_bound{0};
  std::uint64_t fed[3] = {};                           ///< by `feeding`, of those executions
  std::optional<fractional_nanoseconds> clean_device;  ///< as `device`, of the clean ones alone

  [[nodiscard]] std::uint64_t count(feeding how) const noexcept { return fed[static_cast<std::size_t>(how)]; }
};

/// How many steady executions of a series have a device time, and how many of those a place on the host's clock.
struct placed_count {
  std::uint64_t executions = 0;
  std::uint64_t placed = 0;
};
[[nodiscard]] inline placed_count count_placed(series const& of) noexcept {
  placed_count found;
  for (sample const& one : of.samples) {
    if (one.warmup || !one.device.known()) continue;
    ++found.executions;
    if (one.queue.known()) ++found.placed;
  }
  return found;
}

/// The split of a series. What was entered as warm-up is left out.
/// Why: of a long series that kept a choice of its samples it is the split of that choice.
template <class = void>
[[nodiscard]] latency_split split_latency(series const& of) {
  latency_split found;
  std::vector<std::int64_t> submit, queue, device, end, completion, notice, bound, clean;
  for (sample const& one : of.samples) {
    if (one.warmup || !one.device.known()) continue;
    ++found.executions;
    device.push_back(one.device.value()->count());
    if (one.submit.known()) submit.push_back(one.submit.value()->count());
    if (one.completion.known()) completion.push_back(one.completion.value()->count());
    feeding const how = feeding_of(one);
    ++found.fed[static_cast<std::size_t>(how)];
    if (how == feeding::clean) clean.push_back(one.device.value()->count());
    if (!one.queue.known()) continue;
    queue.push_back(one.queue.value()->count());
    end.push_back(device_end(one)->count());
    bound.push_back(one.bound.count());
    if (one.bound > found.widest_bound) found.widest_bound = one.bound;
    if (!one.completion.known()) continue;
    // Through the map an end may seem later than what saw it, within the bound.
    nanoseconds const after = *one.completion.value() - *device_end(one);
    notice.push_back(after < nanoseconds{0} ? 0 : after.count());
  }
  auto const middle = [](std::vector<std::int64_t> const& values) -> std::optional<fractional_nanoseconds> {
    std::optional<double> const of_all = median(values);
    if (!of_all) return std::nullopt;
    return fractional_nanoseconds{*of_all};
  };
  found.placed = queue.size();
  found.waited = completion.size();
  found.submit = middle(submit);
  found.queue = middle(queue);
  found.device = middle(device);
  found.end = middle(end);
  found.completion = middle(completion);
  found.notice = middle(notice);
  found.bound = middle(bound);
  found.clean_device = middle(clean);
  return found;
}

}  // namespace streamgauge
