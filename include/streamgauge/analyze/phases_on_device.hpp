#pragma once

#include <cstddef>
#include <cstdint>
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
  bool const has_stream = one.stream != 0 && one.stream <= in.streams.size();
  if (has_stream && in.streams[one.stream - 1].device >= 0) return in.streams[one.stream - 1].device;
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
/// and a span as a whole, whose branches are there; what reaches out of another is cut to where that ends.
/// Shape: placed executions on streams that are known, warm-up included; none where `why_no_stretches` says why. The stream
/// is its number in `recording::streams`, from 1.
template <class Recording>
[[nodiscard]] std::vector<placed_stretch> stretches_of(Recording const& of) {
  struct placed {
    std::uint32_t stream;
    placed_stretch what;
    nanoseconds bound;
    nanoseconds end_bound;
    bool few_kept;
  };
  std::vector<placed> all;
  if (of_several_runs(of)) return {};
  for (auto const& each : of.all) {
    bool const few_kept = each.kept_one_in > 1;
    for (auto const& one : each.samples) {
      auto const end = device_end(one);
      if (end && one.part == span_part::whole && few_kept) return {};
      if (!end || one.part == span_part::whole || one.stream == 0 || one.stream > of.streams.size()) continue;
      auto const on = device_of(of, one);
      if (!on) continue;
      all.push_back({one.stream,
                     {each.phase, *on, one.stream, one.entered + *one.queue.value(), one.entered + *end},
                     one.bound, end_bound(one), few_kept});
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
      // Two that follow each other overlap by no more than their places may be off, and so far may a nested one reach out.
      bool const is_next = outer->what.end - each.what.begin <= outer->end_bound + each.bound;
      nanoseconds const beyond = each.what.end - outer->what.end;
      if (beyond <= (is_next ? nanoseconds{0} : outer->end_bound + each.end_bound)) continue;
      each.what.begin = outer->what.end;
    }
    // Between those that were kept others ran, so that what looks idle was not.
    if (each.few_kept) return {};
    outer = &each;
    found.push_back(each.what);
  }
  return found;
}

/// How many executions the device ran that no stretch is of: nobody knows where, or on which stream.
template <class Recording>
[[nodiscard]] std::uint64_t count_without_stretch(Recording const& of) noexcept {
  std::uint64_t count = 0;
  for (auto const& each : of.all) {
    for (auto const& one : each.samples) {
      if (one.part == span_part::whole || fate_of(one.device.why_absent()) == fate::not_asked) continue;
      if (!device_end(one) || one.stream == 0 || one.stream > of.streams.size() || !device_of(of, one)) ++count;
    }
  }
  return count;
}

/// Why a recording has placed executions and no stretches; empty where there is no such reason.
template <class Recording>
[[nodiscard]] char const* why_no_stretches(Recording const& of) {
  bool few_kept = false;
  bool placed = false;
  for (auto const& each : of.all) {
    few_kept = few_kept || each.kept_one_in > 1;
    for (auto const& one : each.samples) placed = placed || device_end(one);
  }
  if (placed && of_several_runs(of)) return "runs were merged, whose clocks have no origin in common";
  return placed && few_kept && stretches_of(of).empty() ? "not every execution was kept of a phase that lies in no other one"
                                                        : "";
}

}  // namespace streamgauge
