#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <new>

#include <streamgauge/sample.hpp>
#include <streamgauge/measure/profiler_state.hpp>

namespace streamgauge {

/// A sample where it is kept until it is collected: packed, with the series that it belongs to.
struct stored_sample {
  nanoseconds entered{0};
  observation submit{absence::not_asked};
  observation device{absence::not_asked};
  observation completion{absence::not_asked};
  observation begins{absence::not_asked};  ///< of a branch as `sample::begins`, of others a moment of `clock`
  std::uint32_t series = 0;
  std::uint32_t parent = no_series;
  std::uint32_t thread = 0;
  std::uint32_t records_inside = 0;
  std::uint32_t span = 0;
  std::uint16_t stream = 0;  ///< in `stream_numbers`; 0: of none
  std::uint8_t clock = 0;    ///< the number of the clock map that placed it; 0: none did
  span_part part : 2;
  wait_policy waited : 2;
  bool warmup : 1;
  bool watched : 1;

  stored_sample() noexcept : part{span_part::none}, waited{wait_policy::none}, warmup{false}, watched{false} {}

  static constexpr std::uint32_t no_series = 0xffffffff;

  /// Whether everything of it is written that ever will be.
  [[nodiscard]] bool is_finished() const noexcept {
    constexpr observation open{absence::still_open};
    bool const is_placed = part != span_part::branch || span == 0 || begins != observation{absence::not_asked};
    return submit != open && device != open && completion != open && is_placed;
  }

  [[nodiscard]] sample value() const noexcept {
    sample seen;
    seen.entered = entered;
    seen.submit = submit;
    seen.device = device;
    seen.completion = completion;
    if (part == span_part::branch) seen.begins = begins;
    // As the clock's own moment and number; `sample_placer` makes a time of the host's of it.
    if (clock != 0 && part != span_part::branch) seen.queue = begins;
    seen.bound = nanoseconds{clock};
    if (parent != no_series) seen.parent = parent;
    seen.thread = thread;
    seen.records_inside = records_inside;
    seen.span = span;
    seen.stream = stream;
    seen.part = part;
    seen.waited = waited;
    seen.warmup = warmup;
    seen.watched = watched;
    return seen;
  }
};
static_assert(sizeof(stored_sample) <= 64, "a long run keeps a sample in 64 bytes");

/// Samples in the order in which they were entered, in blocks that stay where they are.
/// Why: a long run must not move what it has, and one allocation serves a thousand samples.
/// Threads: one at a time; a lane guards its own.
class sample_store {
 public:
  static constexpr std::size_t block_size = 1000;
  static constexpr std::size_t ahead = 250;  ///< with fewer left than this, the next block may be asked for
  struct block {
    block* next = nullptr;
    std::size_t used = 0;
    stored_sample entries[block_size];
  };

  /// With room for so many from the start; the first block that there is no memory for ends it.
  explicit sample_store(std::size_t room) noexcept {
    for (std::size_t made = 0; made < room + ahead && append(); made += block_size) {
    }
  }
  sample_store(sample_store const&) = delete;
  sample_store& operator=(sample_store const&) = delete;
  ~sample_store() {
    while (block* const gone = first_) {
      first_ = gone->next;
      delete gone;
    }
  }

  /// Room for a sample; null without memory. The next block is asked for when fewer than `early` are left in the last.
  [[nodiscard]] stored_sample* add(std::size_t early) noexcept {
    bool const low = !filling_ || (!filling_->next && filling_->used + early >= block_size);
    if (low) append();
    if (filling_ && filling_->used == block_size && filling_->next) {
      filling_ = filling_->next;
      ++full_;
    }
    if (!filling_ || filling_->used == block_size) return nullptr;
    stored_sample& added = filling_->entries[filling_->used++];
    added.watched = capture_is_open();
    return &added;
  }

  /// Whether the next sample will find room; makes some where there is none.
  [[nodiscard]] bool has_room() noexcept {
    return (filling_ && (filling_->used < block_size || filling_->next)) || append();
  }
  [[nodiscard]] block const* first() const noexcept { return first_; }

  /// How many blocks are full, the one that is being filled left out.
  [[nodiscard]] std::size_t full_blocks() const noexcept { return full_; }

  /// Takes the oldest full block out whose samples are all finished; null where there is none.
  [[nodiscard, gnu::cold]] block* take_finished() noexcept {
    for (block** link = &first_; *link && *link != filling_; link = &(*link)->next) {
      std::size_t finished = 0;
      while (finished < (*link)->used && (*link)->entries[finished].is_finished()) ++finished;
      if (finished < (*link)->used) continue;
      block* const taken = *link;
      *link = taken->next;
      --full_;
      return taken;
    }
    return nullptr;
  }
  /// A block that was taken is to be filled again later: its samples are elsewhere now.
  void recycle(block& taken) noexcept {
    for (stored_sample& each : taken.entries) each = stored_sample{};
    taken.used = 0;
    taken.next = nullptr;
    last_->next = &taken;
    last_ = &taken;
  }
  /// A block that was taken stays after all.
  void put_back(block& taken) noexcept {
    taken.next = first_;
    first_ = &taken;
    ++full_;
  }

 private:
  bool append() noexcept {
    block* const fresh = new (std::nothrow) block;
    if (!fresh) return false;
    if (!first_)
      first_ = filling_ = fresh;
    else
      last_->next = fresh;
    last_ = fresh;
    return true;
  }

  std::size_t full_ = 0;
  block* first_ = nullptr;
  block* filling_ = nullptr;
  block* last_ = nullptr;
};

}  // namespace streamgauge

#endif
