#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/sample.hpp>

namespace streamgauge {

/// Which samples were taken behind a gate that was let go too early, by their place in the series.
/// Why: only when the host has opened the gate it is known whether the intervals behind it held the device back. What was
/// measured then holds nobody knows what, so its device times go.
/// Threads: one at a time.
class spoiled_samples {
 public:
  /// Those from `begin` up to, but not with, `end`.
  void add(std::size_t begin, std::size_t end) {
    if (begin < end) all_.push_back({begin, end});
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] bool has(std::size_t sample) const noexcept {
    for (places const& each : all_)
      if (sample >= each.begin && sample < each.end) return true;
    return false;
  }
  /// Takes their device times out of a series.
  void drop_from(series& of) const noexcept {
    for (places const& each : all_)
      for (std::size_t i = each.begin; i < each.end && i < of.samples.size(); ++i)
        of.samples[i].device = absence::gate_timeout;
  }

 private:
  struct places {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<places> all_;
};

}  // namespace streamgauge
