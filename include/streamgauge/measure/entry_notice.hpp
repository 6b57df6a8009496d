#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/stage.hpp>

namespace streamgauge {

/// An execution of a phase is about to begin: a capture window may open or close before it.
/// Why: without a window it costs a look at one flag.
inline void about_to_begin(series_node& node, stream_ref const* stream) noexcept {
  if (node.entry.watched.load(std::memory_order_relaxed))
    node.core.tell_watches(node.entry, stream, would_begin_in(node));
}
/// The same of a branch of a span that began in that stage.
inline void about_to_begin(series_node& node, stream_ref const* stream, stage span) noexcept {
  if (!node.entry.watched.load(std::memory_order_relaxed)) return;
  stage const alone = would_begin_in(node);
  bool const covered = alone == stage::steady && span != stage::steady;
  node.core.tell_watches(node.entry, stream, covered ? stage::covered : alone);
}

inline void recorder_core::watch(entry_watch& fresh) noexcept {
  brief_guard const guard{registry_};
  watches_.add(fresh);
  if (phase_entry* const entry = find_entry_locked(fresh.phase())) entry->watched = watches_.name(fresh.phase());
}

inline void recorder_core::unwatch(entry_watch& gone) noexcept {
  {
    brief_guard const guard{registry_};
    if (!watches_.remove(gone)) return;
    if (phase_entry* const entry = find_entry_locked(gone.phase())) entry->watched = watches_.name(gone.phase());
  }
  gone.release();
}

// Not under the lock: a window waits for the device, and asks its user.
inline void recorder_core::tell_watches(phase_entry const& entered, stream_ref const* stream,
                                        stage next_stage) noexcept {
  auto next = [&, told = std::uint64_t{0}]() mutable noexcept {
    brief_guard const guard{registry_};
    return watches_.next(told, entered.label.text());
  };
  while (entry_watch* const each = next()) {
    each->entering(stream, next_stage);
    each->release();
  }
}

template <class Problem>
void recorder_core::hear_watches(std::vector<Problem>& into) {
  std::string phases;
  for (phase_entry const* each = entries(); each; each = each->next)
    if (each->was_entered()) phases = '"' + each->label.text() + '"' + (phases.empty() ? "" : ", ") + phases;
  auto next = [this, heard = std::uint64_t{0}]() mutable noexcept {
    brief_guard const guard{registry_};
    return watches_.next(heard);
  };
  while (entry_watch* const each = next()) {
    std::string text = each->complaint(phases);
    if (!text.empty()) into.push_back({each->phase(), std::move(text)});
    each->release();
  }
}

}  // namespace streamgauge

#endif
