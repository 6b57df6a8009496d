#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/mark/tool.hpp>
#include <streamgauge/measure/gate_watch.hpp>
#include <streamgauge/measure/held.hpp>
#include <streamgauge/measure/phase.hpp>

namespace streamgauge {

/// Holds a stream back until the host has queued everything, so that a device time holds no launch gap.
/// Why: on an idle stream the device outruns the host, and the time between two events is that of the launches: ten empty
/// kernels in a row take an H200 15 us, and 41 us while the host is still submitting. The stream waits for a word in the
/// host's memory before the start event, and the host moves the word on behind the stop event.
/// What waits for the device behind a closed gate would wait for ever: a synchronise in the body, the first launch of a
/// kernel (which is loaded then), the launch behind some 1,020 others. So a hold is let go by a time limit, from a thread of
/// our own (`gate_watch`), and the sample's device time is dropped as `absence::gate_timeout`. After the third time the phase
/// goes on without a gate for good, and a problem of the recording says so: first launches come once or twice, while a
/// body that synchronises would cost the limit each time.
/// A gate leaves the stream alone, and counts why, in a warm-up execution, under a tool or an open capture (which may run
/// one thing at a time), in a stream capture, in a forked child, where CUDA cannot do it, and on the legacy stream: held,
/// that one would hold back every blocking stream of the context, whoever works on it.
/// Units: a phase that is entered around a gated one holds the hold in its device time; one inside does not.
/// Requires: it outlives what it holds. What the body waits for, on whatever stream, is not behind the gate; streams that
/// share a connection to the device (CUDA_DEVICE_MAX_CONNECTIONS) are held with one another. Where the C library is older
/// than glibc 2.34, the program is linked with -pthread.
/// Throws: nothing. Sync: none. The first hold in a context registers a page of memory, which may wait for the device.
/// Capture: allowed; a stream that is being captured is left alone.
/// Threads: any.
/// Example: `sg::gate gate; { auto scope = step.enter(stream, gate); launch(stream); }`
class gate {
 public:
  /// How often a phase's gates may be let go by the time limit before it goes on without.
  static constexpr std::uint32_t most_timeouts = 3;

  /// `limit`: real time from closing to letting go.
  template <class Unit = default_domain>  // the default domain's type tells how the unit marks
  explicit gate(nanoseconds limit = std::chrono::milliseconds{50}) noexcept
      : limit_{limit}, marks_{&range_calls_in<Unit>()} {}
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  /// Lets go what it still holds: a program may leave by exit() from within.
  ~gate() {
    // In a forked child there is no watch, and what is held is the parent's.
    if (!watched_.load(std::memory_order_acquire) || fork_generation.load(std::memory_order_relaxed) != 0) return;
    let_go_holds([this](void const* holder, release_time) noexcept { return holder == this; });
    leave_gate_watch();
  }

  /// Holds the stream from here on, for work that is no phase. What is queued already is not held.
  /// Requires: the stream lives until it is opened.
  /// Sync: none.
  /// Example: `auto held = gate.hold(stream); launch(stream); held.open();`
  [[nodiscard]] held hold(stream_ref stream) noexcept {
    if (gating const why = why_not(stream); why != gating::gated) return leave(why);
    driver_answer const cuda = driver();
    if (!cuda.api) return leave(gating_of(cuda.why));
    context_answer const found = context_of(*cuda.api, stream);
    int status = found.status;
    if (status == cudaSuccess) status = may_record(*cuda.api, stream, found.key);
    if (status != cudaSuccess) return leave(gating_of(absence_of(status)));
    return close(*cuda.api, stream, found.key);
  }

  /// Makes the stream look at the gate once more, here: what is queued next begins apart from what is queued now.
  /// Why: intervals that wait in a row behind one gate read more than one alone, around an empty kernel 3.4 us in place of
  /// 2.8 (H200): the device's front end is ahead of itself. Of all that was tried between them (records, memsets, kernels)
  /// only a wait parts them, and one that is over by then costs nothing.
  /// Requires: `hold` is a hold of that stream, not yet opened. Sync: none.
  void part(held const& hold, stream_ref stream) noexcept {
    wait_value_api const* const values = hold.holds() ? wait_value_functions() : nullptr;
    constexpr unsigned int at_least = 0;  // CU_STREAM_WAIT_VALUE_GEQ
    if (values) static_cast<void>(values->wait(stream.handle(), hold.word_->on_device(), gate_word::opened(hold.name_), at_least));
  }

