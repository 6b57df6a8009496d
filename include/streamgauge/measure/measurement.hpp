#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <streamgauge/analyze/cache_state.hpp>
#include <streamgauge/analyze/stopping.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/measure/conditions.hpp>
#include <streamgauge/measure/gating.hpp>
#include <streamgauge/measure/nvml.hpp>

namespace streamgauge {
#if defined(STREAMGAUGE_DISABLE)
inline namespace disabled {  // its conditions are others
#endif

/// How a callable's work reaches the device.
enum class launched_by : std::uint8_t {
  stream,  ///< the callable runs each time
  graph,   ///< it was captured once, and its graph is launched each time
};

/// What kept the device from waiting for the host inside an interval.
enum class fed_by : std::uint8_t {
  gate,         ///< the stream was held until everything was queued
  queued_work,  ///< work of ours that was queued ahead kept the device busy until everything was queued
  nothing,      ///< nothing did: on short work the intervals hold launch gaps, and the samples say so
};

[[nodiscard]] constexpr char const* describe(launched_by how) noexcept {
  return how == launched_by::graph ? "graph" : "stream";
}
[[nodiscard]] constexpr char const* describe(fed_by what) noexcept {
  return what == fed_by::gate ? "a gate" : what == fed_by::queued_work ? "queued work" : "nothing";
}

/// How `measure` is to go about it.
struct measure_choices {
  std::string name = "measured";
  conditions under{};                   ///< of its series, beside those that `measure` adds where they are not the usual ones
  stopping_rule until{};                ///< how closely, and no longer than
  std::size_t warmup = 3;               ///< executions at the beginning that never count, with the first call among them
  std::size_t iterations = 1;           ///< executions in one interval, which is one sample
  launched_by how = launched_by::stream;
  cache_state cache = cache_state::warm;  ///< cold: a buffer as large as the L2 is overwritten before each interval
  std::size_t sets = 1;                 ///< of inputs, over which a callable with rotating caches goes in turn
  declared_work work{};                 ///< of one execution, for rates: `sg::work{}.flops(f).reads(r).writes(w)`
  wait_policy wait = wait_policy::spin; ///< how the host waits where its side is measured; `none` is taken for `spin`
  std::size_t under_tool = 20;          ///< executions where a tool is attached: there is nothing to be tight about
  char const* clocks_from = nvml_library;  ///< NVML, which reads the clocks beside the samples; null: they are not read
};

/// What `measure` found out. Plain values, free of CUDA.
struct measurement {
  recording taken;             ///< two series: NAME, the device's side, and "NAME, alone", both sides of single executions
  std::string name;
  std::size_t iterations = 1;  ///< in each sample of the first series
  std::size_t sets = 1;        ///< of inputs, over which the executions went in turn
  declared_work work{};        ///< of one execution, as it was declared
  stopping_state stopped;      ///< why it ended, and how closely the median was known then
  fed_by feeding = fed_by::nothing;
  gating gate = gating::not_timed;          ///< why no gate fed it, where none did
  std::size_t overtaken = 0;                ///< intervals that the device began before all was queued, for all the work ahead
  bool watched = false;                     ///< under a tool: nothing here is a result
  std::optional<double> cold_over_warm;     ///< of cold caches and rotating inputs: how much longer than the same again, warm
  std::string why_not_compared;             ///< why that is absent, where it was to be had; empty otherwise
  nanoseconds took{0};                      ///< all of it, warm-up and waiting too, but for what starts once: NVML, and the floor's kernels
  std::string why_none;                     ///< why there is no median; empty where there is one

  [[nodiscard]] series const* samples() const noexcept { return find(name); }
  [[nodiscard]] series const* alone() const noexcept { return find(name + ", alone"); }

  /// The device's side, interval by interval: the steady ones apart from the rest.
  [[nodiscard]] std::optional<summary> device_summary() const {
    series const* const found = samples();
    return found ? std::optional{summarize(*found)} : std::nullopt;
  }
  /// The device's steady median of one execution.
  [[nodiscard]] std::optional<fractional_nanoseconds> median() const {
    if (!why_none.empty()) return std::nullopt;
    auto const of = device_summary();
    if (!of || !of->device.values.steady.median || iterations == 0) return std::nullopt;
    return *of->device.values.steady.median / static_cast<double>(iterations);
  }

 private:
  [[nodiscard]] series const* find(std::string const& wanted) const noexcept {
    for (series const& each : taken.all)
      if (each.phase == wanted && !each.samples.empty()) return &each;
    return nullptr;
  }
};

#if defined(STREAMGAUGE_DISABLE)
}  // namespace disabled
#endif
}  // namespace streamgauge
