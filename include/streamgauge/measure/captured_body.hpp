#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <string>

#include <streamgauge/measure/graph_replay.hpp>

namespace streamgauge {

/// A callable that was captured once, so many times in a row inside one interval, and its executable graph.
/// Why: a graph needs one launch for all of it, so the device does not wait for the host between the callable's parts.
/// Requires: the recorder of `inside` outlives it.
/// Threads: one at a time.
class captured_body {
 public:
  /// `one` runs the callable once. Throws: what it throws; the capture has ended then.
  /// Sync: none. The capture is the calling thread's alone.
  template <class One>
  captured_body(recorder& in, phase const& inside, stream_ref stream, std::size_t iterations, One one) {
    prepare_capture(in, stream);
    capture(inside, stream, iterations, one);
  }
  captured_body(captured_body const&) = delete;
  captured_body& operator=(captured_body const&) = delete;
  ~captured_body() {
    if (executable_) static_cast<void>(call([&] { return cudaGraphExecDestroy(executable_); }));
    if (graph_) static_cast<void>(call([&] { return cudaGraphDestroy(graph_); }));
  }

  /// Empty, or why there is no executable graph.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
  [[nodiscard]] cudaGraph_t graph() const noexcept { return graph_; }
  [[nodiscard]] cudaGraphExec_t executable() const noexcept { return executable_; }

 private:
  template <class One>
  void capture(phase const& inside, stream_ref stream, std::size_t iterations, One& one) {
    if (stream.is_legacy()) {
      why_not_ = "the legacy stream cannot be captured into a graph: name the one that the work is to run on";
      return;
    }
    capture_under_way under_way{stream, graph_};
    if (under_way.status != cudaSuccess) return fail(under_way.status, "cudaStreamBeginCapture");
    {
      auto const scope = inside.enter(stream);
      for (std::size_t i = 0; i < iterations; ++i) one();
    }
    if (cudaError_t const status = under_way.end(); status != cudaSuccess) return fail(status, "cudaStreamEndCapture");
    std::size_t nodes = 0;
    cudaError_t status = call([&] { return cudaGraphGetNodes(graph_, nullptr, &nodes); });
    if (status != cudaSuccess) return fail(status, "cudaGraphGetNodes");
    if (nodes <= 2) {  // the interval's own
      why_not_ = "the callable enqueued nothing on the stream";
      return;
    }
    status = call([&] { return cudaGraphInstantiate(&executable_, graph_, 0); });
    if (status != cudaSuccess) return fail(status, "cudaGraphInstantiate");
  }

  template <class Call>
  [[nodiscard]] static cudaError_t call(Call one) noexcept {
    return without_trace(one);
  }

  // Ends the capture also where the callable throws: nobody else would.
  struct capture_under_way {
    capture_under_way(stream_ref on, cudaGraph_t& made)
        : stream{on},
          graph{made},
          status{call([&] { return cudaStreamBeginCapture(on.handle(), cudaStreamCaptureModeThreadLocal); })} {}
    capture_under_way(capture_under_way const&) = delete;
    capture_under_way& operator=(capture_under_way const&) = delete;
    ~capture_under_way() {
      if (ended || status != cudaSuccess) return;
      static_cast<void>(end());
      if (graph) static_cast<void>(call([&] { return cudaGraphDestroy(graph); }));
      graph = nullptr;
    }
    [[nodiscard]] cudaError_t end() noexcept {
      ended = true;
      return call([&] { return cudaStreamEndCapture(stream.handle(), &graph); });
    }

    stream_ref stream;
    cudaGraph_t& graph;
    cudaError_t status;
    bool ended = false;
  };

  void fail(cudaError_t status, char const* name) {
    why_not_ = "the callable cannot be captured into a graph: " + describe(status, name);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::string why_not_;
};

}  // namespace streamgauge

#endif