  /// What became of the hold that ended last, or why the last one was left out; absent before the first.
  [[nodiscard]] std::optional<gating> last() const noexcept { return tally_.last(); }
  /// How many holds ended so, or were left out for that reason.
  [[nodiscard]] std::uint64_t count(gating what) const noexcept { return tally_.count(what); }

 private:
  friend class gated_scope;

  [[nodiscard]] held leave(gating why) noexcept {
    tally_.add(why);
    return held{why};
  }
  // The same for every later hold in that context: what failed once would cost its time again.
  [[nodiscard]] held leave_for_good(gating why, context_key context) noexcept {
    refused_as_.store(why, std::memory_order_relaxed);
    refused_in_.store(context.id, std::memory_order_release);
    return leave(why);
  }

  /// What forbids a hold before CUDA is asked; `gated` when nothing does.
  [[nodiscard]] gating why_not(stream_ref stream) noexcept {
    if (fork_generation.load(std::memory_order_relaxed) != 0) return gating::forked;
    if (stream.is_legacy()) return gating::legacy_stream;
    if (capture_is_open()) return gating::capture_open;
    return tool_is_attached() ? gating::tool_attached : gating::gated;
  }

  // Asked once: tools attach when a process starts. Only one that takes ranges answers with a handle.
  [[nodiscard]] bool tool_is_attached() noexcept {
    auto seen = tool_.load(std::memory_order_relaxed);
    if (seen == tool_answer::not_asked) {
      bool const takes_names = marks_->register_name("streamgauge gate") != nullptr;
      tool_signs const signs = tool_signs_with(takes_names ? nvtx_answer::handle : nvtx_answer::nothing);
      seen = tool_of(signs).known() ? tool_answer::attached : tool_answer::none;
      tool_.store(seen, std::memory_order_relaxed);
    }
    return seen == tool_answer::attached;
  }

  /// Closes the gate on a stream on which something may be recorded.
  [[nodiscard]] held close(driver_api const& cuda, stream_ref stream, context_key context) noexcept {
    if (refused_in_.load(std::memory_order_acquire) == context.id)
      return leave(refused_as_.load(std::memory_order_relaxed));
    wait_value_api const* const values = wait_value_functions();
    if (!values) return leave_for_good(gating::not_supported, context);
    int status = cudaSuccess;
    gate_page* const page = gate_page_of(cuda, *values, context, status);
    if (!page) return leave_for_good(gating_of_failed(status), context);
    // Inside a hold of the same stream everything is held already; a second wait there would stand in the outer interval.
    for (gate_word& each : *page)
      if (auto const name = each.holds(stream)) return held{each, *name, gating::already_held, tally_};
    gate_word* const word = is_watched() ? page->take() : nullptr;
    if (!word) return leave(gating::no_room);
    release_time const until = release_after(limit_);
    hold_name const name = word->close(stream, this, until);
    tell_gate_watch(until);
    status = wait_for_value(cuda, *values, stream, word->on_device(), gate_word::opened(name), context);
    if (status == cudaSuccess) return held{*word, name, gating::gated, tally_};
    static_cast<void>(word->open(name));
    word->give_back();
    gating const why = gating_of_failed(status);
    return why == gating::not_supported ? leave_for_good(why, context) : leave(why);
  }
  [[nodiscard]] static gating gating_of_failed(int status) noexcept {
    return status == cudaErrorNotSupported ? gating::not_supported : gating_of(absence_of(status));
  }

  [[nodiscard]] bool is_watched() noexcept {
    if (watched_.load(std::memory_order_acquire)) return true;
    if (!join_gate_watch()) return false;
    if (watched_.exchange(true, std::memory_order_acq_rel)) leave_gate_watch();  // another thread was as quick
    return true;
  }

  enum class tool_answer : std::uint8_t { not_asked, none, attached };

