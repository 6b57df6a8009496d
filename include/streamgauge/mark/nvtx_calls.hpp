#pragma once

#include <streamgauge/mark/domain.hpp>

// Nothing here where marking is compiled out: see domain.hpp.
#if !defined(STREAMGAUGE_DISABLE) && !defined(NVTX_DISABLE) && defined(NVTX_VERSION) && NVTX_VERSION >= 3

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace streamgauge {
inline namespace marking {

/// What NVTX is told about one range or mark.
template <class Domain>
class event_attributes {
 public:
  template <class... Extras>
  event_attributes(char const* text, nvtxStringHandle_t registered, Extras const&... extras) noexcept {
    raw_.version = NVTX_VERSION;
    raw_.size = static_cast<std::uint16_t>(sizeof raw_);
    if (registered != nullptr) {
      raw_.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      raw_.message.registered = registered;
    } else {
      raw_.messageType = NVTX_MESSAGE_TYPE_ASCII;
      raw_.message.ascii = text;
    }
    (add(extras), ...);
  }

  [[nodiscard]] nvtxEventAttributes_t const* raw() const noexcept { return &raw_; }

 private:
  void add(color const& shown) noexcept {
    raw_.colorType = NVTX_COLOR_ARGB;
    raw_.color = shown.argb;
  }
  void add(category const& number) noexcept { raw_.category = number.id; }
  void add(named_category_in<Domain> const& named) noexcept { raw_.category = named.id(); }
  void add(payload const& number) noexcept {
    raw_.payloadType = number.type();
    raw_.payload = number.value();
  }

  template <class Other>
  void add(Other const&) noexcept {
    static_assert(!std::is_same_v<Other, Other>,
                  "a range takes its name first, then sg::color, sg::category, sg::payload, or a named_category_in of its "
                  "own domain");
  }

  nvtxEventAttributes_t raw_{};
};

/// NVTX's calls in one domain.
/// Why: without extras, plain text in the default domain has a call of its own, the cheapest where no tool listens. A
/// null handle of a named domain says that none does, or one that makes no domains; that one gets the text alone, in
/// its default domain.
template <class Domain>
struct nvtx_calls {
  static constexpr bool is_default = std::is_same_v<Domain, default_domain>;

  template <class... Extras>
  [[gnu::always_inline]] static void push(nvtxDomainHandle_t in, name_in<Domain> name,
                                          Extras const&... extras) noexcept {
    if (!name.is_terminated()) return push_copy(in, name.text(), name.length(), extras...);
    if constexpr (!is_default) {
      if (in == nullptr) return static_cast<void>(nvtxRangePushA(name.text()));
    }
    auto const registered = name.handle();
    if constexpr (is_default && sizeof...(extras) == 0) {
      // Without a tool there is no handle: the case that is to cost nothing.
      if (__builtin_expect(registered == nullptr, 1)) return static_cast<void>(nvtxRangePushA(name.text()));
    }
    event_attributes<Domain> const attributes{name.text(), registered, extras...};
    if constexpr (is_default)
      nvtxRangePushEx(attributes.raw());
    else
      nvtxDomainRangePushEx(in, attributes.raw());
  }

  [[gnu::always_inline]] static void pop(nvtxDomainHandle_t in) noexcept {
    if (is_default || in == nullptr)
      nvtxRangePop();
    else
      nvtxDomainRangePop(in);
  }

  template <class... Extras>
  [[gnu::always_inline]] static nvtxRangeId_t start(nvtxDomainHandle_t in, name_in<Domain> name,
                                                    Extras const&... extras) noexcept {
    if (!name.is_terminated()) return start_copy(in, name.text(), name.length(), extras...);
    if constexpr (!is_default) {
      if (in == nullptr) return nvtxRangeStartA(name.text());
    }
    event_attributes<Domain> const attributes{name.text(), name.handle(), extras...};
    if constexpr (is_default)
      return nvtxRangeStartEx(attributes.raw());
    else
      return nvtxDomainRangeStartEx(in, attributes.raw());
  }

  static void end(nvtxDomainHandle_t in, nvtxRangeId_t id) noexcept {
    if (is_default || in == nullptr)
      nvtxRangeEnd(id);
    else
      nvtxDomainRangeEnd(in, id);
  }

  template <class... Extras>
  static void mark(nvtxDomainHandle_t in, name_in<Domain> name, Extras const&... extras) noexcept {
    if (!name.is_terminated()) return mark_copy(in, name.text(), name.length(), extras...);
    if constexpr (!is_default) {
      if (in == nullptr) return nvtxMarkA(name.text());
    }
    event_attributes<Domain> const attributes{name.text(), name.handle(), extras...};
    if constexpr (is_default)
      nvtxMarkEx(attributes.raw());
    else
      nvtxDomainMarkEx(in, attributes.raw());
  }

 private:
  // The copies are made out of line: a compiler that guards stack buffers would make every range pay for these.
  template <class... Extras>
  [[gnu::noinline]] static void push_copy(nvtxDomainHandle_t in, char const* text, std::size_t length,
                                          Extras const&... extras) noexcept {
    push(in, terminated_copy{text, length}.text(), extras...);
  }
  template <class... Extras>
  [[gnu::noinline]] static nvtxRangeId_t start_copy(nvtxDomainHandle_t in, char const* text, std::size_t length,
                                                    Extras const&... extras) noexcept {
    return start(in, terminated_copy{text, length}.text(), extras...);
  }
  template <class... Extras>
  [[gnu::noinline]] static void mark_copy(nvtxDomainHandle_t in, char const* text, std::size_t length,
                                          Extras const&... extras) noexcept {
    mark(in, terminated_copy{text, length}.text(), extras...);
  }
};

}  // namespace marking
}  // namespace streamgauge

#endif
