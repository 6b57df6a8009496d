#pragma once

#include <streamgauge/mark/domain.hpp>

#if !defined(STREAMGAUGE_DISABLE)

#include <streamgauge/mark/range_label.hpp>
#include <streamgauge/mark/unbalanced.hpp>

#if defined(NVTX_DISABLE) || !defined(NVTX_VERSION) || NVTX_VERSION < 3

namespace streamgauge {
inline namespace disabled {

/// The calls of a unit without NVTX: none.
template <class Domain>
[[nodiscard, gnu::visibility("hidden")]] inline range_calls const& range_calls_in() noexcept {
  static constexpr range_calls calls{
      [](char const*) noexcept -> void* { return nullptr; },
      [](char const*, void*, range_look const&) noexcept {},
      []() noexcept {},
      [](char const*, void*, range_look const&) noexcept { return std::uint64_t{0}; },
      [](std::uint64_t) noexcept {},
      nullptr,
  };
  return calls;
}

}  // namespace disabled
}  // namespace streamgauge

#else

#include <cstdint>
#include <type_traits>
#include <utility>

#include <streamgauge/mark/nvtx_calls.hpp>

namespace streamgauge {
inline namespace marking {

/// Accepts what makes a name when it is called, and nothing else.
template <class Name>
using if_callable = std::enable_if_t<std::is_invocable_v<Name const&>, int>;

/// A range on this thread's stack, from construction to destruction: NVTX's push and pop.
/// The name is text or a registered name of the same domain, then in any order a colour, a category, a payload. A
/// callable in place of the name is called only when a tool is attached; without one there is no range either.
/// Why: push's return value decides nothing, since tools give any number there and pop is due all the same. Destroyed
/// on another thread, it pops nothing there and stands in `unbalanced_ranges()`. Throws: nothing but what the callable
/// throws, and then nothing was pushed. Threads: construct and destroy on the same one; for anything else take `range`.
/// Example: `sg::scoped_range_in<my_domain> r{"load", sg::color{0xff76b900}, sg::payload{bytes}};`
template <class Domain>
class scoped_range_in {
 public:
  template <class... Extras>
  [[nodiscard, gnu::always_inline]] explicit scoped_range_in(name_in<Domain> name, Extras const&... extras) noexcept {
    push(name, extras...);
  }

  template <class Name, class... Extras, if_callable<Name> = 0>
  [[nodiscard]] explicit scoped_range_in(Name const& make_name,
                                         Extras const&... extras) noexcept(noexcept(make_name())) {
    if (!tool_attached()) return;
    auto const& name = make_name();
    push(name, extras...);
  }

  [[gnu::always_inline]] ~scoped_range_in() {
    if (__builtin_expect(pushed_on_ == this_thread_mark(), 1))
      nvtx_calls<Domain>::pop(domain_);
    else if (pushed_on_ != nullptr)
      note_left(text_, registered_);
  }

  scoped_range_in(scoped_range_in const&) = delete;
  scoped_range_in& operator=(scoped_range_in const&) = delete;
  static void* operator new(decltype(sizeof(0))) = delete;
  static void* operator new[](decltype(sizeof(0))) = delete;

 private:
  // By value: were the range's own address given away, it could not stay in registers.
  [[gnu::noinline, gnu::cold]] static void note_left(char const* text,
                                                     registered_name_in<Domain> const* registered) noexcept {
    if (registered != nullptr) text = lasting(reinterpret_cast<char const*>(registered)) ? registered->text() : nullptr;
    unbalanced_here.note(text != nullptr ? lasting(text) : nullptr);
  }
  template <class... Extras>
  [[gnu::always_inline]] void push(name_in<Domain> name, Extras const&... extras) noexcept {
    pushed_on_ = this_thread_mark();
    registered_ = name.registered();
    if (registered_ == nullptr) text_ = name.text();
    domain_ = domain_handle<Domain>();
    nvtx_calls<Domain>::push(domain_, name, extras...);
  }

  // Mutable, since g++ 12 keeps a const object without such a member in memory rather than in registers.
  mutable thread_mark pushed_on_ = nullptr;
  // What it was called, for whom it is left to elsewhere; both may be gone by then. The address of a registered name is
  // kept in place of its text: where the name is static it costs nothing.
  char const* text_ = nullptr;
  registered_name_in<Domain> const* registered_ = nullptr;
  nvtxDomainHandle_t domain_ = nullptr;  // kept, since the destructor may stand in another library with its own handle
};

/// A range that may end on another thread than it started on, and may overlap others: NVTX's start and end.
/// Takes the same names and extras as `scoped_range`. Ends when it is destroyed or assigned to; ending twice is
/// harmless. Threads: one at a time. Example: `auto open = sg::range{"request"}; open.end();`
template <class Domain>
class range_in {
 public:
  template <class... Extras>
  [[nodiscard, gnu::always_inline]] explicit range_in(name_in<Domain> name, Extras const&... extras) noexcept {
    start(name, extras...);
  }

  template <class Name, class... Extras, if_callable<Name> = 0>
  [[nodiscard]] explicit range_in(Name const& make_name, Extras const&... extras) noexcept(noexcept(make_name())) {
    if (!tool_attached()) return;
    auto const& name = make_name();
    start(name, extras...);
  }

  range_in(range_in&& other) noexcept
      : id_{other.id_}, domain_{other.domain_}, open_{std::exchange(other.open_, false)} {}
  range_in& operator=(range_in&& other) noexcept {
    if (this != &other) {
      end();
      id_ = other.id_;
      domain_ = other.domain_;
      open_ = std::exchange(other.open_, false);
    }
    return *this;
  }
  ~range_in() { end(); }

  void end() noexcept {
    if (std::exchange(open_, false)) nvtx_calls<Domain>::end(domain_, id_);
  }

  [[nodiscard]] bool is_open() const noexcept { return open_; }

 private:
  template <class... Extras>
  [[gnu::always_inline]] void start(name_in<Domain> name, Extras const&... extras) noexcept {
    domain_ = domain_handle<Domain>();
    id_ = nvtx_calls<Domain>::start(domain_, name, extras...);
    open_ = true;
  }

  nvtxRangeId_t id_ = 0;
  nvtxDomainHandle_t domain_ = nullptr;
  bool open_ = false;
};

/// Marks a moment in a domain; takes the same names and extras as `scoped_range`.
/// Example: `sg::mark_in<my_domain>("epoch", sg::payload{epoch});`
template <class Domain, class... Extras>
void mark_in(name_in<Domain> name, Extras const&... extras) noexcept {
  nvtx_calls<Domain>::mark(domain_handle<Domain>(), name, extras...);
}

template <class Domain, class Name, class... Extras, if_callable<Name> = 0>
void mark_in(Name const& make_name, Extras const&... extras) noexcept(noexcept(make_name())) {
  if (!tool_attached()) return;
  auto const& name = make_name();
  mark_in<Domain>(name_in<Domain>{name}, extras...);
}

using scoped_range = scoped_range_in<default_domain>;
using range = range_in<default_domain>;

/// Marks a moment in the default domain.
template <class Name, class... Extras>
void mark(Name const& name, Extras const&... extras) noexcept(noexcept(mark_in<default_domain>(name, extras...))) {
  mark_in<default_domain>(name, extras...);
}

/// How many scoped ranges of this program or shared library were left on another thread and so never popped.
/// Threads: any.
[[nodiscard]] inline std::uint64_t misplaced_pops() noexcept {
  return unbalanced_here.count();
}

/// The calls that a `range_label` made in this unit shall use.
template <class Domain>
[[nodiscard, gnu::visibility("hidden")]] inline range_calls const& range_calls_in() noexcept {
  using calls_in_domain = nvtx_calls<Domain>;
  static constexpr range_calls calls{
      [](char const* text) noexcept -> void* { return nvtxDomainRegisterStringA(domain_handle<Domain>(), text); },
      [](char const* text, void* registered, range_look const& look) noexcept {
        name_in<Domain> const name{text, static_cast<nvtxStringHandle_t>(registered)};
        if (registered == nullptr) return calls_in_domain::push(domain_handle<Domain>(), name);
        calls_in_domain::push(domain_handle<Domain>(), name, color{look.argb}, payload{look.number});
      },
      []() noexcept { calls_in_domain::pop(domain_handle<Domain>()); },
      [](char const* text, void* registered, range_look const& look) noexcept {
        name_in<Domain> const name{text, static_cast<nvtxStringHandle_t>(registered)};
        if (registered == nullptr) return std::uint64_t{calls_in_domain::start(domain_handle<Domain>(), name)};
        return std::uint64_t{
            calls_in_domain::start(domain_handle<Domain>(), name, color{look.argb}, payload{look.number})};
      },
      [](std::uint64_t id) noexcept { calls_in_domain::end(domain_handle<Domain>(), id); },
      []() noexcept -> char const* {
        if constexpr (std::is_same_v<Domain, default_domain>)
          return "";
        else
          return Domain::name;
      },
  };
  return calls;
}

}  // namespace marking
}  // namespace streamgauge

#endif
#endif
