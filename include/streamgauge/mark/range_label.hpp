#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cerrno>
#endif

#include <streamgauge/mark/first_use.hpp>

namespace streamgauge {

/// Tells threads apart; no thread's mark is null.
using thread_mark = void const*;

/// The calling thread's mark.
/// Why: NVTX keeps a stack of pushed ranges for each thread, so a pop belongs where its push was. The thread pointer is
/// the cheapest mark that every shared library agrees on, and it is read anew each time: a coroutine may go on
/// elsewhere.
[[nodiscard]] inline thread_mark this_thread_mark() noexcept {
#if defined(__x86_64__)
  thread_mark mark;
  asm volatile("mov{q}\t{%%fs:0, %0|%0, QWORD PTR fs:0}" : "=r"(mark));
  return mark;
#elif defined(__aarch64__)
  thread_mark mark;
  asm volatile("mrs\t%0, tpidr_el0" : "=r"(mark));
  return mark;
#else
  return &errno;
#endif
}

/// Stands before a phase's name in its range while the phase warms up.
inline constexpr char warmup_prefix[] = "warmup/";

/// What a tool shows of a label's range beside its name.
struct range_look {
  std::uint32_t argb = 0;
  std::uint64_t number = 0;  ///< the payload
};

/// What a label's translation unit does with NVTX in one domain; `range_calls_in<Domain>()` of `range.hpp` makes it.
/// Why: units with and without NVTX in one program share `range_label`, so what differs between them stands in here.
struct range_calls {
  void* (*register_name)(char const* text) noexcept;
  void (*push)(char const* text, void* registered, range_look const& look) noexcept;
  void (*pop)() noexcept;
  std::uint64_t (*start)(char const* text, void* registered, range_look const& look) noexcept;
  void (*end)(std::uint64_t id) noexcept;
  char const* (*domain)() noexcept;  ///< its name, empty for NVTX's own default one; null where there are no ranges
};

/// A name in a domain chosen at run time, registered at the first use, with a colour: what a phase holds.
/// Threads: any.
class range_label {
 public:
  range_label(std::string text, std::uint32_t argb, range_calls const& calls) noexcept
      : text_{std::move(text)}, argb_{argb}, calls_{&calls} {}

  range_label(range_label const&) = delete;
  range_label& operator=(range_label const&) = delete;

  [[nodiscard]] std::string const& text() const noexcept { return text_; }

  /// Opens a range on this thread's stack and says which thread that is. Where a tool took the name, the range carries
  /// its number, which counts on.
  [[nodiscard]] thread_mark push(std::atomic<std::uint64_t>& numbers) const noexcept {
    void* const name = registered();
    calls_->push(text_.c_str(), name, look(name, numbers));
    return this_thread_mark();
  }

  /// Closes the thread's innermost range. On another thread than the push's it does nothing and says so: false.
  [[nodiscard]] bool pop(thread_mark pushed_on) const noexcept {
    bool const here = pushed_on == this_thread_mark();
    if (here) calls_->pop();
    return here;
  }

  /// Opens a range that `end` may close on any thread.
  [[nodiscard]] std::uint64_t start(std::atomic<std::uint64_t>& numbers) const noexcept {
    void* const name = registered();
    return calls_->start(text_.c_str(), name, look(name, numbers));
  }
  void end(std::uint64_t id) const noexcept { calls_->end(id); }

  /// Whether its name was sent to NVTX yet, and whether a tool took it.
  [[nodiscard]] bool was_sent() const noexcept { return once_.done(); }
  [[nodiscard]] bool was_taken() const noexcept { return was_sent() && registered_ != nullptr; }

 private:
  [[nodiscard]] range_look look(void* taken, std::atomic<std::uint64_t>& numbers) const noexcept {
    return taken ? range_look{argb_, numbers.fetch_add(1, std::memory_order_relaxed)} : range_look{};
  }
  void* registered() const noexcept {
    once_([this] { registered_ = calls_->register_name(text_.c_str()); });
    return registered_;
  }

  std::string text_;
  std::uint32_t argb_;
  range_calls const* calls_;
  mutable void* registered_ = nullptr;
  mutable first_use once_;
};

}  // namespace streamgauge
