#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/stage.hpp>

namespace streamgauge {

/// A phase's range on this thread's stack. While the phase warms up it is called `warmup/NAME`, so that no filter for the
/// phase's name selects it; so is what is entered meanwhile on the same thread, or in the span that it is.
/// Threads: it closes where it was opened.
class phase_range {
 public:
  phase_range() noexcept {}
  phase_range(phase_range const&) = delete;
  phase_range& operator=(phase_range const&) = delete;

  void open(series_node& node) noexcept {
    stage_ = begins_in(node);
    push(node);
  }
  /// Opens a branch of a span, which may be on another thread: warm-up by itself, or because its span is.
  void open_in(phase_range const& span, series_node& node) noexcept {
    stage_ = begins_in(node);
    if (stage_ == stage::steady && span.warms()) stage_ = stage::covered;
    push(node);
  }
  /// Opens a branch that has no phase of its own: it is called as its span is.
  void open_as(phase_range const& span) noexcept {
    stage_ = span.warms() ? stage::covered : stage::steady;
    push(*span.node_);
  }

  [[nodiscard]] stage begun_in() const noexcept { return stage_; }
  [[nodiscard]] bool is_open() const noexcept { return node_ != nullptr; }

  void close() noexcept {
    bool const popped = node_->entry.label.pop(pushed_on_);
    // With times the execution says it.
    if (!popped && node_->recorded == mode::mark)
      node_->core.problems().note(trouble::ended_elsewhere, node_->name());
    if (warms()) node_->core.warming().leave(warm_);
  }

 private:
  [[nodiscard]] bool warms() const noexcept { return stage_ != stage::steady; }
  void push(series_node& node) noexcept {
    node_ = &node;
    if (warms()) node.core.warming().enter(warm_);
    pushed_on_ = (warms() ? node.entry.warmup_label : node.entry.label).push(node.numbered);
  }

  series_node* node_ = nullptr;
  // Set on opening, and nowhere before: a phase that is off is to cost next to nothing.
  thread_mark pushed_on_;
  stage stage_;
  warm_scope warm_;
};

}  // namespace streamgauge

#endif
