#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <atomic>

#include <streamgauge/mark/name_color.hpp>
#include <streamgauge/mark/range.hpp>
#include <streamgauge/measure/conditions.hpp>
#include <streamgauge/measure/work.hpp>

namespace streamgauge {

class recorder_core;
struct series_node;
struct graph_calls;

/// What an execution is by the fixed count of warm-up.
enum class stage : std::uint8_t {
  steady,
  counted,  ///< warm-up: one of as many first executions as its phase was told
  covered,  ///< warm-up: entered inside an execution that is, on the same thread, or a branch of a span that is
};

/// A phase's name with its range and its warm-up count, once for all of its conditions.
struct phase_entry {
  range_label label;
  range_label warmup_label;  ///< what its range is called while it warms up
  std::string const domain;  ///< a copy, since who made the phase may be unloaded; empty: NVTX's own default domain
  bool const marks;          ///< whether the unit that made it has ranges
  std::atomic<std::string const*> refused_domain{nullptr};  ///< one that a later handle asked for in vain, noted once
  std::size_t warmup = 0;
  std::atomic<bool> on_legacy_stream{false};             ///< noted once
  std::atomic<graph_calls const*> in_graph{nullptr};     ///< declared for graphs: what it does inside a stream capture
  std::atomic<series_node*> series{nullptr};             ///< its own, the newest first: the one that is looked for most
  std::atomic<phase_entry const*> launched_by{nullptr};  ///< around the launch of its graph, the latest that is known
  std::atomic<work_kind> kind{work_kind::undeclared};    ///< the first declaration holds
  std::atomic<bool> watched{false};                      ///< a capture window counts its executions
  std::atomic<std::uint32_t> let_go{0};                  ///< executions whose gate was opened by its time limit
  phase_entry* next = nullptr;

  phase_entry(std::string const& name, range_calls const& calls, std::size_t warm)
      : label{name, opaque_hue_of(name), calls},
        warmup_label{std::string{warmup_prefix}.append(name), opaque_hue_of(name), calls},
        domain{calls.domain ? calls.domain() : ""},
        marks{calls.domain != nullptr},
        warmup{warm} {}
  phase_entry(phase_entry const&) = delete;
  phase_entry& operator=(phase_entry const&) = delete;
  ~phase_entry() { delete refused_domain.load(std::memory_order_relaxed); }

  /// Whether an execution of it was begun, as far as that was marked.
  [[nodiscard]] bool was_entered() const noexcept { return label.was_sent() || warmup_label.was_sent(); }

  void note_domain(range_calls const& asked) {
    if (!marks || !asked.domain || domain == asked.domain() || refused_domain.load(std::memory_order_relaxed)) return;
    auto const* const refused = new std::string{asked.domain()};
    std::string const* none = nullptr;
    if (!refused_domain.compare_exchange_strong(none, refused, std::memory_order_acq_rel)) delete refused;
  }
};

/// A phase under one set of conditions: what a handle points at. It stays where it is as long as its recorder.
struct series_node {
  series_node(recorder_core& in, phase_entry& of, conditions const& given, mode does)
      : core{in}, entry{of}, under{given}, recorded{does} {}
  series_node(series_node const&) = delete;
  series_node& operator=(series_node const&) = delete;
  ~series_node() { delete work.load(std::memory_order_relaxed); }

  recorder_core& core;
  phase_entry& entry;
  conditions under;
  std::uint32_t index = 0;
  mode recorded;
  std::atomic<std::uint64_t> lost{0};  ///< samples that there was no memory for
  std::atomic<std::uint64_t> numbered{0};  ///< executions whose range a tool was given, with its number as the payload
  std::atomic<std::size_t> warmed{0};  ///< executions that were begun, up to the warm-up count and hardly further
  std::atomic<declared_work const*> work{nullptr};  ///< what one execution does: the first declaration holds
  series_node* older_of_phase = nullptr;
  std::atomic<series_node*> next{nullptr};  ///< in the order in which they were made

  [[nodiscard]] char const* name() const noexcept { return entry.label.text().c_str(); }

  /// Whether that is what holds now: false where something else was declared before. Allocates at the first time alone.
  [[nodiscard]] bool declare(declared_work const& given) {
    declared_work const* holds = work.load(std::memory_order_acquire);
    if (!holds) {
      auto const* const fresh = new declared_work{given};
      if (work.compare_exchange_strong(holds, fresh, std::memory_order_acq_rel)) return true;
      delete fresh;
    }
    return *holds == given;
  }
};

}  // namespace streamgauge

#endif
