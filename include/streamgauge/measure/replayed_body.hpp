#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/measure/captured_body.hpp>

namespace streamgauge {

/// A callable captured into one graph or several, which are launched in turn: each launch is one interval.
/// Why: a graph's inputs are fixed. One graph of all sets of inputs would be one interval over as many executions; with one
/// for each set that an interval may begin with, a sample stays what it is without a graph.
/// Requires: the recorder of the phases outlives it.
/// Threads: one at a time.
class replayed_body {
 public:
  /// Captures the next graph: `iterations` calls of `one`, inside an interval of `inside`. False where that cannot be.
  /// Throws: what `one` throws, and `std::bad_alloc`. Sync: none.
  template <class One>
  [[nodiscard]] bool add(recorder& in, phase const& inside, phase const& launches, stream_ref stream,
                         std::size_t iterations, One one) {
    replayed& made = all_.emplace_back(in, inside, stream, iterations, one);
    why_not_ = made.graph.why_not();
    std::vector<record_node> const nodes = why_not_.empty() ? nodes_of(made.graph.graph()) : std::vector<record_node>{};
    if (why_not_.empty()) made.replay.emplace(launches, made.graph.executable(), nodes, stream);
    return why_not_.empty();
  }

  /// Empty, or why the graph that was added last is none.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }

  /// Launches the next of them; CUDA's status. Requires: there is one. Sync: none.
  [[nodiscard]] cudaError_t launch() noexcept {
    replayed& now = all_[next_];
    next_ = (next_ + 1) % all_.size();
    return now.replay->launch();
  }

 private:
  struct replayed {
    template <class One>
    replayed(recorder& in, phase const& inside, stream_ref stream, std::size_t iterations, One& one)
        : graph{in, inside, stream, iterations, one} {}
    captured_body graph;
    std::optional<graph_replay> replay;  // ends before what it launches
  };

  // What a graph records, found here: where that fails it is a reason, and no error that ends the program's loop.
  [[nodiscard]] std::vector<record_node> nodes_of(cudaGraph_t graph) {
    std::vector<record_node> found;
    graph_api const* const cuda = graph_functions();
    int const status = cuda ? find_record_nodes(*cuda, graph, found) : static_cast<int>(cudaSuccess);
    if (!cuda) why_not_ = std::string{"the graph's interval cannot be read: "} + describe(absence::driver_too_old);
    if (status != cudaSuccess)
      why_not_ = "the graph's interval cannot be read: " + describe(static_cast<cudaError_t>(status), "cuGraphGetNodes");
    return found;
  }

  std::deque<replayed> all_;
  std::size_t next_ = 0;
  std::string why_not_;
};

}  // namespace streamgauge

#endif
