#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <streamgauge/mark/domain.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {

struct deferred_calls {};

struct device_domain {
  static constexpr char const* name = "streamgauge_device";
};

template <class Domain>
[[nodiscard]] constexpr deferred_calls deferred_calls_in() noexcept {
  return {};
}

}  // namespace disabled
}  // namespace streamgauge

#else

// Beside an older NVTX a newer one may lie further back on the path, whose parts must not be mixed: the macro is one of
// `nvToolsExt.h` that the header of deferred events builds on.
#if !defined(NVTX_DISABLE) && defined(NVTX_VERSION) && NVTX_VERSION >= 3 && defined(NVTX_STATIC_CAST)
#if __has_include(<nvtx3/nvToolsExtPayload.h>) && __has_include(<nvtx3/nvToolsExtSemanticsTime.h>)
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#endif
#endif

namespace streamgauge {

/// What a translation unit does with NVTX for ranges after the fact, in one domain; `deferred_calls_in<Domain>()` makes it.
/// Why: units with and without those calls in one program share `deferred_ranges`, so what differs between them stands in
/// here.
struct deferred_calls {
  char const* (*open)() noexcept;  ///< makes the domain and its schema, once; why not, in words, or empty
  // What follows is called only where that was empty.
  bool (*is_wanted)() noexcept;      ///< whether the tool wants this domain, now
  std::int64_t (*ticks)() noexcept;  ///< the tool's clock; 0 where it gives none
  void* (*register_name)(char const* text) noexcept;
  void (*submit)(void* name, std::int64_t begin, std::int64_t end) noexcept;
};

/// The domain of ranges after the fact that are given to no other one.
struct device_domain {
  static constexpr char const* name = "streamgauge_device";
};

#if defined(NVTX_DISABLE) || !defined(NVTX_VERSION) || NVTX_VERSION < 3

inline namespace disabled {

/// Tells apart what units of this kind make.
struct deferring {};

/// The calls of a unit without NVTX: none.
template <class Domain, class Unit = deferring>
[[nodiscard, gnu::visibility("hidden")]] inline deferred_calls const& deferred_calls_in() noexcept {
  static constexpr deferred_calls calls{
      []() noexcept -> char const* {
        return "this file was compiled without NVTX: NVTX_DISABLE is set, or there is no NVTX 3 header";
      },
      nullptr, nullptr, nullptr, nullptr};
  return calls;
}

}  // namespace disabled

#elif !defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1) || !defined(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND) || \
    !defined(NVTX_SEMANTIC_ID_TIME_V1)

inline namespace marking_as_it_runs {

struct deferring {};

/// The calls of a unit whose NVTX knows ranges only while they run: none.
template <class Domain, class Unit = deferring>
[[nodiscard, gnu::visibility("hidden")]] inline deferred_calls const& deferred_calls_in() noexcept {
  static constexpr deferred_calls calls{
      []() noexcept -> char const* {
        return "this file was compiled with an NVTX that has no deferred events: take CUDA 13.0's or a later one";
      },
      nullptr, nullptr, nullptr, nullptr};
  return calls;
}

}  // namespace marking_as_it_runs

#else

inline namespace marking {

struct deferring {};

/// A range as the schema lays it out.
struct deferred_payload {
  std::int64_t begin;
  std::int64_t end;
  nvtxStringHandle_t name;
};

/// The schema of such ranges, as the domain registered it.
template <class Domain>
struct [[gnu::visibility("hidden")]] made_schema {
  static inline first_use once;
  static inline std::uint64_t id = 0;
};

/// Tells the tool how ranges after the fact are laid out. Shape: 0 where it takes none.
/// Why: nsys shows such a range when its stamps are of the tool's own clock and its name is a registered string. With text
/// for a name it arrives nameless, with stamps of another clock not at all.
[[nodiscard, gnu::visibility("hidden")]] inline std::uint64_t register_deferred_schema(
    nvtxDomainHandle_t domain) noexcept {
  static nvtxSemanticsTime_t const tool_time{
      {sizeof(nvtxSemanticsTime_t), NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, nullptr},
      NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED};
  static nvtxPayloadSchemaEntry_t const entries[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin",
       nullptr, 0, offsetof(deferred_payload, begin), &tool_time.header, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end",
       nullptr, 0, offsetof(deferred_payload, end), &tool_time.header, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name", nullptr, 0,
       offsetof(deferred_payload, name), nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "range after the fact";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND;
  schema.entries = entries;
  schema.numEntries = sizeof entries / sizeof entries[0];
  schema.payloadStaticSize = sizeof(deferred_payload);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

/// The calls of a unit that has deferred events.
/// Why: NVTX looks for a tool's part in extensions apart, at the first call of one; another thread may meanwhile be told
/// that the domain is off. So the first call stands in a first use.
template <class Domain, class Unit = deferring>
[[nodiscard, gnu::visibility("hidden")]] inline deferred_calls const& deferred_calls_in() noexcept {
  static_assert(!std::is_same_v<Domain, default_domain>, "ranges after the fact need a domain of their own");
  static constexpr deferred_calls calls{
      []() noexcept -> char const* {
        auto const domain = domain_handle<Domain>();
        if (domain == nullptr)
          return tool_attached() ? "the tool that listens to NVTX makes no domains" : "no tool listens to NVTX";
        made_schema<Domain>::once([domain] { made_schema<Domain>::id = register_deferred_schema(domain); });
        return made_schema<Domain>::id != 0
                   ? ""
                   : "the tool that listens to NVTX takes no deferred events: it registers no payload schema";
      },
      []() noexcept { return nvtxDomainIsEnabled(domain_handle<Domain>()) != 0; },
      []() noexcept { return std::int64_t{nvtxTimestampGet()}; },
      [](char const* text) noexcept -> void* { return nvtxDomainRegisterStringA(domain_handle<Domain>(), text); },
      [](void* name, std::int64_t begin, std::int64_t end) noexcept {
        deferred_payload const given{begin, end, static_cast<nvtxStringHandle_t>(name)};
        nvtxPayloadData_t const data{made_schema<Domain>::id, sizeof given, &given};
        nvtxEventSubmit(domain_handle<Domain>(), &data, 1);
      },
  };
  return calls;
}

}  // namespace marking

#endif
}  // namespace streamgauge

#endif
