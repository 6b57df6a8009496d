#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The device that a sample's device time is of; absent where neither its stream nor an only device tells.
template <class Recording>
[[nodiscard]] std::optional<int> device_of(Recording const& in, sample const& one) noexcept {
  if (one.stream != 0 && one.stream <= in.streams.size()) return in.streams[one.stream - 1].device;
  if (in.clocks.size() == 1) return in.clocks[0].device;
  return std::nullopt;
}

/// Whether it was merged from several runs: what lies in two of them lies on two clocks, also where no phase is in both.
template <class Recording>
[[nodiscard]] bool of_several_runs(Recording const& in) noexcept {
  bool several = in.runs > 1;
  for (auto const& each : in.all) several = several || each.runs > 1;
  return several;
}

/// What the phases of a recording ran, and where and when, on the host's clock: ready for `timeline_of`.
/// Why: phases nest, and a stream runs one thing after the other. So what lies in another stretch of its stream is left out,
/// and a span as a whole, whose branches are there.
/// Shape: placed executions on streams that are known, warm-up included; none of a recording that was merged from several
/// runs, whose clocks have no origin in common. The stream is its number in `recording::streams`, from 1.
template <class Recording>
[[nodiscard]] std::vector<placed_stretch> stretches_of(Recording const& of) {
  struct placed {
    std::uint32_t stream;
    placed_stretch what;
    nanoseconds bound;
  };
  std::vector<placed> all;
  if (of_several_runs(of)) return {};
  for (auto const& each : of.all) {
    for (auto const& one : each.samples) {
      auto const end = device_end(one);
      if (!end || one.part == span_part::whole || one.stream == 0 || one.stream > of.streams.size()) continue;
      auto const& on = of.streams[one.stream - 1];
      all.push_back({one.stream,
                     {each.phase, on.device, one.stream, one.entered + *one.queue.value(), one.entered + *end},
                     one.bound});
    }
  }
  put_in_order(all, [](placed const& a, placed const& b) {
    if (a.stream != b.stream) return a.stream < b.stream;
    if (a.what.begin != b.what.begin) return a.what.begin < b.what.begin;
    return a.what.end > b.what.end;
  });
  std::vector<placed_stretch> found;
  placed const* outer = nullptr;
  for (placed& each : all) {
    if (outer && outer->stream == each.stream && each.what.begin < outer->what.end) {
      // Two that follow each other overlap by no more than their places may be off.
      if (outer->what.end - each.what.begin > outer->bound + each.bound || each.what.end <= outer->what.end) continue;
      each.what.begin = outer->what.end;
    }
    outer = &each;
    found.push_back(each.what);
  }
  return found;
}

}  // namespace streamgauge
