#pragma once

// Counts what a tool would see of NVTX, and keeps the names. It attaches before main and allocates nothing.

#include <nvtx3/nvToolsExt.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace ranges_seen {

struct counts {
  std::atomic<int> pushes{0};
  std::atomic<int> pops{0};
  std::atomic<int> starts{0};
  std::atomic<int> ends{0};
  std::atomic<int> registrations{0};

  [[nodiscard]] int all() const { return pushes + pops + starts + ends + registrations; }
  void forget() { pushes = pops = starts = ends = registrations = 0; }
};
inline counts so_far;
// Off: it gives no handles, which looks as if there were no tool.
inline std::atomic<bool> takes_names{true};

// What was registered: a handle is the address of its text. Beyond the room, all share the last place.
struct text_kept {
  char text[48] = {};
};
inline std::array<text_kept, 4096> registered;
// The names of ranges that were pushed or started, by any thread: registered ones, or "?" for text.
inline std::array<char const*, 512> opened{};
inline std::atomic<std::size_t> opened_count{0};
// Of each of them colour and payload, as "ff50d0d0 3"; empty where it had none.
struct look_kept {
  char text[40] = {};
};
inline std::array<look_kept, 512> looks{};

inline void note_name(char const* name, nvtxEventAttributes_t const* event = nullptr) {
  std::size_t const at = opened_count++;
  if (at >= opened.size()) return;
  opened[at] = name;
  looks[at].text[0] = 0;
  if (event && event->colorType == NVTX_COLOR_ARGB && event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
    std::snprintf(looks[at].text, sizeof looks[at].text, "%08x %llu", event->color,
                  static_cast<unsigned long long>(event->payload.ullValue));
}
inline char const* name_of(nvtxEventAttributes_t const* event) {
  bool const is_registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && event->message.registered;
  return is_registered ? reinterpret_cast<text_kept const*>(event->message.registered)->text : "?";
}
// The names since the last call of this.
inline std::vector<std::string> take_names() {
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < opened_count && i < opened.size(); ++i) taken.emplace_back(opened[i]);
  opened_count = 0;
  return taken;
}

// The same of colour and payload.
inline std::vector<std::string> take_looks() {
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < opened_count && i < opened.size(); ++i) taken.emplace_back(looks[i].text);
  opened_count = 0;
  return taken;
}

inline int NVTX_API push(char const*) {
  note_name("?");
  return so_far.pushes++;
}
inline int NVTX_API push_attributes(nvtxEventAttributes_t const* event) {
  note_name(name_of(event), event);
  return so_far.pushes++;
}
inline int NVTX_API pop() { return so_far.pops++; }
inline nvtxRangeId_t NVTX_API start(char const*) { return static_cast<nvtxRangeId_t>(++so_far.starts); }
inline nvtxRangeId_t NVTX_API start_attributes(nvtxEventAttributes_t const* event) {
  note_name(name_of(event), event);
  return static_cast<nvtxRangeId_t>(++so_far.starts);
}
inline void NVTX_API end(nvtxRangeId_t) { ++so_far.ends; }
inline nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, char const* text) {
  static std::atomic<std::size_t> used{0};
  ++so_far.registrations;
  if (!takes_names) return nullptr;
  std::size_t const next = used++;
  text_kept& kept = registered[next < registered.size() ? next : registered.size() - 1];
  for (std::size_t i = 0; i + 1 < sizeof kept.text && (kept.text[i] = text[i]) != 0; ++i) {
  }
  return reinterpret_cast<nvtxStringHandle_t>(&kept);
}

inline int NVTX_API attach(NvtxGetExportTableFunc_t export_table) {
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr;
  NvtxFunctionTable core2 = nullptr;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size)) return 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size)) return 0;
  *core[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *core[NVTX_CBID_CORE_RangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push_attributes);
  *core[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  *core[NVTX_CBID_CORE_RangeStartA] = reinterpret_cast<NvtxFunctionPointer>(start);
  *core[NVTX_CBID_CORE_RangeStartEx] = reinterpret_cast<NvtxFunctionPointer>(start_attributes);
  *core[NVTX_CBID_CORE_RangeEnd] = reinterpret_cast<NvtxFunctionPointer>(end);
  *core2[NVTX_CBID_CORE2_DomainRegisterStringA] = reinterpret_cast<NvtxFunctionPointer>(register_string);
  return 1;
}

inline bool const attached = [] {
  InitializeInjectionNvtx2_fnptr = &attach;
  return true;
}();

}  // namespace ranges_seen
