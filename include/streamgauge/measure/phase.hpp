#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/execution_wait.hpp>
#include <streamgauge/measure/phase_range.hpp>
#include <streamgauge/measure/recorder.hpp>

namespace streamgauge {

/// How many of a phase's first samples are warm-up: kept, shown apart, never mixed in. Their ranges are called
/// `warmup/NAME`, and so are those of phases that are entered inside, so that no filter for a phase's name selects them.
struct warmup {
  std::size_t samples = 0;
};

/// Gives a phase's ranges to a domain. Left out, they are in NVTX's own default domain.
/// Example: `sg::phase step{recorder, "step", sg::in_domain<my_domain>};`
template <class Domain, class Unit = default_domain>  // the default domain's type tells how the unit marks
struct domain_choice {};
template <class Domain, class Unit = default_domain>
inline constexpr domain_choice<Domain, Unit> in_domain{};

/// Declares a phase for graphs; `in_graphs` of `graph_interval.hpp` is the one there is.
struct graph_choice {
  graph_calls const* calls;
};

/// A phase that is open until the end of the scope that it was entered in.
/// Why: neither copied nor moved, so it closes where it was opened, in order, also when an exception passes; the sample is
/// then incomplete, and the exception goes on unchanged.
/// Sync: none, unless `wait` is called.
class [[nodiscard]] scope {
 public:
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  static void* operator new(std::size_t) = delete;

  ~scope() {
    if (!range_.is_open()) return;
    close();
    range_.close();
  }

  /// Ends the measured part, waits until the device is done with it, and keeps the host time from entering to then as the
  /// completion. What follows in the scope is in its range, and in none of its times. Where there is no device time to come
  /// (off, or refused) it returns at once: a wait is a measurement, not the program's synchronisation.
  /// Sync: waits for the phase's own stop event, spinning or asleep; no other stream, no device.
  void wait(wait_policy policy) noexcept {
    if (now_.open() && now_.unwinding()) return now_.give_up();
    now_.end_and_wait(policy);
  }

 private:
  friend class phase;
  scope(series_node* node, mode recorded, stream_ref const* stream) noexcept {
    if (recorded != mode::off) open(*node, stream);
  }

  void open(series_node& node, stream_ref const* stream) noexcept {
    about_to_begin(node, stream);
    range_.open(node);
    if (node.recorded == mode::time) now_.begin(node, stream, lifetime::scoped, range_.begun_in());
  }
  void close() noexcept {
    if (now_.open()) now_.unwinding() ? now_.give_up() : now_.end();
  }

  phase_range range_;
  execution now_;
};

/// A phase that was started: it may move, and end on any thread.
/// Why: asynchronous work begins in one place and ends in another. On a per-thread default stream the end must be on the
/// same thread, since elsewhere that handle is another stream; otherwise the device time is dropped with that reason.
/// Sync: none, unless `wait` is called.
/// Threads: one at a time.
class [[nodiscard]] started_phase {
 public:
  started_phase(started_phase&& other) noexcept { take(other); }
  started_phase& operator=(started_phase&& other) noexcept {
    if (this != &other) {
      finish();
      take(other);
    }
    return *this;
  }
  started_phase(started_phase const&) = delete;
  started_phase& operator=(started_phase const&) = delete;
  ~started_phase() { finish(); }

  /// Ends it; a second time does nothing.
  void stop() noexcept {
    now_.end();
    end_range();
  }

  /// Ends it, waits until the device is done with it, and keeps the completion; as `scope::wait`.
  /// Sync: waits for the phase's own stop event; no other stream, no device.
  void wait(wait_policy policy) noexcept {
    now_.end_and_wait(policy);
    end_range();
  }

 private:
  friend class phase;
  started_phase(series_node* node, stream_ref const* stream) noexcept {
    if (node->recorded == mode::off) return;
    node_ = node;
    node_->core.retain();
    about_to_begin(*node_, stream);
    stage const in = begins_in(*node);
    range_ = (in == stage::steady ? node->entry.label : node->entry.warmup_label).start(node->numbered);
    if (node->recorded == mode::time) now_.begin(*node, stream, lifetime::started, in);
  }

