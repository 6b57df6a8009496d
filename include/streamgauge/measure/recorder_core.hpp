#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <string_view>

#include <streamgauge/measure/clock_calls.hpp>
#include <streamgauge/measure/entry_watch.hpp>
#include <streamgauge/measure/environment.hpp>
#include <streamgauge/measure/environment_choices.hpp>
#include <streamgauge/measure/lane.hpp>
#include <streamgauge/measure/series_node.hpp>
#include <streamgauge/measure/warm_scopes.hpp>

namespace streamgauge {

/// A device as it was described in one life of its context.
struct measured_device {
  context_key context;
  device_description description;
  bool kernel_floor_tried = false;
  measured_device* next = nullptr;
};

class recorder_core;
/// Adds to a device's description what a phase around an empty kernel reads there, or why that was not measured. Given is
/// the tool that is attached.
using kernel_floor_adder = void (*)(recorder_core&, driver_api const&, context_key, std::string const&,
                                    device_description&);

/// What a recorder's handles, threads and open phases share. It ends with the last of them.
/// Threads: any.
class recorder_core {
 public:
  recorder_core(mode recorded, std::string why_not, capacity limits) noexcept
      : recorded_{recorded}, why_not_{std::move(why_not)}, limits_{within_reason(limits)}, origin_{host_now()} {
    notice_forks();
  }
  recorder_core(recorder_core const&) = delete;
  recorder_core& operator=(recorder_core const&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// No phase is recorded any more; the events are destroyed, whatever still waits is given up.
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    if (device_reader* const reader = describing.reader.load(std::memory_order_acquire)) reader->close();
    brief_guard const guard{registry_};
    for (lane* each = lanes_; each; each = each->next) {
      brief_guard const one{each->lock};
      each->close();
    }
    if (clocks.calls) clocks.calls->close(clocks);
  }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }

  [[nodiscard]] mode recorded() const noexcept { return recorded_; }
  [[nodiscard]] host_stamp origin() const noexcept { return origin_; }
  [[nodiscard]] problem_log& problems() noexcept { return problems_; }
  [[nodiscard]] stream_numbers& streams() noexcept { return streams_; }
  [[nodiscard]] warm_scopes& warming() noexcept { return warming_; }
  /// Between phases: an anchor, if one is due and the thread has no interval open that it would fall into.
  /// Sync: some microseconds ten times a second, where clocks are placed; none otherwise.
  void keep_clocks(lane& mine, nanoseconds now) noexcept {
    if (clocks.due(now)) anchor_clocks(mine, now);
  }
  /// A number for `sample::span`, never 0.
  [[nodiscard]] std::uint32_t next_span() noexcept {
    std::uint32_t number = 0;
    while (number == 0) number = spans_.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
  }

  /// The phase of that name, made at the first asking; the first one decides domain and warm-up.
  [[nodiscard]] phase_entry& entry_of(std::string_view name, range_calls const& calls,
                                      std::optional<std::size_t> warm) {
    phase_entry* entry = find_entry(name);
    if (!entry) {
      // Made before the lock is taken: what is thrown for want of memory must find it free.
      auto* const fresh = new phase_entry{std::string{name}, calls, warm.value_or(0)};
      brief_guard const guard{registry_};
      entry = find_entry_locked(name);
      if (!entry) {
        fresh->watched.store(watches_.name(name), std::memory_order_relaxed);
        fresh->next = entries_;
        entries_ = fresh;
        return *fresh;
      }
      delete fresh;
    }
    if (warm && *warm != entry->warmup) problems_.note(trouble::other_warmup, entry->label.text().c_str());
    entry->note_domain(calls);
    return *entry;
  }

  /// All phases, the newest first. They are only ever added, in front, so a walk from here needs no lock.
  [[nodiscard]] phase_entry* entries() noexcept {
    brief_guard const guard{registry_};
    return entries_;
  }

