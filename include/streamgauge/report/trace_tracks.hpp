#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/number_places.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>
#include <streamgauge/analyze/placed_executions.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/nested_slices.hpp>

namespace streamgauge::report {

/// What a slice of a trace stands for.
enum class trace_part : std::uint8_t {
  submit,  ///< host: from entering to leaving
  wait,    ///< host: from there until the wait saw the device done
  device,  ///< device: on a stream, or a span as a whole
};

/// Of which execution a slice is, and which part of it.
struct trace_piece {
  std::size_t series = 0;
  std::size_t sample = 0;
  trace_part part = trace_part::submit;
  bool cut = false;  ///< its begin or end was moved within the bounds
};

/// A track: a thread of the host's, a stream, or a device's spans.
struct trace_track {
  std::optional<int> device;  ///< absent: the host's; -1: a device that is not known
  std::string label;
  std::vector<drawn_slice> slices;  ///< `what` is an index in `trace_tracks::pieces`
  std::size_t lanes = 1;
};

/// What a recording has to draw, by track: threads, then for each device its streams and its spans as wholes.
/// Why: what was not placed is not here, rather than at a place that somebody made up.
/// A template, so that only a unit that writes compiles its bodies.
template <class Recording>
class trace_tracks {
 public:
  explicit trace_tracks(Recording const& of) : of_{of} {
    add_threads();
    add_streams();
    add_spans();
    put_in_order(all, [](trace_track const& a, trace_track const& b) {
      if (a.device.has_value() != b.device.has_value()) return !a.device.has_value();
      return a.device && *a.device != *b.device && after(*b.device, *a.device);
    });
  }

  std::vector<trace_track> all;
  std::vector<trace_piece> pieces;
  std::uint64_t cut = 0;

  /// Whether a device comes after another one: by number, one that is not known last.
  [[nodiscard]] static bool after(int a, int b) noexcept { return (a < 0) != (b < 0) ? a < 0 : b < a; }

 private:
  void add(trace_track& on, nanoseconds begin, nanoseconds end, trace_piece const& what) {
    on.slices.push_back({begin, end, pieces.size(), 0, nanoseconds{0}});
    pieces.push_back(what);
  }

  [[gnu::cold]] void add_threads() {
    std::vector<std::uint32_t> seen;
    for (auto const& each : of_.all)
      for (sample const& one : each.samples)
        if (seen.empty() || seen.back() != one.thread) seen.push_back(one.thread);
    number_places<> const threads{std::move(seen)};
    std::vector<trace_track> tracks(threads.size());
    for (std::size_t i = 0; i < of_.all.size(); ++i) {
      for (std::size_t j = 0; j < of_.all[i].samples.size(); ++j) {
        sample const& one = of_.all[i].samples[j];
        if (!one.submit.known()) continue;
        nanoseconds const left = one.entered + *one.submit.value();
        trace_track& track = tracks[threads.of(one.thread)];
        add(track, one.entered, left, {i, j, trace_part::submit, false});
        if (!one.completion.known() || *one.completion.value() <= *one.submit.value()) continue;
        add(track, left, one.entered + *one.completion.value(), {i, j, trace_part::wait, false});
      }
    }
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (tracks[i].slices.empty()) continue;
      tracks[i].label = "thread " + digits(threads[i]);
      all.push_back(std::move(tracks[i]));
    }
  }

  [[gnu::cold]] void add_streams() {
    std::uint32_t stream = 0;
    for (placed_execution const& each : placed_executions_of(of_)) {
      if (stream != each.stream) {
        stream = each.stream;
        all.push_back({of_.streams[stream - 1].device, stream_name(stream), {}, 1});
      }
      cut += each.cut ? 1 : 0;
      add(all.back(), each.begin, each.end, {each.series, each.sample, trace_part::device, each.cut});
    }
  }

  // A whole has no stream: its branches have, and with it the device.
  [[gnu::cold]] void add_spans() {
    std::vector<std::pair<std::uint32_t, int>> of_branches;
    for (auto const& each : of_.all)
      for (sample const& one : each.samples)
        if (one.span != 0 && one.stream != 0 && one.stream <= of_.streams.size())
          of_branches.push_back({one.span, of_.streams[one.stream - 1].device});
    put_in_order(of_branches, [](auto const& a, auto const& b) { return a.first < b.first; });
    std::size_t const first = all.size();
    for (std::size_t i = 0; i < of_.all.size(); ++i) {
      for (std::size_t j = 0; j < of_.all[i].samples.size(); ++j) {
        sample const& one = of_.all[i].samples[j];
        auto const end = device_end(one);
        if (one.part != span_part::whole || !end) continue;
        std::size_t const branch =
            partition_index(of_branches.size(), [&](std::size_t k) { return of_branches[k].first < one.span; });
        bool const known = one.span != 0 && branch < of_branches.size() && of_branches[branch].first == one.span;
        int const device = known ? of_branches[branch].second : device_of(of_, one).value_or(-1);
        std::size_t at = first;
        while (at < all.size() && all[at].device != device) ++at;
        if (at == all.size()) all.push_back({device, "spans", {}, 1});
        add(all[at], one.entered + *one.queue.value(), one.entered + *end, {i, j, trace_part::device, false});
      }
    }
  }

  [[nodiscard]] std::string stream_name(std::uint32_t number) const {
    auto const& one = of_.streams[number - 1];
    std::string const name = "stream " + digits(number) + ": ";
    if (one.kind == stream_kind::legacy) return name + "the legacy default stream";
    if (one.kind == stream_kind::per_thread) return name + "a per-thread default stream";
    std::string hex;
    for (std::uint64_t rest = one.handle; rest != 0 || hex.empty(); rest /= 16)
      hex.insert(hex.begin(), "0123456789abcdef"[rest % 16]);
    return name + "0x" + hex;
  }

  Recording const& of_;
};

}  // namespace streamgauge::report
