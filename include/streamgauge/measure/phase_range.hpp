#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

/// Whether the next execution of a series is warm-up by itself, or because it is entered inside one that is; counts it.
/// Why: the fixed count alone decides, so a plain and a profiled run name the same executions alike. As a series counts
/// its samples: over all threads, each set of conditions apart. An execution that leaves no sample counts as well.
[[nodiscard]] inline bool begins_as_warmup(series_node& node) noexcept {
  std::size_t const count = node.entry.warmup;
  bool warms = count != 0 && node.warmed.load(std::memory_order_relaxed) < count;
  if (warms) warms = node.warmed.fetch_add(1, std::memory_order_relaxed) < count;
  return warms || node.core.warming().covers_this_thread();
}

/// A phase's range on this thread's stack. While the phase warms up it is called `warmup/NAME`, so that no filter for the
/// phase's name selects it; so is what is entered meanwhile on the same thread, or in the span that it is.
/// Threads: it closes where it was opened.
class phase_range {
 public:
  phase_range() noexcept {}
  phase_range(phase_range const&) = delete;
  phase_range& operator=(phase_range const&) = delete;

  void open(series_node& node) noexcept {
    warms_ = begins_as_warmup(node);
    push(node);
  }
  /// Opens a branch of a span, which may be on another thread: warm-up by itself, or because its span is.
  void open_in(phase_range const& span, series_node& node) noexcept {
    warms_ = begins_as_warmup(node) || span.warms_;
    push(node);
  }
  /// Opens a branch that has no phase of its own: it is called as its span is.
  void open_as(phase_range const& span) noexcept {
    warms_ = span.warms_;
    push(*span.node_);
  }

  [[nodiscard]] bool is_open() const noexcept { return node_ != nullptr; }

  void close() noexcept {
    node_->entry.label.pop(pushed_on_);
    if (warms_) node_->core.warming().leave(warm_);
  }

 private:
  void push(series_node& node) noexcept {
    node_ = &node;
    if (warms_) node.core.warming().enter(warm_);
    pushed_on_ = (warms_ ? node.entry.warmup_label : node.entry.label).push();
  }

  series_node* node_ = nullptr;
  // Set on opening, and nowhere before: a phase that is off is to cost next to nothing.
  thread_mark pushed_on_;
  bool warms_;
  warm_scope warm_;
};

}  // namespace streamgauge

#endif
