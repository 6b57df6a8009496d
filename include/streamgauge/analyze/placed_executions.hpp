#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// One execution where it lay on its stream, on the host's clock.
struct placed_execution {
  std::size_t series = 0;  ///< in `recording::all`
  std::size_t sample = 0;  ///< in its samples
  std::uint32_t stream = 0;
  nanoseconds begin{0};
  nanoseconds end{0};
  bool cut = false;  ///< begin or end were moved within the bounds, so that it nests or follows
};

/// The place among a series' samples of the execution that a phase was entered in; absent where it was not kept.
template <class = void>
[[nodiscard]] std::optional<std::size_t> place_around(series const& outer, sample const& inner) noexcept {
  std::size_t const behind = partition_index(
      outer.samples.size(), [&](std::size_t i) { return !(inner.entered < outer.samples[i].entered); });
  constexpr std::size_t enough = 100;  // other threads' samples may stand between, and those of phases that left before
  for (std::size_t i = behind; i > 0 && behind - i < enough; --i) {
    sample const& one = outer.samples[i - 1];
    if (one.thread != inner.thread || &one == &inner) continue;
    if (one.submit.known() && inner.entered <= one.entered + *one.submit.value()) return i - 1;
  }
  return std::nullopt;
}

/// Where the executions of a recording lay on their streams, so that what a stream ran in order nests or follows.
/// Why: each is placed give or take its bound. A stream runs one thing after the other, so two that follow and overlap by no
/// more than their bounds do not, and one that reaches out of the phase that it was entered in by no more than that does
/// not. What contradicts more than the bounds allow is left as it is.
/// Shape: placed executions on streams that are known, by stream, then as they began, the longer first; spans as wholes are
/// on none. None of a recording that was merged from several runs, whose clocks have no origin in common.
template <class Recording>
[[nodiscard]] std::vector<placed_execution> placed_executions_of(Recording const& of) {
  std::vector<placed_execution> all;
  for (std::size_t i = 0; i < of.all.size(); ++i) {
    if (of.all[i].runs > 1) return {};
    for (std::size_t j = 0; j < of.all[i].samples.size(); ++j) {
      sample const& one = of.all[i].samples[j];
      auto const end = device_end(one);
      if (!end || one.part == span_part::whole || one.stream == 0 || one.stream > of.streams.size()) continue;
      all.push_back({i, j, one.stream, one.entered + *one.queue.value(), one.entered + *end, false});
    }
  }
  auto const sample_of = [&](placed_execution const& each) -> sample const& {
    return of.all[each.series].samples[each.sample];
  };
  // By series and sample as they were pushed: where an outer one is to be found.
  std::vector<std::vector<std::size_t>> place(of.all.size());
  for (std::size_t i = 0; i < of.all.size(); ++i) place[i].assign(of.all[i].samples.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) place[all[i].series][all[i].sample] = i;

  // Outer ones first: they are entered earlier, or left later.
  std::vector<std::size_t> as_entered;
  for (std::size_t i = 0; i < all.size(); ++i) as_entered.push_back(i);
  put_in_order(as_entered, [&](std::size_t a, std::size_t b) {
    sample const& one = sample_of(all[a]);
    sample const& other = sample_of(all[b]);
    if (one.entered != other.entered) return one.entered < other.entered;
    return one.submit.value().value_or(nanoseconds{0}) > other.submit.value().value_or(nanoseconds{0});
  });
  for (std::size_t const i : as_entered) {
    placed_execution& inner = all[i];
    sample const& one = sample_of(inner);
    if (!one.parent || *one.parent >= of.all.size()) continue;
    auto const at = place_around(of.all[*one.parent], one);
    std::size_t const found = at ? place[*one.parent][*at] : all.size();
    if (found == all.size() || all[found].stream != inner.stream) continue;
    placed_execution const& outer = all[found];
    nanoseconds const doubt = one.bound + sample_of(outer).bound;
    bool const early = inner.begin < outer.begin && outer.begin - inner.begin <= doubt;
    bool const late = outer.end < inner.end && inner.end - outer.end <= doubt;
    if (early) inner.begin = outer.begin;
    if (late) inner.end = outer.end;
    if (inner.end < inner.begin) inner.end = inner.begin;
    inner.cut = early || late;
  }

  put_in_order(all, [](placed_execution const& a, placed_execution const& b) {
    if (a.stream != b.stream) return a.stream < b.stream;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<placed_execution const*> open;
  for (placed_execution& each : all) {
    if (!open.empty() && open.front()->stream != each.stream) open.clear();
    nanoseconds const bound = sample_of(each).bound;
    // What was moved behind another takes along what lies in it.
    if (!open.empty() && each.begin < open.back()->begin) {
      each.begin = open.back()->begin;
      if (each.end < each.begin) each.end = each.begin;
      each.cut = true;
    }
    for (;;) {
      while (!open.empty() && open.back()->end <= each.begin) open.pop_back();
      if (open.empty() || each.end <= open.back()->end) break;
      nanoseconds const overlap = open.back()->end - each.begin;
      if (overlap > bound + sample_of(*open.back()).bound) break;
      each.begin = open.back()->end;
      each.cut = true;
    }
    open.push_back(&each);
  }
  // Moved ones may have changed places with what lay in them.
  put_in_order(all, [](placed_execution const& a, placed_execution const& b) {
    if (a.stream != b.stream) return a.stream < b.stream;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return all;
}

}  // namespace streamgauge
