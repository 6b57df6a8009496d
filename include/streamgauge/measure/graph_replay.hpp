#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/graph_interval.hpp>
#include <streamgauge/measure/replayed_pairs.hpp>

namespace streamgauge {

/// Launches an executable graph, and gives a sample of every phase inside for each replay, without stalling.
/// Why: a graph records the same events at every replay, so N replays leave the times of the last one. Here each replay
/// gets events of its own: they are swapped on the executable graph between two launches.
/// Shape: for each launch one sample of `launches`, the host's side alone, and one of each phase and span that was captured
/// with `sg::in_graphs`, the device's side alone.
/// Requires: the executable graph, and the graph that it was instantiated from, outlive it. After cudaGraphExecUpdate that
/// is still the first one; for an executable made from a clone it is the clone. Nothing else launches the executable: a
/// launch past it leaves no sample; that it happened is reported where it can be seen, how often is not known.
/// Throws: the constructor, `cuda_error` when the graph cannot be read; launching never.
/// Sync: only `wait`.
/// Threads: one at a time.
/// Example: `sg::graph_replay replay{step, executable, graph, stream}; sg::check(replay.launch());`
class graph_replay {
 public:
  template <class Unit = failing_here>
  graph_replay(phase const& launches, cudaGraphExec_t executable, cudaGraph_t graph, stream_ref stream, Unit* = nullptr)
      : launches_{launches}, executable_{executable}, stream_{stream}, pairs_{launches.node().core} {
    graph_api const* const cuda = measuring() ? graph_functions() : nullptr;
    if (!cuda) return;
    std::vector<record_node> nodes;
    if (int const status = find_record_nodes(*cuda, graph, nodes); status != cudaSuccess)
      fail<Unit>(static_cast<cudaError_t>(status),
                 std::string{"graph_replay of phase \""} + launches.node().name() +
                     "\" cannot read the graph: it must be the one that the executable graph was instantiated from, "
                     "and still be there. " +
                     describe(static_cast<cudaError_t>(status), "cuGraphGetNodes"));
    begin(nodes);
  }
  /// The same of a graph whose record nodes somebody has found already. Throws: only `std::bad_alloc`.
  graph_replay(phase const& launches, cudaGraphExec_t executable, std::vector<record_node> const& nodes, stream_ref stream)
      : launches_{launches}, executable_{executable}, stream_{stream}, pairs_{launches.node().core} {
    if (measuring()) begin(nodes);
  }
  graph_replay(graph_replay const&) = delete;
  graph_replay& operator=(graph_replay const&) = delete;
  ~graph_replay() {
    if (pairs_.size() == 0) return;
    look_for_unseen();
    put_back();
  }

  /// Launches the graph on the stream; CUDA's status of the launch. It does not become the runtime's last error.
  /// Sync: none. Capture: a launch into a stream capture becomes a node of that graph, and gives no sample.
  [[nodiscard]] cudaError_t launch() noexcept {
    auto const whole = launches_.enter(host_only);
    graph_api const* const cuda = graph_functions();
    lane* const mine = cuda && pairs_.size() > 0 && measuring() ? lane_here(core()) : nullptr;
    if (!mine) return launch_graph(executable_, stream_);
    look_for_unseen();
    absence why = broken_ ? absence::call_failed : absence::none;
    bool swaps = !broken_;
    bool is_launch = true;
    {
      brief_guard const guard{mine->lock};
      event_pool* pool = mine->closed || broken_ ? nullptr : mine->pool_for(stream_, why, pairs_.name());
      if (pool && !(pool->context() == pairs_.context())) {
        pool = nullptr;
        why = absence::other_device;
      }
      absence const dead = pool || !swaps ? absence::none : why_dead(*driver().api, pairs_.context());
      if (dead != absence::none) why = dead;
      // Events of a context that is gone are not touched, nor those of a recorder that has ended.
      swaps = swaps && dead == absence::none && !mine->closed;
      is_launch = why != absence::stream_capture && !mine->closed;
      if (is_launch) pairs_.prepare(*mine, pool, why, stream_, launches_.node().index, host_now() - core().origin());
    }
    int status = swaps ? pairs_.swap(*cuda, executable_) : static_cast<int>(cudaSuccess);
    if (status != cudaSuccess) {
      // Before the launch: what is read after it may be a mixture.
      pairs_.abandon(*mine, absence::call_failed);
      broken_ = true;
      swaps = false;
    }
    pairs_.expect_own();
    cudaError_t const launched = launch_graph(executable_, stream_);
    if (status == cudaSuccess && why == absence::none) status = launched;
    {
      brief_guard const guard{mine->lock};
      if (status != cudaSuccess) why = mine->refuse(status, pairs_.name());
      pairs_.launched(*mine, why);
      if (is_launch && launched == cudaSuccess) mine->records.fetch_add(pairs_.records(), std::memory_order_relaxed);
    }
    if (swaps) pairs_.let_go_of_earlier(*mine);
    return launched;
  }

  /// Waits until the device is done with every launch so far, and reads the times. Where nothing is measured it returns at
  /// once: a wait is a measurement, not the program's synchronisation.
  /// Sync: waits for what is queued on the stream, and for the recorder's finished intervals. Capture: allowed; a stream in
  /// a capture is not waited for.
  void wait() noexcept {
    driver_answer const cuda = driver();
    if (measuring() && cuda.api) static_cast<void>(drain_stream(*cuda.api, stream_));
    core().drain();
  }

  /// How many intervals of the recorder's phases the graph holds; those of a span count one by one.
  [[nodiscard]] std::size_t intervals() const noexcept { return pairs_.size(); }

 private:
  [[nodiscard]] recorder_core& core() const noexcept { return launches_.node().core; }
  [[nodiscard]] bool measuring() const noexcept { return launches_.node().recorded == mode::time && !core().closed(); }

  void begin(std::vector<record_node> const& nodes) {
    pairs_.find(nodes);
    pairs_.note_launches(launches_.node().entry);
    look_for_unseen();  // launched before
  }

  void look_for_unseen() noexcept {
    driver_answer const cuda = driver();
    if (broken_ || pairs_.size() == 0 || !cuda.api || core().closed()) return;
    if (pairs_.recorded_past_us(*cuda.api)) core().problems().note(trouble::unseen_launch, pairs_.name());
  }

  // The executable graph records its own events again, and none of a pool.
  void put_back() noexcept {
    graph_api const* const cuda = graph_functions();
    driver_answer const here = driver();
    if (broken_ || !pairs_.swapped() || !cuda || !here.api) return;
    bool const touchable = alive(*here.api, pairs_.context());
    if (touchable && pairs_.swap(*cuda, executable_) != cudaSuccess) return pairs_.keep_from_pools();
    pairs_.let_go();
  }

  phase launches_;
  cudaGraphExec_t executable_;
  stream_ref stream_;
  replayed_pairs pairs_;
  bool broken_ = false;  // a swap failed: nobody knows what the executable graph records
};

}  // namespace streamgauge

#endif
