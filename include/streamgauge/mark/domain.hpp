#pragma once

#if defined(STREAMGAUGE_DISABLE) || defined(NVTX_DISABLE)
#include <streamgauge/mark/disabled.hpp>
#elif (defined(NVTX_VERSION) && NVTX_VERSION < 3) || !__has_include(<nvtx3/nvToolsExt.h>)
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic warning "-W#pragma-messages"
#endif
#if defined(NVTX_VERSION)
#pragma message("streamgauge: no NVTX ranges from this file: version 2 was included first; use <nvtx3/nvToolsExt.h>")
#else
#pragma message("streamgauge: no NVTX ranges from this file: <nvtx3/nvToolsExt.h> was not found")
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#include <streamgauge/mark/disabled.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <nvtx3/nvToolsExt.h>

#include <streamgauge/mark/first_use.hpp>

namespace streamgauge {
// A unit that compiles marking out has other classes under the same names; this keeps the linker from mixing them.
inline namespace marking {

/// NVTX's own default domain. Any other domain is a type with a name.
/// Example: `struct my_domain { static constexpr char const* name = "my_library"; };`
struct default_domain {};

/// The one handle of a domain, behind `domain_handle`.
/// Why: hidden, as NVTX's own state is; a symbol that the loader joins over libraries would keep a plug-in from
/// unloading.
template <class Domain>
struct [[gnu::visibility("hidden")]] made_domain {
  static inline first_use once;
  static inline nvtxDomainHandle_t handle = nullptr;
};

/// The domain's NVTX handle, made at the first call; null for the default domain, and without a tool.
/// Why: a domain is never destroyed, since the tool may be gone before the program's last static destructor. One is
/// made in each program or shared library that marks, because NVTX itself lives in each; tools join them by name.
/// Threads: any.
template <class Domain>
[[nodiscard, gnu::visibility("hidden")]] inline nvtxDomainHandle_t domain_handle() noexcept {
  if constexpr (std::is_same_v<Domain, default_domain>) {
    return nullptr;
  } else {
    made_domain<Domain>::once([] { made_domain<Domain>::handle = nvtxDomainCreateA(Domain::name); });
    return made_domain<Domain>::handle;
  }
}

/// Whether a tool listens to NVTX. Cheap after the first call.
/// Why: only a tool answers with a handle when a string is registered or a domain is made.
/// Threads: any.
[[nodiscard, gnu::visibility("hidden")]] inline bool tool_attached() noexcept {
  static bool const attached =
      nvtxDomainRegisterStringA(nullptr, "streamgauge") != nullptr || nvtxDomainCreateA("streamgauge") != nullptr;
  return attached;
}

/// The colour of a range or mark.
/// Shape: alpha, red, green and blue, a byte each: `color{0xff76b900}`.
struct color {
  std::uint32_t argb;
};

/// A category by the number that the program chose for it.
struct category {
  std::uint32_t id;
};

/// A number that tools show with a range or mark: 32 or 64 bits, signed, unsigned or floating.
class payload {
 public:
  using value_type = nvtxEventAttributes_t::payload_t;

  template <class Number>
  explicit payload(Number number) noexcept : type_{type_of<Number>()}, value_{value_of(number)} {}

  [[nodiscard]] std::int32_t type() const noexcept { return type_; }
  [[nodiscard]] value_type value() const noexcept { return value_; }

 private:
  template <class Number>
  static constexpr std::int32_t type_of() noexcept {
    static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= 8, "a payload is a number of at most 64 bits");
    constexpr bool wide = sizeof(Number) == 8;
    if constexpr (std::is_floating_point_v<Number>) return wide ? NVTX_PAYLOAD_TYPE_DOUBLE : NVTX_PAYLOAD_TYPE_FLOAT;
    if constexpr (std::is_signed_v<Number>) return wide ? NVTX_PAYLOAD_TYPE_INT64 : NVTX_PAYLOAD_TYPE_INT32;
    return wide ? NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 : NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  }

  template <class Number>
  static value_type value_of(Number number) noexcept {
    value_type value{};
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_DOUBLE) value.dValue = number;
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_FLOAT) value.fValue = number;
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_INT64) value.llValue = number;
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_INT32) value.iValue = number;
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) value.ullValue = number;
    if constexpr (type_of<Number>() == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) value.uiValue = number;
    return value;
  }

  std::int32_t type_;
  value_type value_;
};

