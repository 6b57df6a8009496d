#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/sample_archive.hpp>

namespace streamgauge {

/// All samples of a lane: the newest in blocks as they were entered, the older ones by series, in bounded memory.
/// Why: what is being measured stays where it is, since events and open phases point at it; what is finished moves once.
/// Threads: as its lane.
class kept_samples {
 public:
  explicit kept_samples(std::size_t room) noexcept
      : newest_{room}, most_{blocks_at_least + room / sample_store::block_size}, archive_at_{most_} {}

  /// Room for a sample; null without memory. While phases are open, what takes long waits a while.
  [[nodiscard]] stored_sample* add(std::size_t early, std::size_t open_phases) noexcept {
    if (newest_.full_blocks() >= archive_at_) archive_oldest(open_phases);
    return newest_.add(early);
  }
  [[nodiscard]] bool has_room() noexcept { return newest_.has_room(); }

  [[nodiscard]] sample_store const& newest() const noexcept { return newest_; }
  [[nodiscard]] sample_archive const& older() const noexcept { return older_; }

  unsigned int readers = 0;  ///< who collect just now: meanwhile samples stay where they are

 private:
  static constexpr std::size_t blocks_at_least = 16;

  [[gnu::noinline, gnu::cold]] void archive_oldest(std::size_t open_phases) noexcept {
    // A phase that never ends puts it off by a few blocks, not for ever.
    if (readers > 0 || (open_phases > 0 && newest_.full_blocks() < archive_at_ + blocks_at_least)) return;
    sample_store::block* const oldest = newest_.take_finished();
    bool const taken = oldest && older_.take(*oldest);
    if (oldest) taken ? newest_.recycle(*oldest) : newest_.put_back(*oldest);
    // What is not finished, or had no memory, is looked at again when the next block is full.
    archive_at_ = taken ? most_ : newest_.full_blocks() + 1;
  }

  sample_store newest_;
  sample_archive older_;
  std::size_t most_;
  std::size_t archive_at_;
};

}  // namespace streamgauge

#endif
