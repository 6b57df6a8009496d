#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/gate_words.hpp>

namespace streamgauge {

/// A stream that a gate holds back until `open`, or until the end of the scope.
/// Requires: the gate outlives it.
/// Sync: none.
/// Threads: one at a time; it may be opened on another thread than the gate was closed on.
class held {
 public:
  held(held&& other) noexcept { *this = std::move(other); }
  held& operator=(held&& other) noexcept {
    if (this == &other) return *this;
    open();
    word_ = std::exchange(other.word_, nullptr);
    tally_ = other.tally_;
    name_ = other.name_;
    what_ = other.what_;
    return *this;
  }
  held(held const&) = delete;
  held& operator=(held const&) = delete;
  ~held() { open(); }

  /// Lets the device begin, and says what became of the hold: `gated`, `timed_out`, or why there was none. A second time it
  /// does nothing and says the same.
  gating open() noexcept {
    gate_word* const word = std::exchange(word_, nullptr);
    if (!word) return what_;
    // A forked child shares the word with its parent, whose gate this is.
    if (fork_generation.load(std::memory_order_relaxed) != 0) return what_ = gating::forked;
    if (what_ == gating::already_held) {
      if (word->state(name_) == word_state::let_go) what_ = gating::timed_out;
    } else {
      if (word->open(name_) == word_state::let_go) what_ = gating::timed_out;
      word->give_back();
    }
    tally_->add(what_);
    return what_;
  }

  /// Whether it is still to be opened, by this object and no other.
  [[nodiscard]] bool holds() const noexcept { return word_ && what_ == gating::gated; }
  /// Whether somebody else was found to hold the stream.
  [[nodiscard]] bool is_inside() const noexcept { return word_ && what_ == gating::already_held; }

 private:
  friend class gate;
  friend class gated_scope;
  explicit held(gating why_not) noexcept : what_{why_not} {}
  held(gate_word& word, hold_name name, gating role, gating_tally& tally) noexcept
      : word_{&word}, tally_{&tally}, name_{name}, what_{role} {}

  gate_word* word_ = nullptr;  // null: opened, or never held
  gating_tally* tally_ = nullptr;
  hold_name name_;
  gating what_ = gating::not_timed;
};

}  // namespace streamgauge

#endif
