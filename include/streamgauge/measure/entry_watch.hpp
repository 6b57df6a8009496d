#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <string_view>

#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/lock.hpp>
#include <streamgauge/measure/series_node.hpp>

namespace streamgauge {

/// Wants to be told before each execution of a phase begins: what a capture window is to a recorder.
/// Shape: shared, so that it may end while a thread is being told.
/// Threads: any.
class entry_watch {
 public:
  explicit entry_watch(std::optional<std::string> phase) noexcept
      : is_told_{phase.has_value()}, phase_{std::move(phase).value_or(std::string{})} {}
  entry_watch(entry_watch const&) = delete;
  entry_watch& operator=(entry_watch const&) = delete;

  /// An execution of the phase is about to begin on this thread, in that stage.
  virtual void entering(stream_ref const* stream, stage next) noexcept = 0;
  /// What is to stand in the recording's problems, given the names of all phases; empty when all is well.
  [[nodiscard]] virtual std::string complaint(std::string const& phases) const = 0;
  /// The program leaves by exit().
  virtual void leaving() noexcept = 0;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// The phase's name; empty where it is told of none.
  [[nodiscard]] std::string const& phase() const noexcept { return phase_; }

  entry_watch* next_open = nullptr;  ///< among the windows that are open in the process

 protected:
  virtual ~entry_watch() = default;

 private:
  friend class entry_watches;
  bool const is_told_;
  std::string const phase_;
  std::atomic<std::uint64_t> references_{1};
  std::uint64_t number_ = 0;
  entry_watch* next_ = nullptr;
};

/// The watches of a recorder, in the order in which they were made.
/// Threads: the owner's lock is held around every call.
class entry_watches {
 public:
  entry_watches() = default;
  entry_watches(entry_watches const&) = delete;
  entry_watches& operator=(entry_watches const&) = delete;
  ~entry_watches() {
    while (entry_watch* const gone = first_) {
      first_ = gone->next_;
      gone->release();
    }
  }

  void add(entry_watch& fresh) noexcept {
    fresh.retain();
    fresh.number_ = ++made_;
    entry_watch** at = &first_;
    while (*at) at = &(*at)->next_;
    *at = &fresh;
  }
  /// Whether it was there; its reference is then the caller's.
  [[nodiscard]] bool remove(entry_watch const& gone) noexcept {
    entry_watch** at = &first_;
    while (*at && *at != &gone) at = &(*at)->next_;
    if (!*at) return false;
    *at = gone.next_;
    return true;
  }
  [[nodiscard]] bool name(std::string_view phase) const noexcept { return after(0, phase) != nullptr; }

  /// The first one behind that number that watches the phase; retained.
  [[nodiscard]] entry_watch* next(std::uint64_t& number, std::string_view phase) const noexcept {
    return hand_out(after(number, phase), number);
  }
  /// The first one behind that number, whatever it watches; retained.
  [[nodiscard]] entry_watch* next(std::uint64_t& number) const noexcept {
    entry_watch* each = first_;
    while (each && each->number_ <= number) each = each->next_;
    return hand_out(each, number);
  }

 private:
  [[nodiscard]] entry_watch* after(std::uint64_t number, std::string_view phase) const noexcept {
    entry_watch* each = first_;
    while (each && (each->number_ <= number || !each->is_told_ || each->phase_ != phase)) each = each->next_;
    return each;
  }
  [[nodiscard]] static entry_watch* hand_out(entry_watch* found, std::uint64_t& number) noexcept {
    if (!found) return nullptr;
    found->retain();
    number = found->number_;
    return found;
  }

  entry_watch* first_ = nullptr;
  std::uint64_t made_ = 0;
};

}  // namespace streamgauge

#endif