  void take(started_phase& other) noexcept {
    node_ = std::exchange(other.node_, nullptr);
    range_ = other.range_;
    now_ = std::move(other.now_);
  }
  // Not inlined: g++ at -O1 takes a `std::optional` that holds one for uninitialised where it is empty.
  [[gnu::noinline]] void finish() noexcept {
    if (now_.open()) now_.unwinding() ? now_.give_up() : now_.end();
    end_range();
  }
  void end_range() noexcept {
    if (!node_) return;
    node_->entry.label.end(range_);
    std::exchange(node_, nullptr)->core.release();
  }

  series_node* node_ = nullptr;  // null once the range has ended
  std::uint64_t range_ = 0;
  execution now_;
};

/// A named part of the program that is measured, again and again. A handle: cheap to copy, comparable, storable.
/// Why: the name is registered with NVTX once. Phases of one name in one recorder are the same phase; its first handle
/// decides domain and warm-up.
/// Requires: a scope's recorder outlives the scope. After the recorder has ended, entering does nothing.
/// Throws: only `std::bad_alloc`: the constructor, `with`, and entering under conditions that are new. Nothing else.
/// Capture: inside a stream capture a phase marks and counts; its device time is absent and the reason kept. Declared with
/// `sg::in_graphs` it records, and its times come with each replay of the graph.
/// Threads: any.
class phase {
 public:
  template <class Unit = default_domain, class... Options>
  phase(recorder& in, text name, Options const&... options) {
    settings chosen{&range_calls_in<Unit>(), {}, {}, nullptr, work_kind::undeclared, nullptr};
    (apply(chosen, options), ...);
    node_ = &in.core().series_of(in.core().entry_of(name.view(), *chosen.calls, chosen.warm), chosen.under);
    if (chosen.in_graph) node_->entry.in_graph.store(chosen.in_graph, std::memory_order_relaxed);
    auto undeclared = work_kind::undeclared;
    if (chosen.kind != undeclared) node_->entry.kind.compare_exchange_strong(undeclared, chosen.kind);
    recorded_ = node_->recorded;
    if (chosen.does) declare(*node_, *chosen.does);
    node_->core.retain();
  }
  phase(phase const& other) noexcept : node_{other.node_}, recorded_{other.recorded_} { node_->core.retain(); }
  phase& operator=(phase const& other) noexcept {
    other.node_->core.retain();
    std::exchange(node_, other.node_)->core.release();
    recorded_ = other.recorded_;
    return *this;
  }
  ~phase() { node_->core.release(); }

  /// Whether two handles stand for the same phase under the same conditions.
  [[nodiscard]] friend bool operator==(phase const& a, phase const& b) noexcept { return a.node_ == b.node_; }
  [[nodiscard]] friend bool operator!=(phase const& a, phase const& b) noexcept { return !(a == b); }

  [[nodiscard]] std::string_view name() const noexcept { return node_->entry.label.text(); }
  /// The name of the domain that its ranges are in; empty for NVTX's own default one, and where marking is compiled out.
  [[nodiscard]] std::string_view domain() const noexcept { return node_->entry.domain; }

  /// Opens the phase until the end of the enclosing scope: NVTX push, host stamp, start event on the stream.
  /// Requires: the stream lives until the scope ends.
  /// Sync: none.
  [[nodiscard]] scope enter(stream_ref stream) const noexcept { return {node_, recorded_, &stream}; }
  /// Opens the phase without a stream: the host alone is measured.
  [[nodiscard]] scope enter(host_only_tag) const noexcept { return {node_, recorded_, nullptr}; }

  /// As above, under conditions that are known on entering. Nothing is allocated when they were seen before.
  /// Example: `auto scope = gemm.enter(stream, {{"rows", rows}});`
  [[nodiscard]] scope enter(stream_ref stream, std::initializer_list<given_condition> under) const {
    return {refined(under), recorded_, &stream};
  }
  [[nodiscard]] scope enter(host_only_tag, std::initializer_list<given_condition> under) const {
    return {refined(under), recorded_, nullptr};
  }