  /// The series of a phase under conditions, made at the first asking.
  [[nodiscard]] series_node& series_of(phase_entry& of, conditions const& under) {
    if (series_node* const known = find_series(of, under)) return *known;
    auto* const fresh = new series_node{*this, of, under, recorded_};
    brief_guard const guard{registry_};
    if (series_node* const known = find_series(of, under)) {
      delete fresh;
      return *known;
    }
    fresh->index = series_count_++;
    fresh->older_of_phase = of.series.load(std::memory_order_relaxed);
    of.series.store(fresh, std::memory_order_release);
    (newest_ ? newest_->next : first_).store(fresh, std::memory_order_release);
    newest_ = fresh;
    return *fresh;
  }

  /// The series of the same phase under the phase's own conditions with others added.
  /// Why: asked on entering, so it compares in place and allocates only when the combination is new.
  [[nodiscard]] series_node& refine(series_node& base, std::initializer_list<given_condition> added) {
    series_node* const seen = known(base, added);
    return seen ? *seen : series_of(base.entry, base.under.with(added));
  }
  /// The same where that combination was seen before, null otherwise.
  [[nodiscard]] series_node* known(series_node& base, std::initializer_list<given_condition> added) const noexcept {
    series_node* each = base.entry.series.load(std::memory_order_acquire);
    while (each && !each->under.equals(base.under, added)) each = each->older_of_phase;
    return each;
  }

  /// A lane for the calling thread: one that a thread left behind, or a new one; null without memory.
  [[nodiscard]] lane* adopt_lane() noexcept {
    brief_guard const guard{registry_};
    lane* mine = lanes_;
    while (mine && !mine->left_behind()) mine = mine->next;
    if (!mine) {
      mine = new (std::nothrow) lane{limits_, problems_, streams_};
      if (!mine) return nullptr;
      mine->closed = closed();
      mine->next = lanes_;
      lanes_ = mine;
    }
    brief_guard const one{mine->lock};
    mine->adoptable = false;
    mine->innermost = stored_sample::no_series;
    mine->open_scopes = 0;
    mine->thread = threads_++;
    return mine;
  }
  void leave_lane(lane& left) noexcept {
    brief_guard const guard{registry_};
    brief_guard const one{left.lock};
    left.adoptable = true;
  }

  /// All lanes. They are only ever added, in front, so a walk from here needs no lock.
  [[nodiscard]] lane* lanes() noexcept {
    brief_guard const guard{registry_};
    return lanes_;
  }
  /// A graph is launched whose records nobody can tell from those of a launch past us.
  void tell_no_launches_apart() noexcept { launches_untold_.store(true, std::memory_order_relaxed); }
  /// The series of that number; null: there is none.
  [[nodiscard]] series_node* node_of(std::uint32_t series) noexcept {
    series_node* node = first_series();
    while (node && node->index != series) node = node->next.load(std::memory_order_acquire);
    return node;
  }

  /// Told before each execution of its phase begins, until it is taken away; `entry_notice.hpp` has the bodies.
  void watch(entry_watch& fresh) noexcept;
  void unwatch(entry_watch& gone) noexcept;
  void tell_watches(phase_entry const& entered, stream_ref const* stream, stage next) noexcept;
  std::atomic<kernel_floor_adder> kernel_floor{nullptr};  ///< null unless the program allowed it
  device_clocks clocks;                        ///< for `timeline_recorder`
  environment_choices describing;
  std::atomic<unsigned int> windows_open{0};   ///< no floor is measured meanwhile, also before their Start
  std::atomic<unsigned int> windows_unmet{0};  ///< that ended and had never opened

  /// What `kernel_floor` is where it was allowed; `kernel_floor.hpp` has the body.
  template <class = void>
  static void add_kernel_floor(recorder_core& core, driver_api const& cuda, context_key context,
                               std::string const& tool, device_description& into);

