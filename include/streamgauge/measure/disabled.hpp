#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <streamgauge/version.hpp>
#include <streamgauge/mark/range.hpp>
#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/gating.hpp>

/// What measuring is when the program is compiled with `STREAMGAUGE_DISABLE`: the same names, empty bodies, no CUDA call,
/// no NVTX call, nothing left in the machine code. `check`, `cuda_error` and the whole analysis wing stay as they are.
/// Why: the inline namespace makes it a link error to hand a recorder or a phase to a unit that was compiled otherwise.
namespace streamgauge {
inline namespace disabled {

class given_condition {
 public:
  template <class Value>
  constexpr given_condition(std::string_view, Value const&) noexcept {}
};

class conditions {
 public:
  constexpr conditions() noexcept = default;
  constexpr conditions(std::initializer_list<given_condition>) noexcept {}
};

class work {
 public:
  constexpr work() noexcept = default;
  template <class Number>
  [[nodiscard]] constexpr work flops(Number) const noexcept { return {}; }
  template <class Number>
  [[nodiscard]] constexpr work reads(Number) const noexcept { return {}; }
  template <class Number>
  [[nodiscard]] constexpr work writes(Number) const noexcept { return {}; }
  [[nodiscard]] constexpr declared_work declared() const noexcept { return {}; }
  constexpr operator declared_work() const noexcept { return {}; }
};

struct capacity {
  std::size_t samples = 0;
  std::size_t intervals = 0;
};

class recorder {
 public:
  constexpr explicit recorder(capacity = {}) noexcept {}
  constexpr explicit recorder(mode, capacity = {}) noexcept {}
  ~recorder() {}  // not defaulted: a recorder that nothing else mentions must not look unused
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;

  [[nodiscard]] recording collect() const {
    recording taken;
    taken.recorded = mode::off;
    taken.why_not_measured = "off, compiled out by STREAMGAUGE_DISABLE";
    taken.environment.library_version = version_string;
    return taken;
  }
  void describe(given_condition const&) const noexcept {}
  void leave_out_command() const noexcept {}
  void drain() const noexcept {}
  [[nodiscard]] constexpr mode recorded() const noexcept { return mode::off; }
};

struct warmup {
  std::size_t samples = 0;
};

template <class Domain>
struct domain_choice {};
template <class Domain>
inline constexpr domain_choice<Domain> in_domain{};

class [[nodiscard]] scope {
 public:
  scope() = default;
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  static void* operator new(std::size_t) = delete;
  ~scope() {}

  void wait(wait_policy) const noexcept {}
};

class [[nodiscard]] started_phase {
 public:
  started_phase() = default;
  started_phase(started_phase&&) noexcept {}
  started_phase& operator=(started_phase&&) noexcept { return *this; }
  ~started_phase() {}

  void stop() const noexcept {}
  void wait(wait_policy) const noexcept {}
};

class held {
 public:
  held() = default;
  held(held&&) noexcept {}
  held& operator=(held&&) noexcept { return *this; }
  ~held() {}

  gating open() const noexcept { return gating::not_timed; }
  [[nodiscard]] constexpr bool holds() const noexcept { return false; }
};

class gate {
 public:
  constexpr explicit gate(nanoseconds = {}) noexcept {}
  ~gate() {}
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  [[nodiscard]] held hold(stream_ref) const noexcept { return {}; }
  [[nodiscard]] std::optional<gating> last() const noexcept { return std::nullopt; }
  [[nodiscard]] constexpr std::uint64_t count(gating) const noexcept { return 0; }
};

class phase {
 public:
  template <class Name, class... Options>
  phase(recorder&, Name const&, Options const&...) noexcept {}

  [[nodiscard]] constexpr std::string_view name() const noexcept { return {}; }
  [[nodiscard]] constexpr std::string_view domain() const noexcept { return {}; }

  [[nodiscard]] scope enter(stream_ref) const noexcept { return {}; }
  [[nodiscard]] scope enter(host_only_tag) const noexcept { return {}; }
  [[nodiscard]] scope enter(stream_ref, std::initializer_list<given_condition>) const noexcept { return {}; }
  [[nodiscard]] scope enter(host_only_tag, std::initializer_list<given_condition>) const noexcept { return {}; }
  [[nodiscard]] scope enter(stream_ref, std::initializer_list<given_condition>, work) const noexcept { return {}; }
  [[nodiscard]] scope enter(stream_ref, gate&) const noexcept { return {}; }
  [[nodiscard]] started_phase start(stream_ref) const noexcept { return {}; }
  [[nodiscard]] started_phase start(host_only_tag) const noexcept { return {}; }
  [[nodiscard]] phase with(std::initializer_list<given_condition>) const noexcept { return *this; }
  [[nodiscard]] phase with(std::initializer_list<given_condition>, work) const noexcept { return *this; }
  [[nodiscard]] friend bool operator==(phase const&, phase const&) noexcept { return true; }
  [[nodiscard]] friend bool operator!=(phase const&, phase const&) noexcept { return false; }
};

struct joined_tag {};
inline constexpr joined_tag joined{};
struct isolated_tag {};
inline constexpr isolated_tag isolated{};

class [[nodiscard]] branch {
 public:
  branch() = default;
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;
  ~branch() {}
};

class [[nodiscard]] span {
 public:
  explicit span(phase const&) noexcept {}
  span(phase const&, std::initializer_list<stream_ref>) noexcept {}
  template <class Streams, class = decltype(std::declval<Streams const&>().begin())>
  span(phase const&, Streams const&) noexcept {}
  span(phase const&, joined_tag, stream_ref) noexcept {}
  span(phase const&, isolated_tag, stream_ref, std::initializer_list<stream_ref>) noexcept {}
  span(span const&) = delete;
  span& operator=(span const&) = delete;
  ~span() {}

  [[nodiscard]] streamgauge::branch branch(stream_ref, phase const&) const noexcept { return {}; }
  [[nodiscard]] streamgauge::branch branch(stream_ref) const noexcept { return {}; }
  void wait(wait_policy) const noexcept {}
};

struct graph_choice {};
inline constexpr graph_choice in_graphs{};
inline void prepare_capture(recorder&, stream_ref) noexcept {}

/// Launches, and nothing else.
class launching_alone {
 public:
  launching_alone(launching_alone const&) = delete;
  launching_alone& operator=(launching_alone const&) = delete;

  template <class Unit = null_stream_here>  // the call's own name depends on the unit
  [[nodiscard]] cudaError_t launch() const noexcept {
    return cudaGraphLaunch(executable_, stream_.handle());
  }
  void wait() const noexcept {}
  [[nodiscard]] std::size_t intervals() const noexcept { return 0; }

 protected:
  launching_alone(cudaGraphExec_t executable, stream_ref stream) noexcept : executable_{executable}, stream_{stream} {}
  ~launching_alone() = default;

 private:
  cudaGraphExec_t executable_;
  stream_ref stream_;
};

class graph_replay : public launching_alone {
 public:
  graph_replay(phase const&, cudaGraphExec_t executable, cudaGraph_t, stream_ref stream) noexcept
      : launching_alone{executable, stream} {}
};

class graph_replay_by_wait : public launching_alone {
 public:
  graph_replay_by_wait(phase const&, cudaGraphExec_t executable, stream_ref stream,
                       std::initializer_list<phase>) noexcept
      : launching_alone{executable, stream} {}
};

enum class interval_state : unsigned char { not_started, not_stopped, pending, done, unread, failed };

struct reading {
  interval_state state = interval_state::not_started;
  std::optional<nanoseconds> time{};
  absence why = absence::not_asked;
  int status = cudaSuccess;
};

class interval {
 public:
  explicit interval(stream_ref) noexcept {}
  ~interval() {}

  reading start() const noexcept { return {}; }
  reading stop() const noexcept { return {}; }
  reading read() const noexcept { return {}; }
  reading wait() const noexcept { return {}; }
  [[nodiscard]] bool ready() const noexcept { return false; }
};

[[nodiscard]] inline std::string describe(reading const&, std::string const& name) {
  return "interval \"" + name + "\": not measured: off, compiled out by STREAMGAUGE_DISABLE";
}

[[nodiscard]] constexpr std::uint32_t captures_asked() noexcept { return 0; }

class capture_guard {
 public:
  template <class... Drained>
  explicit capture_guard(Drained const&...) noexcept {}
  ~capture_guard() {}
  capture_guard(capture_guard const&) = delete;
  capture_guard& operator=(capture_guard const&) = delete;

  [[nodiscard]] std::vector<std::string> notes() const {
    return {"nothing is captured: compiled out by STREAMGAUGE_DISABLE"};
  }
};

class capture_window {
 public:
  template <class... Options>
  explicit capture_window(recorder&, Options const&...) noexcept {}
  ~capture_window() {}
  capture_window(capture_window const&) = delete;
  capture_window& operator=(capture_window const&) = delete;

  void step() const noexcept {}
  [[nodiscard]] std::vector<std::string> notes() const {
    return {"nothing is captured: compiled out by STREAMGAUGE_DISABLE"};
  }
};

class drains {
 public:
  template <class... Streams>
  explicit drains(Streams const&...) noexcept {}
};

}  // namespace disabled
}  // namespace streamgauge
