// Stream types of other libraries pass as they are. The stand-ins have the members through which the real types give
// their handle, and the deleted ones that could get in the way.

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/graph_replay.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/span.hpp>

#include <cstddef>
#include <vector>

namespace rmm {
// A view that converts without being asked; it has no default meaning for 0.
class cuda_stream_view {
 public:
  constexpr cuda_stream_view(cudaStream_t stream) noexcept : stream_{stream} {}
  cuda_stream_view(int) = delete;
  cuda_stream_view(std::nullptr_t) = delete;
  [[nodiscard]] constexpr cudaStream_t value() const noexcept { return stream_; }
  constexpr operator cudaStream_t() const noexcept { return value(); }
  [[nodiscard]] bool is_default() const noexcept { return stream_ == nullptr; }
  void synchronize() const {}

 private:
  cudaStream_t stream_;
};

// The owner converts to a raw stream only when asked explicitly.
class cuda_stream {
 public:
  explicit cuda_stream(cudaStream_t stream) : stream_{stream} {}
  cuda_stream(cuda_stream&&) = default;
  cuda_stream(cuda_stream const&) = delete;
  [[nodiscard]] cudaStream_t value() const { return stream_; }
  explicit operator cudaStream_t() const noexcept { return stream_; }
  [[nodiscard]] cuda_stream_view view() const { return cuda_stream_view{value()}; }
  operator cuda_stream_view() const { return view(); }

 private:
  cudaStream_t stream_;
};
}  // namespace rmm

namespace cuda {
// libcu++: a reference with `get`, and no conversion.
class stream_ref {
 public:
  using value_type = cudaStream_t;
  constexpr stream_ref(cudaStream_t stream) noexcept : stream_{stream} {}
  stream_ref(int) = delete;
  stream_ref(std::nullptr_t) = delete;
  [[nodiscard]] constexpr cudaStream_t get() const noexcept { return stream_; }
  [[nodiscard]] bool ready() const { return true; }
  void wait() const {}
  friend constexpr bool operator==(stream_ref const& a, stream_ref const& b) noexcept { return a.stream_ == b.stream_; }

 private:
  cudaStream_t stream_;
};

// cuda-api-wrappers: an owner with `handle`, moved and never copied. Its real name is the same namespace's stream_t.
class stream_t {
 public:
  using handle_type = CUstream_st*;
  explicit stream_t(handle_type stream) noexcept : stream_{stream} {}
  stream_t(stream_t const&) = delete;
  stream_t(stream_t&& other) noexcept : stream_{other.stream_} { other.stream_ = nullptr; }
  [[nodiscard]] handle_type handle() const noexcept { return stream_; }
  [[nodiscard]] int device_id() const noexcept { return 0; }
  void synchronize() const {}

 private:
  handle_type stream_;
};
}  // namespace cuda

namespace sg = streamgauge;

template <class Stream>
void everything(sg::recorder& recorder, Stream const& stream, Stream const& side, cudaGraphExec_t executable,
                cudaGraph_t graph) {
  sg::phase const step{recorder, "step", sg::in_graphs};
  sg::phase const part{recorder, "part"};
  { auto scope = step.enter(stream); }
  { auto scope = step.enter(stream, {{"rows", 256}}); }
  { auto open = step.start(stream); }
  {
    sg::span observed{step};
    { auto one = observed.branch(stream, part); }
    { auto other = observed.branch(side); }
  }
  { sg::span listed{step, {stream, side}}; }
  { sg::span joined{step, sg::joined, stream}; }
  { sg::span isolated{step, sg::isolated, stream, {side}}; }
  sg::prepare_capture(recorder, stream);
  sg::graph_replay replay{step, executable, graph, stream};
  static_cast<void>(replay.launch());
  sg::interval timer{stream};
  timer.start();
  timer.stop();
  { sg::capture_guard const guard{stream, side}; }
}

// As a container holds them, without naming a stream one by one.
template <class Stream>
void listed(sg::recorder& recorder, std::vector<Stream> const& streams) {
  sg::phase const step{recorder, "step"};
  { sg::span all{step, streams}; }
}

void instances(sg::recorder& recorder, cudaStream_t one, cudaStream_t other, cudaGraphExec_t executable,
               cudaGraph_t graph) {
  everything(recorder, rmm::cuda_stream_view{one}, rmm::cuda_stream_view{other}, executable, graph);
  everything(recorder, rmm::cuda_stream{one}, rmm::cuda_stream{other}, executable, graph);
  everything(recorder, cuda::stream_ref{one}, cuda::stream_ref{other}, executable, graph);
  everything(recorder, cuda::stream_t{one}, cuda::stream_t{other}, executable, graph);
  everything(recorder, one, other, executable, graph);
  listed<rmm::cuda_stream_view>(recorder, {one, other});
  listed<cuda::stream_ref>(recorder, {one, other});
  std::vector<cuda::stream_t> owners;
  owners.emplace_back(one);
  owners.emplace_back(other);
  listed(recorder, owners);
}

// What names no stream is refused where it stands, not inside the library.
struct no_stream {
  [[nodiscard]] int get() const { return 0; }
  [[nodiscard]] int handle() const { return 0; }
};
static_assert(std::is_convertible_v<rmm::cuda_stream_view, sg::stream_ref>);
static_assert(std::is_convertible_v<rmm::cuda_stream const&, sg::stream_ref>);
static_assert(std::is_convertible_v<cuda::stream_ref, sg::stream_ref>);
static_assert(std::is_convertible_v<cuda::stream_t const&, sg::stream_ref>);
static_assert(!std::is_convertible_v<no_stream, sg::stream_ref>);
static_assert(!std::is_convertible_v<int, sg::stream_ref>);
static_assert(!std::is_convertible_v<void*, sg::stream_ref>);
static_assert(!std::is_convertible_v<std::size_t, sg::stream_ref>);

int main() {}
