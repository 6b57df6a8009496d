#pragma once

#include <cstdint>

#include <streamgauge/mark/unbalanced.hpp>

/// Stand-ins for marking where it is compiled out, chosen at the top of `domain.hpp` and `range.hpp`: with
/// `STREAMGAUGE_DISABLE`, with `NVTX_DISABLE`, or where NVTX cannot be used. The classes take what the real ones take
/// and do nothing: arguments are evaluated as always, a callable that would make a name is not called.
/// Why: the inline namespace makes a unit that passes a range to one with real ranges fail to link, so the two never
/// share a name and differ in their bodies.
namespace streamgauge {
inline namespace disabled {

struct default_domain {};

struct color {
  std::uint32_t argb;
};

struct category {
  std::uint32_t id;
};

class payload {
 public:
  template <class Number>
  constexpr explicit payload(Number) noexcept {}
};

template <class Domain>
class named_category_in {
 public:
  constexpr explicit named_category_in(char const*) noexcept {}
  constexpr named_category_in(category, char const*) noexcept {}
  named_category_in(named_category_in const&) = delete;
  named_category_in& operator=(named_category_in const&) = delete;
};

template <class Domain>
class registered_name_in {
 public:
  constexpr explicit registered_name_in(char const*) noexcept {}
  registered_name_in(registered_name_in const&) = delete;
  registered_name_in& operator=(registered_name_in const&) = delete;
};

template <class Domain>
class scoped_range_in {
 public:
  template <class Name, class... Extras>
  [[nodiscard]] explicit scoped_range_in(Name const&, Extras const&...) noexcept {}
  ~scoped_range_in() {}  // not defaulted: a range that is never mentioned again must not look unused

  scoped_range_in(scoped_range_in const&) = delete;
  scoped_range_in& operator=(scoped_range_in const&) = delete;
  static void* operator new(decltype(sizeof(0))) = delete;
  static void* operator new[](decltype(sizeof(0))) = delete;
};

template <class Domain>
class range_in {
 public:
  template <class Name, class... Extras>
  [[nodiscard]] explicit range_in(Name const&, Extras const&...) noexcept : open_{1} {}
  range_in(range_in&& other) noexcept : open_{other.open_} { other.open_ = 0; }
  range_in& operator=(range_in&& other) noexcept {
    auto const open = other.open_;
    other.open_ = 0;
    open_ = open;
    return *this;
  }
  ~range_in() {}  // not defaulted: see above

  void end() noexcept { open_ = 0; }
  [[nodiscard]] bool is_open() const noexcept { return open_ != 0; }

 private:
  unsigned char open_;  // as a program would see it with real ranges, so that its branches stay the same
};

template <class Domain, class Name, class... Extras>
void mark_in(Name const&, Extras const&...) noexcept {}

template <class Name, class... Extras>
void mark(Name const&, Extras const&...) noexcept {}

using named_category = named_category_in<default_domain>;
using registered_name = registered_name_in<default_domain>;
using scoped_range = scoped_range_in<default_domain>;
using range = range_in<default_domain>;

[[nodiscard]] constexpr bool tool_attached() noexcept { return false; }
[[nodiscard]] constexpr std::uint64_t misplaced_pops() noexcept { return 0; }

}  // namespace disabled
}  // namespace streamgauge