  /// As above, with the work that an execution under those conditions does. The first declaration of a series holds.
  /// Example: `auto scope = gemm.enter(stream, {{"rows", rows}}, sg::work{}.flops(2.0 * rows * n * k));`
  [[nodiscard]] scope enter(stream_ref stream, std::initializer_list<given_condition> under, work const& does) const {
    return {declared(refined(under), does), recorded_, &stream};
  }

  /// As above, behind a gate, so that its device time holds no launch gap: include `gate.hpp`, which has the body.
  /// Requires: the gate outlives the scope.
  /// Example: `sg::gate gate; { auto scope = step.enter(stream, gate); launch(stream); }`
  template <class Gate>
  [[nodiscard]] auto enter(stream_ref stream, Gate& gate) const noexcept -> decltype(enter_gated(*this, stream, gate)) {
    return enter_gated(*this, stream, gate);
  }

  /// Starts the phase: it may move and end on another thread. NVTX start, host stamp, start event on the stream.
  /// Requires: the stream lives until the phase is stopped.
  /// Sync: none.
  [[nodiscard]] started_phase start(stream_ref stream) const noexcept { return {node_, &stream}; }
  [[nodiscard]] started_phase start(host_only_tag) const noexcept { return {node_, nullptr}; }

  /// The series that it stands for: what spans and replays build on.
  [[nodiscard]] series_node& node() const noexcept { return *node_; }

  /// The same phase under further conditions.
  [[nodiscard]] phase with(std::initializer_list<given_condition> under) const {
    return phase{node_->core.refine(*node_, under)};
  }
  /// The same with the work that an execution under all of its conditions does.
  /// Why: work declared under other conditions says nothing of these, so it is never handed on.
  [[nodiscard]] phase with(std::initializer_list<given_condition> under, work const& does) const {
    return phase{*declared(&node_->core.refine(*node_, under), does)};
  }

 private:
  struct settings {
    range_calls const* calls;
    std::optional<std::size_t> warm;
    conditions under;
    graph_calls const* in_graph;
    work_kind kind;
    work const* does;  // lives as long as the constructor runs
  };
  static void apply(settings& into, warmup warm) noexcept { into.warm = warm.samples; }
  static void apply(settings& into, conditions const& under) { into.under = under; }
  static void apply(settings& into, graph_choice chosen) noexcept { into.in_graph = chosen.calls; }
  static void apply(settings& into, work_kind kind) noexcept { into.kind = kind; }
  static void apply(settings& into, work const& does) noexcept { into.does = &does; }
  template <class Other>
  static void apply(settings&, Other const&) {
    static_assert(!std::is_same_v<Other, Other>,
                  "a phase takes sg::warmup{n}, sg::conditions{...}, sg::in_domain<D>, sg::in_graphs, an sg::work_kind and "
                  "sg::work{}, and nothing else");
  }
  template <class Domain, class Unit>
  static void apply(settings& into, domain_choice<Domain, Unit>) noexcept {
    into.calls = &range_calls_in<Domain>();
  }

  static void declare(series_node& node, work const& does) {
    if (node.recorded != mode::time || node.declare(does.declared())) return;
    node.core.problems().note(trouble::other_work, node.name());
  }
  [[nodiscard]] series_node* declared(series_node* node, work const& does) const {
    declare(*node, does);
    return node;
  }

  explicit phase(series_node& node) noexcept : node_{&node}, recorded_{node.recorded} { node_->core.retain(); }

  [[nodiscard]] series_node* refined(std::initializer_list<given_condition> under) const {
    // Where ranges alone are made, conditions matter for the count of warm-up.
    bool const counts = recorded_ == mode::time || (recorded_ == mode::mark && node_->entry.warmup != 0);
    return counts ? &node_->core.refine(*node_, under) : node_;
  }

  series_node* node_;
  mode recorded_;  // beside the pointer: a recorder that is off costs no look behind it
};

}  // namespace streamgauge

#endif
