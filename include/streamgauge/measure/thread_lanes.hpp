#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

/// A recorder and the calling thread's lane in it.
struct lane_link {
  recorder_core* core = nullptr;
  lane* where = nullptr;
};

/// The link that was used last: nearly always the one that is wanted. It needs no destructor, so it is cheap to reach.
[[gnu::visibility("default")]] inline thread_local lane_link latest_lane{};
/// Set once the thread's links are gone: what enters a phase later still counts, and is lost.
[[gnu::visibility("default")]] inline thread_local bool thread_is_ending = false;

/// All links of one thread; hands the lanes back when the thread ends.
/// Why: programs start and end threads by the thousand. A lane serves the next thread once its own is gone.
class thread_lanes {
 public:
  thread_lanes() = default;
  thread_lanes(thread_lanes const&) = delete;
  thread_lanes& operator=(thread_lanes const&) = delete;
  ~thread_lanes() {
    latest_lane = {};
    thread_is_ending = true;
    while (first_) drop(first_);
  }

  [[nodiscard]] lane* find_or_adopt(recorder_core& core) noexcept {
    for (link** at = &first_; *at;) {
      if ((*at)->to.core == &core) return (*at)->to.where;
      if ((*at)->to.core->closed())
        drop(*at);
      else
        at = &(*at)->next;
    }
    link* const fresh = new (std::nothrow) link;
    lane* const adopted = fresh ? core.adopt_lane() : nullptr;
    if (!adopted) {
      delete fresh;
      return nullptr;
    }
    core.retain();
    fresh->to = {&core, adopted};
    fresh->next = first_;
    first_ = fresh;
    return adopted;
  }

 private:
  struct link {
    lane_link to;
    link* next = nullptr;
  };

  static void drop(link*& at) noexcept {
    link* const gone = at;
    at = gone->next;
    if (latest_lane.core == gone->to.core) latest_lane = {};  // the next recorder may get the same address
    gone->to.core->leave_lane(*gone->to.where);
    gone->to.core->release();
    delete gone;
  }

  link* first_ = nullptr;
};

/// The calling thread's lane in a recorder, made at the first asking; null without memory and while the thread ends.
[[nodiscard, gnu::visibility("default")]] inline lane* lane_here(recorder_core& core) noexcept {
  if (latest_lane.core == &core) return latest_lane.where;
  if (thread_is_ending) return nullptr;
  static thread_local thread_lanes lanes;
  lane* const mine = lanes.find_or_adopt(core);
  if (mine) latest_lane = {&core, mine};
  return mine;
}

}  // namespace streamgauge

#endif
