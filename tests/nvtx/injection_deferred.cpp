// The part of the injection library that takes events after the fact: NVTX's payload extension, which looks for a tool by
// itself.
#define NVTX_NO_IMPL
#include "injection_log.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <time.h>

#if defined(NVTX_STATIC_CAST) && __has_include(<nvtx3/nvToolsExtPayload.h>)  // of the same NVTX
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#endif

namespace {

// On purpose never destroyed: calls come as late as the program's last static destructor.
struct deferred_state {
  std::mutex mutex;
  std::vector<injection::deferred> taken;
  std::map<std::uint64_t, std::string> schemas;  // by number: the domain's name
  injection::clock clock{0, 1, 1};
  std::uint64_t readings = 0;
};

deferred_state& the() {
  static deferred_state* const only = new deferred_state;
  return *only;
}

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)

std::int64_t host_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::string hex(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string text_of(nvtxPayloadSchemaEntry_t const& entry) {
  std::string text = std::string{" ["} + (entry.name != nullptr ? entry.name : "") +
                     " type=" + std::to_string(entry.type) + " flags=" + hex(entry.flags) +
                     " at=" + std::to_string(entry.offset);
  for (auto const* each = entry.semantics; each != nullptr; each = each->next) {
    bool const is_time = each->semanticId == NVTX_SEMANTIC_ID_TIME_V1 && each->version == NVTX_TIME_SEMANTIC_VERSION &&
                         each->structSize == sizeof(nvtxSemanticsTime_t);
    text += is_time ? " time=" + std::to_string(reinterpret_cast<nvtxSemanticsTime_t const*>(each)->timeDomainId)
                    : " semantics=" + std::to_string(each->semanticId);
  }
  if (entry.arrayOrUnionDetail != 0 || entry.reserved != nullptr) text += " malformed";
  return text + "]";
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, nvtxPayloadSchemaAttr_t const* schema) {
  std::string text = "schema " + injection::name_of(domain) + schema->name + " fields=" + hex(schema->fieldMask) +
                     " type=" + std::to_string(schema->type) + " flags=" + hex(schema->flags) +
                     " size=" + std::to_string(schema->payloadStaticSize);
  for (std::size_t i = 0; i < schema->numEntries; ++i) text += text_of(schema->entries[i]);
  injection::write(text);
  if (injection::able() == injection::ability::takes_no_schemas) return 0;
  std::lock_guard<std::mutex> const lock{the().mutex};
  auto const number = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + the().schemas.size();
  the().schemas[number] = injection::name_of(domain);
  return number;
}

void submit(nvtxDomainHandle_t domain, nvtxPayloadData_t const* data, std::size_t count) {
  struct {
    std::int64_t begin;
    std::int64_t end;
    nvtxStringHandle_t name;
  } range{};
  {
    std::lock_guard<std::mutex> const lock{the().mutex};
    auto const schema = the().schemas.find(data->schemaId);
    if (count != 1 || data->size != sizeof range || schema == the().schemas.end() ||
        schema->second != injection::name_of(domain)) {
      the().taken.push_back({"malformed", 0, 0});
      return;
    }
  }
  std::memcpy(&range, data->payload, sizeof range);
  auto const text = injection::text_of(domain, range.name);
  injection::write("deferred " + text);
  std::lock_guard<std::mutex> const lock{the().mutex};
  the().taken.push_back({text, range.begin, range.end});
}

std::int64_t time_stamp() {
  std::lock_guard<std::mutex> const lock{the().mutex};
  ++the().readings;
  return the().clock.at(host_now());
}

std::uint8_t is_enabled(nvtxDomainHandle_t) { return injection::able() == injection::ability::wants_no_domain ? 0 : 1; }

template <class Function>
void hook(nvtxExtModuleSegment_t const& segment, std::size_t index, Function* function) {
  if (index < segment.slotCount) segment.functionSlots[index] = reinterpret_cast<std::intptr_t>(function);
}

#endif

}  // namespace

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)
// With STREAMGAUGE_TEST_NVTX_EXTENSION=fails it refuses to start, as a tool that is too old for this NVTX.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  char const* const wish = std::getenv("STREAMGAUGE_TEST_NVTX_EXTENSION");
  if (wish != nullptr && std::string{wish} == "fails") return 0;
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return 1;
  auto const& segment = module->segments[0];
  hook(segment, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
  hook(segment, NVTX3EXT_CBID_nvtxDomainIsEnabled, is_enabled);
  hook(segment, NVTX3EXT_CBID_nvtxTimestampGet, time_stamp);
  hook(segment, NVTX3EXT_CBID_nvtxEventSubmit, submit);
  return 1;
}
#endif

namespace injection {

std::int64_t clock::at(std::int64_t moment) const {
  // In two parts, so that no product overflows.
  auto const whole = moment / nanoseconds * ticks + moment % nanoseconds * ticks / nanoseconds;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(whole));
}

std::vector<deferred> take_deferred() {
  std::lock_guard<std::mutex> const lock{the().mutex};
  return std::exchange(the().taken, {});
}

void tick_as(clock of) {
  std::lock_guard<std::mutex> const lock{the().mutex};
  the().clock = of;
}

std::uint64_t take_clock_readings() {
  std::lock_guard<std::mutex> const lock{the().mutex};
  return std::exchange(the().readings, 0);
}

}  // namespace injection
