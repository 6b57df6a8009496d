#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <vector>

#include <streamgauge/measure/clock_maps.hpp>

namespace streamgauge {

/// Gives collected samples their place on the host's clock, with all that the clock maps have learnt by then.
/// Why: what comes later says most of what was before: between two anchors a bound is a fraction of what it is beyond.
/// A template, so that only a unit that collects compiles it.
template <class Recording>
class sample_placer {
 public:
  /// Throws: only `std::bad_alloc`.
  explicit sample_placer(clock_maps& clocks) {
    fits_.resize(clocks.size());
    for (clock_map* each = clocks.first(); each; each = each->next)
      if (each->number() <= fits_.size()) fits_[each->number() - 1] = clock_fit<Recording>{each->windows()};
  }

  /// All samples: first those that are no branches, then the branches by their spans.
  void place(Recording& into) const {
    for (auto& each : into.all)
      for (auto& one : each.samples)
        if (one.part != span_part::branch) place_one(one);
    place_branches(into);
  }

  /// How well each device's clock was placed.
  void describe(clock_maps const& clocks, Recording& into) const {
    if (clocks.under_serialising_tool()) into.why_not_placed = "a tool that runs every kernel alone is attached";
    for (clock_map const* each = clocks.first(); each; each = each->next) {
      placed_clock described;
      described.device = each->device();
      described.anchors = each->recorded();
      described.thrown_away = each->thrown_away();
      if (each->number() <= fits_.size()) {
        clock_fit<Recording> const& fit = fits_[each->number() - 1];
        if (auto const drift = fit.drift()) {
          described.drift = drift->rate;
          described.drift_bound = drift->bound;
        }
        described.limits = fit.limits();
        if (fit.contradicted()) described.why_not = streamgauge::describe(absence::clocks_disagree);
      }
      if (each->status() != cudaSuccess) described.why_not = cudaGetErrorString(static_cast<cudaError_t>(each->status()));
      into.clocks.push_back(described);
    }
  }

 private:
  // What it came with is the moment of the device's clock, and the number of that clock.
  template <class Sample>
  void place_one(Sample& one) const {
    auto const moment = one.queue;
    auto const number = static_cast<std::size_t>(one.bound.count());
    one.bound = nanoseconds{0};
    one.queue = one.device.known() ? absence::no_clock : one.device.why_absent();
    if (!one.device.known() || !moment.known() || number == 0 || number > fits_.size()) return;
    clock_fit<Recording> const& fit = fits_[number - 1];
    auto const placed = fit.at(moment.value()->count());
    if (!placed) {
      if (fit.contradicted()) one.queue = absence::clocks_disagree;
      return;
    }
    // No device start before its submission, and no end after somebody saw it. How long it took is the device's own time:
    // on the host's clock it may have been shorter, by the drift.
    nanoseconds earliest = placed->host - placed->bound;
    nanoseconds latest = placed->host + placed->bound;
    if (earliest < one.entered) earliest = one.entered;
    if (one.completion.known()) {
      nanoseconds const took = *one.device.value();
      nanoseconds const last = one.entered + *one.completion.value() - took + drift_over(took, fit.limits());
      if (latest > last) latest = last;
    }
    set(one, earliest, latest);
  }

  void place_branches(Recording& into) const {
    struct placed_span {
      std::uint32_t span;
      nanoseconds earliest;
      nanoseconds latest;
      absence why_not;
    };
    std::vector<placed_span> spans;
    for (auto const& each : into.all) {
      for (auto const& one : each.samples) {
        if (one.part != span_part::whole || one.span == 0) continue;
        nanoseconds const middle = one.entered + one.queue.value().value_or(nanoseconds{0});
        spans.push_back({one.span, middle - one.bound, middle + one.bound, one.queue.why_absent()});
      }
    }
    put_in_order(spans, [](auto const& a, auto const& b) { return a.span < b.span; });
    for (auto& each : into.all) {
      for (auto& one : each.samples) {
        if (one.part != span_part::branch) continue;
        one.bound = nanoseconds{0};
        one.queue = one.device.known() ? absence::no_clock : one.device.why_absent();
        if (!one.device.known() || !one.begins.known() || one.span == 0) continue;
        auto const at = partition_index(spans.size(), [&](std::size_t i) { return spans[i].span < one.span; });
        if (at == spans.size() || spans[at].span != one.span) continue;
        placed_span const* const its = &spans[at];
        one.queue = its->why_not;
        if (its->why_not != absence::none) continue;
        nanoseconds const after = *one.begins.value();  // device time, as above
        nanoseconds const earliest = its->earliest + after - drift_over(after);
        set(one, earliest < one.entered ? one.entered : earliest, its->latest + after + drift_over(after));
      }
    }
  }

  template <class Sample>
  static void set(Sample& into, nanoseconds earliest, nanoseconds latest) noexcept {
    if (latest < earliest) {
      into.queue = absence::clocks_disagree;
      return;
    }
    into.bound = (latest - earliest + nanoseconds{1}) / 2;  // rounded up
    into.queue = earliest + into.bound - into.entered;
  }

  std::vector<clock_fit<Recording>> fits_;
};

}  // namespace streamgauge

#endif
