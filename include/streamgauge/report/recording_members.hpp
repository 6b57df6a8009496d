#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/report/words.hpp>

namespace streamgauge::report {

// What a recording is made of, once: each part's members by name, in order. What writes, reads and compares recordings
// walks through these, so none of the three can leave a member out. A member that a part gains stops this file from
// compiling until it stands here as well.

/// A member with its key. Times have keys that end with `_ns`.
template <class Value>
struct member {
  char const* key;
  Value& value;
};
template <class Value>
[[nodiscard]] constexpr member<Value> is(char const* key, Value& value) noexcept {
  return {key, value};
}

/// A member of which one value means that nothing is known: null in a file.
template <class Value>
struct member_or_null {
  char const* key;
  Value& value;
  std::remove_const_t<Value> nothing;
  bool is_nothing;
};
/// Empty is null.
template <class Text>
[[nodiscard]] member_or_null<Text> text_if_any(char const* key, Text& value) {
  return {key, value, {}, value.empty()};
}
/// One value is null.
template <class Value>
[[nodiscard]] constexpr member_or_null<Value> unless(std::remove_const_t<Value> nothing, char const* key, Value& value) {
  return {key, value, nothing, value == nothing};
}

/// A list with one member for each word of a choice.
template <class Choice, class List>
struct member_by_word {
  using choice = Choice;
  char const* key;
  List& value;
};
template <class Choice, class List>
[[nodiscard]] constexpr member_by_word<Choice, List> by_word(char const* key, List& value) noexcept {
  static_assert(std::extent_v<List> == word_count<Choice>, "one for each word");
  return {key, value};
}

/// Whether `Of` is the part, or one that cannot be changed.
template <class Of, class Part>
using only = std::enable_if_t<std::is_same_v<std::remove_const_t<Of>, Part>, int>;

template <class Of, only<Of, condition> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [key, value] = of;
  return std::tuple{is("key", key), is("value", value)};
}

template <class Of, only<Of, device_reading> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [at, sm, memory, slowed_by, temperature, power] = of;
  return std::tuple{is("at_ns", at),           is("sm_mhz", sm),           is("memory_mhz", memory),
                    is("slowed_by", slowed_by), is("temperature", temperature), is("power_mw", power)};
}

template <class Of, only<Of, device_description> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [ordinal, name, event_floor, submit_floor, resolution, why_no_floor, kernel_floor, why_no_kernel_floor, uuid,
         capability, multiprocessors, memory, l2, bus, most_sm, most_memory, ecc, power, readings, why_no_readings, scheduling,
         not_read] = of;
  return std::tuple{is("ordinal", ordinal),
                    is("name", name),
                    is("event_floor_ns", event_floor),
                    is("submit_floor_ns", submit_floor),
                    is("event_resolution_ns", resolution),
                    text_if_any("why_no_floor", why_no_floor),
                    is("kernel_floor_ns", kernel_floor),
                    text_if_any("why_no_kernel_floor", why_no_kernel_floor),
                    text_if_any("uuid", uuid),
                    is("compute_capability", capability),
                    is("multiprocessors", multiprocessors),
                    is("memory_bytes", memory),
                    is("l2_bytes", l2),
                    is("memory_bus_bits", bus),
                    is("most_sm_mhz", most_sm),
                    is("most_memory_mhz", most_memory),
                    is("ecc", ecc),
                    is("power_limit_mw", power),
                    is("readings", readings),
                    text_if_any("why_no_readings", why_no_readings),
                    text_if_any("scheduling", scheduling),
                    is("not_read", not_read)};
}

template <class Of, only<Of, environment> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [library, driver, runtime, compiled_runtime, devices, why_no_device, tool, tool_sign, host_floor, variables, host,
         cpu, compiler, compiled_as, time, command, why_no_command, given, not_read] = of;
  return std::tuple{text_if_any("library_version", library),
                    is("driver_version", driver),
                    is("runtime_version", runtime),
                    is("compiled_runtime_version", compiled_runtime),
                    is("devices", devices),
                    text_if_any("why_no_device", why_no_device),
                    text_if_any("tool", tool),
                    text_if_any("tool_sign", tool_sign),
                    is("host_floor_ns", host_floor),
                    is("variables", variables),
                    text_if_any("host", host),
                    text_if_any("cpu", cpu),
                    text_if_any("compiler", compiler),
                    text_if_any("compiled_as", compiled_as),
                    text_if_any("time", time),
                    is("command", command),
                    text_if_any("why_no_command", why_no_command),
                    is("given", given),
                    is("not_read", not_read)};
}

