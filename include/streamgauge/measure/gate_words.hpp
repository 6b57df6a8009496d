#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <limits>
#include <new>
#include <sys/mman.h>

#include <streamgauge/measure/gating.hpp>
#include <streamgauge/measure/thread_id.hpp>
#include <streamgauge/measure/wait_value.hpp>

namespace streamgauge {

/// When a hold is let go, on the system's monotonic clock, in nanoseconds.
using release_time = std::int64_t;
inline constexpr release_time never_released = (std::numeric_limits<release_time>::max)();

/// One hold of a word, among all that the word was ever closed for.
struct hold_name {
  std::uint32_t before = 0;    ///< what the word says while it is closed
  std::uint32_t attempts = 0;  ///< to let a hold of this word go, that were over before
};

/// How a word stands to a hold that it was closed for.
enum class word_state : std::uint8_t { closed, opened, let_go };

/// A word that a stream waits on, and what the host keeps beside it: one hold at a time.
/// Why: the word itself is the referee. It is moved on by one compare-and-swap, to an even number by the host or to the
/// odd one behind it by the watch, so exactly one of the two opens a hold, there is no moment between deciding and opening,
/// and what the watch let go can never pass for opened. The stream waits for "at least the even number", so either is
/// enough; both are moved on from by the next hold.
/// A word is used again as soon as it was opened, for whatever stream, whether or not the device has come to the wait: the
/// numbers only grow, so a wait that was satisfied once stays so, for the next 2^30 holds.
/// Threads: `close` and `open` by its holder, `let_go` by any.
class gate_word {
 public:
  /// Takes it for a hold; false when it is in use.
  [[nodiscard]] bool take() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_back() noexcept {
    until_.store(never_released, std::memory_order_relaxed);
    holder_.store(nullptr, std::memory_order_relaxed);
    taken_.store(false, std::memory_order_release);
  }

  /// Closes it until then, on behalf of `holder`. The device is to wait for `opened(name)`. Requires: taken.
  [[nodiscard]] hold_name close(stream_ref stream, void const* holder, release_time until) noexcept {
    std::uint32_t const before = on_host_->load(std::memory_order_relaxed);
    stream_.store(stream.handle(), std::memory_order_relaxed);
    thread_.store(stream.is_per_thread() ? this_thread_id() : 0, std::memory_order_relaxed);
    holder_.store(holder, std::memory_order_relaxed);
    until_.store(until, std::memory_order_relaxed);
    // Last, and in one order with the watch's own flag: whoever reads the name reads what belongs to it, or newer.
    before_.store(before, std::memory_order_seq_cst);
    return {before, attempts_over_.load(std::memory_order_acquire)};
  }
  [[nodiscard]] static constexpr std::uint32_t opened(hold_name name) noexcept { return (name.before + 2) & ~1U; }

  /// Opens that hold, unless the watch did.
  [[nodiscard]] word_state open(hold_name name) noexcept {
    return move_on(name.before, opened(name)) ? word_state::opened : word_state::let_go;
  }
  /// Lets go whatever hold it is closed for, if `wanted` says so of its holder and its time.
  template <class Wanted>
  void let_go(Wanted wanted) noexcept {
    std::uint32_t const before = before_.load(std::memory_order_seq_cst);
    if (!wanted(holder_.load(std::memory_order_relaxed), until_.load(std::memory_order_relaxed))) return;
    attempts_.fetch_add(1, std::memory_order_relaxed);
    static_cast<void>(move_on(before, opened({before}) + 1));  // another hold meanwhile has another name
    attempts_over_.fetch_add(1, std::memory_order_release);
  }

  /// How it stands to that hold, seen by somebody else, who may come when it was closed again: then it was opened if nobody
  /// tried to let anything go since, or was at it.
  [[nodiscard]] word_state state(hold_name name) const noexcept {
    std::uint32_t const now = on_host_->load(std::memory_order_acquire);
    if (now == name.before) return word_state::closed;
    bool const tried = attempts_.load(std::memory_order_relaxed) != name.attempts;
    return now == opened(name) || !tried ? word_state::opened : word_state::let_go;
  }
  /// The hold that it is closed for on this stream, if it is.
  [[nodiscard]] std::optional<hold_name> holds(stream_ref stream) const noexcept {
    hold_name const name{before_.load(std::memory_order_seq_cst), attempts_over_.load(std::memory_order_acquire)};
    if (until_.load(std::memory_order_relaxed) == never_released) return std::nullopt;
    if (stream_.load(std::memory_order_relaxed) != stream.handle() || state(name) != word_state::closed)
      return std::nullopt;
    // A per-thread stream is another one on each thread, of one handle.
    if (stream.is_per_thread() && thread_.load(std::memory_order_relaxed) != this_thread_id()) return std::nullopt;
    return name;
  }
  [[nodiscard]] unsigned long long on_device() const noexcept { return on_device_; }

