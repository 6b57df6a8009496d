#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/replayed_pair.hpp>

namespace streamgauge {

/// Which of the executions that one launch replays lie in one another, as they did in the capture.
/// Why: around a replay no scope is open, and yet what lies in warm-up is warm-up.
/// Threads: one at a time.
class replay_nesting {
 public:
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
    for (std::size_t left = all_.size(); around != no_place && left > 0; around = all_[around].around, --left)
      if (all_[around].alone != stage::steady) return stage::covered;
    return stage::steady;
  }

 private:
  struct execution_inside {
    series_node* node;
    std::size_t around = no_place;
    stage alone = stage::steady;  // by its own count, or because the launch is warm-up
  };
  std::vector<execution_inside> all_;
};

/// Finds the nesting of one graph's intervals, which come in the order in which they were left, and of its spans.
/// Shape: a branch lies in its span. Anything else lies in what was left next, on the same lane, of the series that it was
/// entered in; a span was left behind its last branch, and behind what was entered in the span itself right after that.
/// Throws: only `std::bad_alloc`.
inline void find_nesting(replay_nesting& into, std::vector<replayed_pair>& pairs, std::vector<replayed_span>& spans) {
  for (replayed_span& each : spans) each.place = into.add(*each.node);
  for (replayed_pair& each : pairs)
    if (each.captured->where) each.place = into.add(*each.node);
  for (replayed_span& span : spans)
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      timed_slot const& slot = *pairs[i].captured;
      bool const next = span.behind == i && i > 0 && !slot.keeper && slot.where;
      if (slot.keeper == span.captured || (next && slot.where->parent == span.captured->series)) span.behind = i + 1;
    }
  auto const around = [&](std::size_t from, lane const* in, std::uint32_t parent) {
    for (std::size_t i = from; i < pairs.size(); ++i) {
      bool const there = pairs[i].captured_in == in && pairs[i].place != no_place;
      if (there && pairs[i].node->index == parent) return pairs[i].place;
    }
    for (replayed_span const& span : spans)
      if (span.captured->in == in && span.captured->series == parent && span.behind >= from) return span.place;
    return no_place;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    replayed_pair const& each = pairs[i];
    if (each.place == no_place) continue;
    std::size_t span = no_place;
    for (replayed_span const& one : spans)
      if (one.captured == each.captured->keeper) span = one.place;
    into.put(each.place, span != no_place ? span : around(i + 1, each.captured_in, each.captured->where->parent));
  }
  for (replayed_span const& each : spans)
    into.put(each.place, around(each.behind, each.captured->in, each.captured->parent));
}

}  // namespace streamgauge

#endif
