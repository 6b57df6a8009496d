#pragma once

// Counts what a tool would see of NVTX. It attaches before main and allocates nothing.

#include <nvtx3/nvToolsExt.h>

#include <atomic>

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
inline int registered_string = 0;

inline int NVTX_API push(char const*) { return so_far.pushes++; }
inline int NVTX_API push_attributes(nvtxEventAttributes_t const*) { return so_far.pushes++; }
inline int NVTX_API pop() { return so_far.pops++; }
inline nvtxRangeId_t NVTX_API start(char const*) { return static_cast<nvtxRangeId_t>(++so_far.starts); }
inline nvtxRangeId_t NVTX_API start_attributes(nvtxEventAttributes_t const*) {
  return static_cast<nvtxRangeId_t>(++so_far.starts);
}
inline void NVTX_API end(nvtxRangeId_t) { ++so_far.ends; }
inline nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, char const*) {
  ++so_far.registrations;
  return reinterpret_cast<nvtxStringHandle_t>(&registered_string);
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
