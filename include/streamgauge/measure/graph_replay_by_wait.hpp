#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/graph_replay.hpp>

namespace streamgauge {

/// Launches an executable graph whose source graph is gone, and gives a sample of the phases inside for each wait.
/// Why: without the source graph CUDA swaps no events, so every replay records the same ones and N replays leave the times
/// of the last one. Those of the others are counted as unread, never given N times.
/// Shape: for each launch one sample of `launches`, the host's side alone, and one of each inner phase, the device's side
/// alone: of what that phase recorded in its latest stream capture. Spans are not among them. A graph that did not record
/// an inner phase leaves its sample without a time.
/// Requires: the executable graph outlives it; the inner phases are of the same recorder, each under the conditions that it
/// was captured under (`decode.with({{"layer", 3}})`). Nothing else launches the executable: a launch past it between a
/// launch and the wait is read in its place. A recorder with such an object does not report launches past anything: what it
/// launches itself cannot be told from them.
/// Throws: the constructor, `cuda_error` when its events cannot be made; launching and waiting never.
/// Sync: only `wait`.
/// Threads: one at a time.
/// Example: `sg::graph_replay_by_wait replay{step, executable, stream, {decode}}; sg::check(replay.launch()); replay.wait();`
class graph_replay_by_wait {
 public:
  template <class Unit = failing_here>
  graph_replay_by_wait(phase const& launches, cudaGraphExec_t executable, stream_ref stream,
                       std::initializer_list<phase> inner, Unit* unit = nullptr)
      : launches_{launches}, executable_{executable}, stream_{stream} {
    if (!measuring()) return;
    meant_.reserve(inner.size());
    for (phase const& each : inner)
      if (&each.node().core == &core()) {
        meant_.push_back(latest_of(each.node()));
        static_cast<void>(nesting_.add(each.node()));
        each.node().entry.launched_by.store(&launches.node().entry, std::memory_order_relaxed);
      }
    for (std::size_t i = 0; i < meant_.size(); ++i)
      for (std::size_t k = 0; k < meant_.size(); ++k)
        if (meant_[i].captured && meant_[i].captured->where->parent == meant_[k].node->index) nesting_.put(i, k);
    core().tell_no_launches_apart();
    if (intervals() == 0) return;
    before_.emplace(stream, unit);
    behind_.emplace(stream, unit);
  }
  graph_replay_by_wait(graph_replay_by_wait const&) = delete;
  graph_replay_by_wait& operator=(graph_replay_by_wait const&) = delete;
  ~graph_replay_by_wait() { give_up(absence::unread); }

  /// Launches the graph on the stream; CUDA's status of the launch. It does not become the runtime's last error.
  /// Sync: none. Capture: a launch into a stream capture becomes a node of that graph, and gives no sample.
  [[nodiscard]] cudaError_t launch() noexcept {
    auto const whole = launches_.enter(host_only);
    driver_answer const cuda = driver();
    lane* const mine = cuda.api && !meant_.empty() && measuring() ? lane_here(core()) : nullptr;
    if (!mine) return launch_graph(executable_, stream_);
    int status = before_ ? may_record_here(*cuda.api) : static_cast<int>(cudaSuccess);
    if (status == cudaErrorStreamCaptureUnsupported) return launch_graph(executable_, stream_);
    give_up(absence::unread);
    nanoseconds const now = host_now() - core().origin();
    if (before_ && status == cudaSuccess) status = record(*cuda.api, before_->get(), stream_, before_->context());
    expect_records();
    cudaError_t const launched = launch_graph(executable_, stream_);
    if (status == cudaSuccess) status = launched;
    if (before_ && status == cudaSuccess) status = record(*cuda.api, behind_->get(), stream_, behind_->context());
    brief_guard const guard{mine->lock};
    if (mine->closed) return launched;
    add_samples(*mine, status == cudaSuccess ? absence::still_open : mine->refuse(status, name()), now);
    if (before_ && status == cudaSuccess)
      mine->records.fetch_add(static_cast<std::uint32_t>(2 * intervals() + 2), std::memory_order_relaxed);
    return launched;
  }

  /// Waits until the device is done with the latest launch, and reads its times; a second time does nothing.
  /// Sync: waits for an event behind that launch; for no other work. Capture: allowed; the thread's capture mode is relaxed
  /// meanwhile.
  void wait() noexcept {
    driver_answer const cuda = driver();
    if (!kept_in_ || !before_ || !cuda.api || core().closed()) return;
    absence const dead = why_dead(*cuda.api, before_->context());
    if (dead != absence::none) return give_up(dead);
    int const status = wait_until_passed(*cuda.api, behind_->get());
    // The samples belong to the lane that launched.
    brief_guard const guard{kept_in_->lock};
    for (interval_meant& each : meant_) {
      stored_sample* const kept = std::exchange(each.pending, nullptr);
      if (!kept) continue;
      kept->device = status == cudaSuccess ? read(*cuda.api, *each.captured) : refuse(status, each);
      if (!kept->device.known()) continue;
      kept->stream = core().streams().number_of(stream_.handle(), *each.captured->pool, kept_in_->thread);
    }
    kept_in_ = nullptr;
  }