  template <class Visit>  // visit(context, ordinal) for each context that a lane has events in
  void visit_contexts(Visit visit);
  /// Waits for the stop event of every finished interval and reads it; `collecting.hpp` has the bodies.
  void drain() noexcept;
  template <class Recording>
  [[nodiscard]] Recording collect();

 private:
  ~recorder_core() {
    if (clocks.calls) clocks.calls->destroy(clocks);
    while (lane* const gone = lanes_) {
      lanes_ = gone->next;
      delete gone;
    }
    for (series_node* node = first_series(); node;) {
      series_node* const gone = node;
      node = node->next.load(std::memory_order_relaxed);
      delete gone;
    }
    while (measured_device* const gone = devices_) {
      devices_ = gone->next;
      delete gone;
    }
    while (phase_entry* const gone = entries_) {
      entries_ = gone->next;
      delete gone;
    }
  }

  [[gnu::noinline, gnu::cold]] void anchor_clocks(lane& mine, nanoseconds now) noexcept {
    {
      brief_guard const guard{mine.lock};
      if (mine.open_intervals > 0) return;
    }
    clocks.calls->anchor(clocks, now);
  }
  [[nodiscard]] phase_entry* find_entry_locked(std::string_view name) const noexcept {
    for (phase_entry* each = entries_; each; each = each->next)
      if (each->label.text() == name) return each;
    return nullptr;
  }
  [[nodiscard]] phase_entry* find_entry(std::string_view name) noexcept {
    brief_guard const guard{registry_};
    return find_entry_locked(name);
  }
  [[nodiscard]] series_node* find_series(phase_entry const& of, conditions const& under) const noexcept {
    for (series_node* each = of.series.load(std::memory_order_acquire); each; each = each->older_of_phase)
      if (each->under == under) return each;
    return nullptr;
  }
  // No more than an array can be asked for.
  [[nodiscard]] static capacity within_reason(capacity limits) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30;
    if (limits.samples > most) limits.samples = most;
    return limits;
  }
  // Series are only ever added, at the end, so a walk needs no lock.
  [[nodiscard]] series_node* first_series() const noexcept { return first_.load(std::memory_order_acquire); }
  template <class Problem>
  void hear_watches(std::vector<Problem>& into);
  void wait_for_intervals(lane& of) noexcept;
  void look_for_unseen_launches() noexcept;
  template <class Recording>
  void copy_samples(Recording& into);
  template <class Recording>
  void copy_samples(lane& of, Recording& into);
  void anchor_clocks_now() noexcept {
    if (clocks.calls) clocks.calls->anchor(clocks, host_now() - origin_);
  }
  template <class Environment>
  void describe_tool(Environment& into);
  template <class Environment>
  void describe_devices(Environment& into);
  [[nodiscard]] bool quiet() noexcept;
  [[nodiscard]] char const* why_not_now(driver_api const& cuda, context_key context) noexcept;
  [[nodiscard]] measured_device* find_device_locked(context_key context) const noexcept {
    measured_device* found = devices_;
    while (found && !(found->context == context)) found = found->next;
    return found;
  }
  template <class = void>
  [[nodiscard]] device_description known_device(driver_api const& cuda, context_key context, int ordinal);

  std::atomic<std::uint64_t> references_{1};
  std::atomic<bool> closed_{false};
  std::atomic<bool> launches_untold_{false};
  std::atomic<std::uint32_t> spans_{0};
  mode const recorded_;
  std::string const why_not_;
  capacity const limits_;
  host_stamp const origin_;
  problem_log problems_;
  stream_numbers streams_;
  warm_scopes warming_;

  brief_lock registry_;  // what follows
  lane* lanes_ = nullptr;
  std::uint32_t threads_ = 0;
  phase_entry* entries_ = nullptr;
  std::atomic<series_node*> first_{nullptr};
  series_node* newest_ = nullptr;
  std::uint32_t series_count_ = 0;
  measured_device* devices_ = nullptr;
  entry_watches watches_;
};

}  // namespace streamgauge

#endif