template <class Of, only<Of, number_totals> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [values, sum, mean, squared_deviations] = of;
  return std::tuple{is("values", values), is("sum_ns", sum), is("mean_ns", mean),
                    is("squared_deviations", squared_deviations)};
}

template <class Of, only<Of, wide_sum> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [high, low] = of;
  return std::tuple{is("high", high), is("low", low)};
}

template <class Of, only<Of, observable_totals> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [warmup, steady, absent] = of;
  return std::tuple{is("warmup", warmup), is("steady", steady), by_word<absence>("absent", absent)};
}

template <class Of, only<Of, series_totals> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [count, watched, submit, device, completion, fewest, most, parts] = of;
  return std::tuple{is("count", count),
                    is("watched", watched),
                    is("submit", submit),
                    is("device", device),
                    by_word<wait_policy>("completion", completion),
                    is("fewest_records_inside", fewest),
                    is("most_records_inside", most),
                    by_word<span_part>("parts", parts)};
}

template <class Of, only<Of, declared_work> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [flops, read, written] = of;
  return std::tuple{is("flops", flops), is("bytes_read", read), is("bytes_written", written)};
}

template <class Of, only<Of, series> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [phase, conditions, warmup, samples, lost, runs, kept_one_in, totals, kind, domain, work] = of;
  return std::tuple{is("phase", phase), is("conditions", conditions),   is("kind", kind),     text_if_any("domain", domain),
                    is("warmup", warmup), is("work", work),             is("runs", runs),     is("lost", lost),
                    is("kept_one_in", kept_one_in), is("totals", totals), is("samples", samples)};
}

/// Each is a column of its own in a file; an observation is two, its value and why it has none.
template <class Of, only<Of, sample> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [entered, submit, device, completion, queue, begins, parent, thread, records_inside, span, stream, part, waited,
         warmup, watched, bound] = of;
  auto limit = unless(nanoseconds{0}, "bound_ns", bound);
  limit.is_nothing = limit.is_nothing && !queue.known();
  return std::tuple{is("entered_ns", entered),
                    is("submit", submit),
                    is("device", device),
                    is("completion", completion),
                    is("queue", queue),
                    is("begins", begins),
                    is("parent", parent),
                    is("thread", thread),
                    is("records_inside", records_inside),
                    unless(0U, "span", span),
                    unless(0U, "stream", stream),
                    is("part", part),
                    is("waited", waited),
                    is("warmup", warmup),
                    is("watched", watched),
                    limit};
}

inline constexpr std::size_t sample_member_count = std::tuple_size_v<decltype(members_of(std::declval<sample&>()))>;

/// The keys of the columns that samples are written as.
[[nodiscard]] inline std::vector<std::string> sample_columns() {
  std::vector<std::string> keys;
  auto const add = [&](auto const& each) {
    if constexpr (std::is_same_v<decltype(each.value), observation&>) {
      keys.push_back(std::string{each.key} + "_ns");
      keys.push_back(std::string{each.key} + "_absent");
    } else {
      keys.push_back(each.key);
    }
  };
  sample none;
  std::apply([&](auto const&... each) { (add(each), ...); }, members_of(none));
  return keys;
}

template <class Of, only<Of, problem> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [phase, text, status, count] = of;
  return std::tuple{is("phase", phase), is("text", text), is("status", status), is("count", count)};
}

template <class Of, only<Of, measured_stream> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [device, handle, kind] = of;
  return std::tuple{unless(-1, "device", device), is("handle", handle), is("kind", kind)};
}

template <class Of, only<Of, clock_limits> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [drift, change_of_drift, resolution] = of;
  return std::tuple{is("drift", drift), is("change_of_drift", change_of_drift), is("resolution_ns", resolution)};
}

template <class Of, only<Of, placed_clock> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [device, anchors, thrown_away, drift, drift_bound, limits, why_not] = of;
  return std::tuple{unless(-1, "device", device), is("anchors", anchors),         is("thrown_away", thrown_away),
                    is("drift", drift),           is("drift_bound", drift_bound), is("limits", limits),
                    text_if_any("why_not", why_not)};
}

template <class Of, only<Of, recording> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [recorded, why_not_measured, environment_of, all, problems, clocks, why_not_placed, streams, runs] = of;
  return std::tuple{is("recorded", recorded),
                    text_if_any("why_not_measured", why_not_measured),
                    is("environment", environment_of),
                    is("all", all),
                    is("problems", problems),
                    is("clocks", clocks),
                    text_if_any("why_not_placed", why_not_placed),
                    is("streams", streams),
                    is("runs", runs)};
}

}  // namespace streamgauge::report