  /// How many of the inner phases were captured.
  [[nodiscard]] std::size_t intervals() const noexcept {
    std::size_t count = 0;
    for (interval_meant const& each : meant_) count += each.captured ? 1U : 0U;
    return count;
  }

 private:
  struct interval_meant {
    series_node* node = nullptr;
    timed_slot* captured = nullptr;  // what its latest capture records; null: there was none
    lane* captured_in = nullptr;
    stored_sample* pending = nullptr;  // of the latest launch, until it was read or overwritten
  };

  [[nodiscard]] recorder_core& core() const noexcept { return launches_.node().core; }
  [[nodiscard]] bool measuring() const noexcept { return launches_.node().recorded == mode::time && !core().closed(); }
  [[nodiscard]] char const* name() const noexcept { return launches_.node().name(); }

  [[nodiscard]] interval_meant latest_of(series_node& node) const noexcept {
    interval_meant found{&node};
    for (lane* each = core().lanes(); each; each = each->next) {
      brief_guard const guard{each->lock};
      timed_slot* slot = each->captured;
      while (slot && (slot->series != node.index || slot->keeper || !slot->where)) slot = slot->next;
      if (!slot || (found.captured && slot->where->entered < found.captured->where->entered)) continue;
      found.captured = slot;
      found.captured_in = each;
    }
    return found;
  }

  [[nodiscard]] int may_record_here(driver_api const& cuda) const noexcept {
    context_answer const found = context_of(cuda, stream_);
    if (found.status != cudaSuccess) return found.status;
    if (!(found.key == before_->context())) return cudaErrorContextIsDestroyed;
    return may_record(cuda, stream_, found.key);
  }

  // So that what this launch records does not pass for a launch that nobody told of.
  void expect_records() noexcept {
    for (interval_meant const& each : meant_) {
      if (!each.captured) continue;
      brief_guard const guard{each.captured_in->lock};
      each.captured->seen = absence::not_asked;
    }
  }

  // Under the lane's lock.
  void add_samples(lane& mine, absence device, nanoseconds now) noexcept {
    timed_slot none;
    stored_sample nowhere;
    none.where = &nowhere;
    nesting_.begin();
    for (std::size_t i = 0; i < meant_.size(); ++i) {
      interval_meant& each = meant_[i];
      stored_sample* const kept = add_replay(*each.node, mine, each.captured ? *each.captured : none,
                                             launches_.node().index, now, nesting_.stage_of(i));
      if (!kept) continue;
      kept->device = each.captured || device != absence::still_open ? device : absence::not_replayed;
      if (kept->device == observation{absence::still_open}) each.pending = kept;
    }
    kept_in_ = &mine;
  }

  // What the latest launch recorded, and no other: after the event before it, and done.
  [[nodiscard]] observation read(driver_api const& cuda, timed_slot const& captured) const noexcept {
    elapsed_answer const begun = elapsed(cuda, before_->get(), captured.start);
    if (begun.status == cudaSuccess && begun.time < nanoseconds{0}) return absence::not_replayed;
    elapsed_answer const whole = begun.status == cudaSuccess ? elapsed(cuda, captured.start, captured.stop) : begun;
    if (whole.status == cudaSuccess) return whole.time;
    if (whole.status == cudaErrorInvalidResourceHandle) return absence::not_replayed;  // never recorded
    if (whole.status == cudaErrorNotReady) return absence::unread;                     // recorded again meanwhile
    return kept_in_->refuse(whole.status, captured.phase);
  }
  [[nodiscard]] observation refuse(int status, interval_meant const& each) const noexcept {
    return kept_in_->refuse(status, each.node->name());
  }

  void give_up(absence why) noexcept {
    if (!kept_in_) return;
    brief_guard const guard{kept_in_->lock};
    for (interval_meant& each : meant_)
      if (stored_sample* const kept = std::exchange(each.pending, nullptr)) kept->device = why;
    kept_in_ = nullptr;
  }

  phase launches_;
  cudaGraphExec_t executable_;
  stream_ref stream_;
  std::vector<interval_meant> meant_;
  replay_nesting nesting_;       // each at its place in `meant_`
  std::optional<event> before_;  // recorded before each launch; there where an inner phase was captured
  std::optional<event> behind_;  // and behind it
  lane* kept_in_ = nullptr;      // where the samples of the latest launch are, until they were read
};

}  // namespace streamgauge

#endif