 private:
  friend class gate_page;
  bool move_on(std::uint32_t from, std::uint32_t to) noexcept {
    return on_host_->compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

  std::atomic<std::uint32_t>* on_host_ = nullptr;
  unsigned long long on_device_ = 0;
  std::atomic<bool> taken_{false};
  std::atomic<std::uint32_t> before_{0};
  std::atomic<std::uint32_t> attempts_{0};
  std::atomic<std::uint32_t> attempts_over_{0};
  std::atomic<release_time> until_{never_released};
  std::atomic<void const*> holder_{nullptr};
  std::atomic<cudaStream_t> stream_{nullptr};
  std::atomic<std::uint64_t> thread_{0};
};

/// The words of one life of one context: a page of the host's memory that its device can read.
/// Why: the page is ours and registered with CUDA, since memory that CUDA gave vanishes with the context, and the watch may
/// write at any time, also after a device reset or while the process ends. For the same reason a page is never unmapped,
/// and never unregistered: a device may still have to read it, and the end of the context does that. It is shared memory,
/// so that a fork leaves the parent's page where the device knows it.
/// Threads: any.
class gate_page {
 public:
  static constexpr std::size_t size = 4096;
  static constexpr std::size_t apart = 64;  // a word to a cache line
  static constexpr std::size_t count = size / apart;

  /// Makes one in the context; null with CUDA's status, or with `cudaErrorMemoryAllocation`.
  /// Sync: CUDA may wait for the device when memory is registered. Capture: allowed.
  [[nodiscard]] static gate_page* make(driver_api const& cuda, wait_value_api const& values, context_key context,
                                       int& status) noexcept {
    relaxed_capture_mode const relaxed{cuda};
    context_scope const current{cuda, context.handle};
    status = relaxed.status() == cudaSuccess ? current.status() : relaxed.status();
    if (status != cudaSuccess) return nullptr;
    status = cudaErrorMemoryAllocation;
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* const page = new (std::nothrow) gate_page{context};
    constexpr unsigned int mapped = 2;  // CU_MEMHOSTREGISTER_DEVICEMAP
    if (page) status = values.host_register(memory, size, mapped);
    unsigned long long device = 0;
    bool const registered = status == cudaSuccess;
    if (registered) status = values.device_pointer(&device, memory, 0);
    if (status != cudaSuccess) {
      delete page;
      if (!registered) munmap(memory, size);
      return nullptr;
    }
    for (std::size_t i = 0; i < count; ++i) {
      page->words_[i].on_host_ = new (static_cast<char*>(memory) + i * apart) std::atomic<std::uint32_t>{0};
      page->words_[i].on_device_ = device + i * apart;
    }
    return page;
  }

  [[nodiscard]] context_key context() const noexcept { return context_; }
  /// Those that were ever taken: a walk over the rest is spared.
  [[nodiscard]] gate_word* begin() noexcept { return words_; }
  [[nodiscard]] gate_word* end() noexcept { return words_ + reach_.load(std::memory_order_seq_cst); }

  /// A word for a hold; null when all are in use.
  [[nodiscard]] gate_word* take() noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (!words_[i].take()) continue;
      std::size_t reach = reach_.load(std::memory_order_relaxed);
      while (reach <= i && !reach_.compare_exchange_weak(reach, i + 1, std::memory_order_seq_cst)) {
      }
      return &words_[i];
    }
    return nullptr;
  }

  gate_page* next = nullptr;  ///< set before others see it

 private:
  explicit gate_page(context_key context) noexcept : context_{context} {}

  context_key const context_;
  std::atomic<std::size_t> reach_{0};
  gate_word words_[count];
};

/// All pages of the process, the newest first. They are only ever added, in front, so a walk needs no lock.
[[gnu::visibility("default")]] inline std::atomic<gate_page*> gate_pages{nullptr};

/// The page of a context, made at the first asking; null with CUDA's status. Two threads that ask first at the same time
/// may make one each; the older one then stays unused.
[[nodiscard]] inline gate_page* gate_page_of(driver_api const& cuda, wait_value_api const& values, context_key context,
                                             int& status) noexcept {
  for (gate_page* each = gate_pages.load(std::memory_order_acquire); each; each = each->next)
    if (each->context() == context) return each;
  gate_page* const fresh = gate_page::make(cuda, values, context, status);
  if (!fresh) return nullptr;
  fresh->next = gate_pages.load(std::memory_order_relaxed);
  while (!gate_pages.compare_exchange_weak(fresh->next, fresh, std::memory_order_seq_cst)) {
  }
  return fresh;
}

/// Lets go the closed holds of which `wanted` says so, by their holder and time.
template <class Wanted>
void let_go_holds(Wanted wanted) noexcept {
  for (gate_page* page = gate_pages.load(std::memory_order_seq_cst); page; page = page->next)
    for (gate_word& each : *page) each.let_go(wanted);
}

}  // namespace streamgauge

#endif