  nanoseconds const limit_;
  range_calls const* const marks_;
  gating_tally tally_;
  std::atomic<bool> watched_{false};
  std::atomic<tool_answer> tool_{tool_answer::not_asked};
  std::atomic<unsigned long long> refused_in_{0};  // a context's id, none of which is 0
  std::atomic<gating> refused_as_{gating::gated};
};

/// A phase that is open behind a gate until the end of the scope that it was entered in: what `phase::enter` gives with a
/// gate. On the stream stand the wait, the start event, the body, the stop event; then the host opens the gate.
/// Units: the host's `submit` holds the call that closes the gate (1.1 us on an H200), and what a time limit took.
/// Sync: none, unless `wait` is called.
class [[nodiscard]] gated_scope {
 public:
  gated_scope(gated_scope const&) = delete;
  gated_scope& operator=(gated_scope const&) = delete;
  static void* operator new(std::size_t) = delete;
  ~gated_scope() {
    if (!range_.is_open()) return;
    close();
    range_.close();
  }

  /// Ends the measured part, opens the gate, and waits; as `scope::wait`.
  /// Sync: waits for the phase's own stop event; no other stream, no device.
  void wait(wait_policy policy) noexcept {
    if (!now_.open()) return;
    bool const waits = policy != wait_policy::none && now_.has_interval() && !now_.slot()->in_graph;
    if (now_.unwinding() || policy == wait_policy::none) return close();
    if (!waits) return now_.end_and_wait(policy);
    int const status = now_.record_stop();
    // Inside another hold this wait may be what that one is let go for, so it comes before the question whether it was.
    if (gate_.is_inside() && status == cudaSuccess) static_cast<void>(wait_for(*driver().api, *now_.slot(), nullptr));
    now_.wait_behind_stop(policy, open_gate(status));
  }

 private:
  friend gated_scope enter_gated(phase const& of, stream_ref stream, gate& behind) noexcept;
  gated_scope(series_node& node, stream_ref stream, gate& behind) noexcept : node_{node} {
    if (node.recorded != mode::off) {
      about_to_begin(node, &stream);
      range_.open(node);
      if (node.recorded == mode::time) now_.prepare(node, &stream, lifetime::scoped, range_.begun_in(), nullptr);
    }
    gate_ = now_.open() ? closed(stream, behind) : behind.leave(gating::not_timed);
    if (now_.open()) now_.record_start();
  }

  [[nodiscard]] held closed(stream_ref stream, gate& behind) noexcept {
    timed_slot const* const slot = now_.slot();
    if (!slot) return behind.leave(gating_of(now_.where()->device.why_absent()));
    if (slot->in_graph) return behind.leave(gating::stream_capture);
    if (range_.begun_in() != stage::steady) return behind.leave(gating::warmup);
    gating why = behind.why_not(stream);
    if (node_.entry.label.was_taken()) why = gating::tool_attached;
    if (node_.entry.let_go.load(std::memory_order_relaxed) >= gate::most_timeouts) why = gating::given_up;
    return why == gating::gated ? behind.close(*driver().api, stream, slot->pool->context()) : behind.leave(why);
  }

  void close() noexcept {
    if (!now_.open()) return;
    if (now_.unwinding()) {
      static_cast<void>(open_gate(cudaSuccess));
      return now_.give_up();
    }
    if (!now_.has_interval()) return now_.end();
    int const status = open_gate(now_.record_stop());
    now_.end(status, now_.since_origin());
  }

  // What the stop was answered, or that it came too late for the gate.
  [[nodiscard]] int open_gate(int status) noexcept {
    bool const own = gate_.holds();
    if (gate_.open() != gating::timed_out) return status;
    if (own) {
      node_.entry.let_go.fetch_add(1, std::memory_order_relaxed);
      node_.core.problems().note(trouble::gate_timeout, node_.name());
    }
    return status == cudaSuccess ? execution::gate_let_go : status;
  }

  series_node& node_;
  phase_range range_;
  execution now_;
  held gate_{gating::not_timed};  // last: it is opened before the rest goes
};

/// Enters a phase behind a gate: the body of `phase::enter` with a gate.
[[nodiscard]] inline gated_scope enter_gated(phase const& of, stream_ref stream, gate& behind) noexcept {
  return {of.node(), stream, behind};
}

}  // namespace streamgauge

#endif
