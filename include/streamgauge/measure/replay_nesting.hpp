#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/stage.hpp>

namespace streamgauge {

/// Which of the executions that one launch replays lie in one another, as they did in the capture.
/// Why: around a replay no scope is open, and yet what lies in warm-up is warm-up.
/// Threads: one at a time.
class replay_nesting {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Takes an execution; its place. Those of one series come in the order in which they were captured.
  /// Throws: only `std::bad_alloc`.
  std::size_t add(series_node& node) {
    all_.push_back({&node});
    return all_.size() - 1;
  }
  void put(std::size_t place, std::size_t around) noexcept { all_[place].around = around; }

  /// A launch begins: each execution is taken into the count of its series.
  void begin() noexcept {
    for (execution_inside& each : all_) each.alone = begins_in(*each.node);
  }
  [[nodiscard]] stage stage_of(std::size_t place) const noexcept {
    if (all_[place].alone != stage::steady) return all_[place].alone;
    std::size_t around = all_[place].around;
    for (std::size_t left = all_.size(); around != none && left > 0; around = all_[around].around, --left)
      if (all_[around].alone != stage::steady) return stage::covered;
    return stage::steady;
  }

 private:
  struct execution_inside {
    series_node* node;
    std::size_t around = none;
    stage alone = stage::steady;  // by its own count, or because the launch is warm-up
  };
  std::vector<execution_inside> all_;
};

}  // namespace streamgauge

#endif