/// A category with a name, which the tool learns once, at the first use.
/// Why: the number is worked out from the name, so it is the same in every run, process and library; its top bit is
/// set, which leaves the small numbers to the program. Requires: the name outlives the object, as a literal does.
/// Threads: any.
/// Example: `static sg::named_category_in<my_domain> const io{"io"};`
template <class Domain>
class named_category_in {
 public:
  constexpr explicit named_category_in(char const* name) noexcept
      : named_category_in{category{number_of(name)}, name} {}
  constexpr named_category_in(category number, char const* name) noexcept
      : name_{name != nullptr ? name : ""}, id_{number.id} {}

  /// The category's number, after the tool has learnt its name.
  [[nodiscard]] std::uint32_t id() const noexcept {
    named_([this] {
      if constexpr (std::is_same_v<Domain, default_domain>) {
        nvtxNameCategoryA(id_, name_);
      } else {
        nvtxDomainNameCategoryA(domain_handle<Domain>(), id_, name_);
      }
    });
    return id_;
  }

 private:
  // FNV-1a
  static constexpr std::uint32_t number_of(char const* name) noexcept {
    std::uint32_t hash = 2166136261U;
    for (; name != nullptr && *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 16777619U;
    return hash | 0x80000000U;
  }

  char const* name_;
  std::uint32_t id_;
  mutable first_use named_;
};

/// A name that the domain registers once, at the first use; ranges then carry its handle instead of text.
/// Why: `nsys --capture-range=nvtx` starts only on registered names, and the tool need not copy the text each time.
/// Requires: the text outlives the object, as a literal does.
/// Threads: any; threads that race for the first use make one registration.
/// Example: `static sg::registered_name_in<my_domain> const step{"step"};`
template <class Domain>
class registered_name_in {
 public:
  constexpr explicit registered_name_in(char const* text) noexcept : text_{text != nullptr ? text : ""} {}

  [[nodiscard]] char const* text() const noexcept { return text_; }

  /// The tool's handle; null without a tool, and with one that registers nothing.
  [[nodiscard]] nvtxStringHandle_t handle() const noexcept {
    registered_([this] { handle_ = nvtxDomainRegisterStringA(domain_handle<Domain>(), text_); });
    return handle_;
  }

 private:
  char const* text_;
  mutable nvtxStringHandle_t handle_ = nullptr;
  mutable first_use registered_;
};

/// What a range or mark is called: text or a registered name, held for the length of one call.
/// Shape: a null pointer is the empty name; a name ends at its first NUL.
template <class Domain>
class name_in {
 public:
  name_in(char const* text) noexcept : text_{text != nullptr ? text : ""} {}
  name_in(std::string const& text) noexcept : text_{text.c_str()} {}
  name_in(std::string_view text) noexcept : text_{text.data()}, length_{text.size()} {}
  name_in(registered_name_in<Domain> const& name) noexcept : text_{nullptr}, registered_{&name} {}
  name_in(char const* text, nvtxStringHandle_t handle) noexcept : text_{text != nullptr ? text : ""}, handle_{handle} {}

  /// The handle, registered now if need be; null for plain text.
  [[nodiscard]] nvtxStringHandle_t handle() const noexcept {
    return registered_ != nullptr ? registered_->handle() : handle_;
  }

  /// Whether `text` ends with a NUL; a view need not.
  [[nodiscard]] bool is_terminated() const noexcept { return length_ == terminated; }
  [[nodiscard]] char const* text() const noexcept { return registered_ != nullptr ? registered_->text() : text_; }
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] registered_name_in<Domain> const* registered() const noexcept { return registered_; }

 private:
  static constexpr std::size_t terminated = static_cast<std::size_t>(-1);

  char const* text_;
  std::size_t length_ = terminated;
  registered_name_in<Domain> const* registered_ = nullptr;
  nvtxStringHandle_t handle_ = nullptr;
};

/// A terminated copy of a view, for the length of one call. Allocates only for a long name while a tool listens;
/// without one nobody reads it, and its beginning is enough.
class terminated_copy {
 public:
  terminated_copy(char const* text, std::size_t length) noexcept {
    if (length >= sizeof buffer_) {
      if (tool_attached()) block_ = new (std::nothrow) char[length + 1];
      if (block_ == nullptr) length = sizeof buffer_ - 1;
    }
    auto* const copy = block_ != nullptr ? block_ : buffer_;
    if (length != 0) std::memcpy(copy, text, length);
    copy[length] = '\0';
  }
  ~terminated_copy() { delete[] block_; }
  terminated_copy(terminated_copy const&) = delete;
  terminated_copy& operator=(terminated_copy const&) = delete;

  [[nodiscard]] char const* text() const noexcept { return block_ != nullptr ? block_ : buffer_; }

 private:
  char* block_ = nullptr;
  char buffer_[256];
};

using named_category = named_category_in<default_domain>;
using registered_name = registered_name_in<default_domain>;

}  // namespace marking
}  // namespace streamgauge

#endif
