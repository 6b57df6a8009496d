#include "injection.hpp"
#include "injection_log.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

namespace {

// On purpose never destroyed: calls come as late as the program's last static destructor.
struct state {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::map<std::thread::id, int> threads;
  std::deque<std::string> domains;  // a handle is the address of its name
  std::deque<std::pair<std::string, std::string>> strings;
  std::uint64_t ranges = 0;
  int level = 0;
  injection::ability able = injection::ability::full;
};

state& the() {
  static state* const only = new state;
  return *only;
}

}  // namespace

void injection::write(std::string const& what) {
  auto& s = the();
  std::lock_guard<std::mutex> const lock{s.mutex};
  auto const thread = s.threads.emplace(std::this_thread::get_id(), static_cast<int>(s.threads.size())).first->second;
  s.lines.push_back("T" + std::to_string(thread) + " " + what);
  if (char const* path = std::getenv("STREAMGAUGE_TEST_NVTX_LOG")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\n", s.lines.back().c_str());
      std::fclose(file);
    }
  }
}

std::string injection::name_of(nvtxDomainHandle_t domain) {
  return (domain != nullptr ? *reinterpret_cast<std::string const*>(domain) : std::string{}) + ":";
}

std::string injection::text_of(nvtxDomainHandle_t domain, nvtxStringHandle_t string) {
  auto const& registered = *reinterpret_cast<std::pair<std::string, std::string> const*>(string);
  return name_of(domain) + registered.second +
         (registered.first == name_of(domain) ? " registered" : " registered elsewhere");
}

namespace {

using injection::name_of;
using injection::write;

std::string payload_of(nvtxEventAttributes_t const& event) {
  switch (event.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return "uint64:" + std::to_string(event.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64: return "int64:" + std::to_string(event.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: return "double:" + std::to_string(event.payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: return "uint32:" + std::to_string(event.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32: return "int32:" + std::to_string(event.payload.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT: return "float:" + std::to_string(event.payload.fValue);
    default: return "unknown";
  }
}

std::string text_of(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* event) {
  auto text = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED
                  ? injection::text_of(domain, event->message.registered)
                  : name_of(domain) + event->message.ascii;
  if (event->version != NVTX_VERSION || event->size != sizeof *event) text += " malformed";
  if (event->colorType == NVTX_COLOR_ARGB) {
    char color[32];
    std::snprintf(color, sizeof color, " color=%08x", event->color);
    text += color;
  }
  if (event->category != 0) text += " category=" + std::to_string(event->category);
  if (event->payloadType != NVTX_PAYLOAD_UNKNOWN) text += " payload=" + payload_of(*event);
  return text;
}

int push(std::string const& text) {
  write("push " + text);
  return the().level;
}

int pop(nvtxDomainHandle_t domain) {
  write("pop " + name_of(domain));
  return the().level;
}

nvtxRangeId_t start(std::string const& text) {
  std::uint64_t id = 0;
  {
    std::lock_guard<std::mutex> const lock{the().mutex};
    id = the().ranges++;
  }
  write("start #" + std::to_string(id) + " " + text);
  return id;
}

void end(nvtxDomainHandle_t domain, nvtxRangeId_t id) { write("end #" + std::to_string(id) + " " + name_of(domain)); }

nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, char const* text) {
  write("register " + name_of(domain) + text);
  auto& s = the();
  std::lock_guard<std::mutex> const lock{s.mutex};
  if (s.able == injection::ability::registers_nothing) return nullptr;
  s.strings.emplace_back(name_of(domain), text);
  return reinterpret_cast<nvtxStringHandle_t>(&s.strings.back());
}

nvtxDomainHandle_t create_domain(char const* name) {
  write(std::string{"domain "} + name);
  auto& s = the();
  std::lock_guard<std::mutex> const lock{s.mutex};
  if (s.able == injection::ability::makes_no_domains) return nullptr;
  s.domains.emplace_back(name);
  return reinterpret_cast<nvtxDomainHandle_t>(&s.domains.back());
}

// NVTX's tables hold addresses of function pointers of many types; the entry is set byte by byte.
template <class Function>
void hook(NvtxFunctionTable table, int index, Function* function) {
  static_assert(sizeof(function) == sizeof(NvtxFunctionPointer), "a function pointer");
  std::memcpy(table[index], &function, sizeof function);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  hook(
      table, NVTX_CBID_CORE_MarkA, +[](char const* text) { write(std::string{"mark :"} + text); });
  hook(
      table, NVTX_CBID_CORE_MarkEx,
      +[](nvtxEventAttributes_t const* event) { write("mark " + text_of(nullptr, event)); });
  hook(
      table, NVTX_CBID_CORE_RangeStartA, +[](char const* text) { return start(std::string{":"} + text); });
  hook(
      table, NVTX_CBID_CORE_RangeStartEx,
      +[](nvtxEventAttributes_t const* event) { return start(text_of(nullptr, event)); });
  hook(
      table, NVTX_CBID_CORE_RangeEnd, +[](nvtxRangeId_t id) { end(nullptr, id); });
  hook(
      table, NVTX_CBID_CORE_RangePushA, +[](char const* text) { return push(std::string{":"} + text); });
  hook(
      table, NVTX_CBID_CORE_RangePushEx,
      +[](nvtxEventAttributes_t const* event) { return push(text_of(nullptr, event)); });
  hook(
      table, NVTX_CBID_CORE_RangePop, +[] { return pop(nullptr); });
  hook(
      table, NVTX_CBID_CORE_NameOsThreadA,
      +[](std::uint32_t thread, char const* name) { write("thread " + std::to_string(thread) + " " + name); });
  hook(
      table, NVTX_CBID_CORE_NameCategoryA,
      +[](std::uint32_t category, char const* name) { write("category :" + std::to_string(category) + " " + name); });

  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  hook(
      table, NVTX_CBID_CORE2_DomainMarkEx,
      +[](nvtxDomainHandle_t domain, nvtxEventAttributes_t const* event) { write("mark " + text_of(domain, event)); });
  hook(
      table, NVTX_CBID_CORE2_DomainRangeStartEx,
      +[](nvtxDomainHandle_t domain, nvtxEventAttributes_t const* event) { return start(text_of(domain, event)); });
  hook(
      table, NVTX_CBID_CORE2_DomainRangeEnd, +[](nvtxDomainHandle_t domain, nvtxRangeId_t id) { end(domain, id); });
  hook(
      table, NVTX_CBID_CORE2_DomainRangePushEx,
      +[](nvtxDomainHandle_t domain, nvtxEventAttributes_t const* event) { return push(text_of(domain, event)); });
  hook(
      table, NVTX_CBID_CORE2_DomainRangePop, +[](nvtxDomainHandle_t domain) { return pop(domain); });
  hook(
      table, NVTX_CBID_CORE2_DomainNameCategoryA,
      +[](nvtxDomainHandle_t domain, std::uint32_t category, char const* name) {
        write("category " + name_of(domain) + std::to_string(category) + " " + name);
      });
  hook(
      table, NVTX_CBID_CORE2_DomainRegisterStringA,
      +[](nvtxDomainHandle_t domain, char const* text) { return register_string(domain, text); });
  hook(
      table, NVTX_CBID_CORE2_DomainCreateA, +[](char const* name) { return create_domain(name); });
  hook(
      table, NVTX_CBID_CORE2_DomainDestroy, +[](nvtxDomainHandle_t domain) { write("destroy " + name_of(domain)); });
  return 1;
}

namespace injection {

std::vector<std::string> take_calls() {
  auto& s = the();
  std::lock_guard<std::mutex> const lock{s.mutex};
  s.threads.clear();
  s.ranges = 0;
  return std::exchange(s.lines, {});
}

void answer_pushes_with(int level) { the().level = level; }

void become(ability able) { the().able = able; }

ability able() { return the().able; }

void attach() {
#if defined(SELF_INJECTION)
  InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;
#else
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &library) == 0) std::abort();
  setenv("NVTX_INJECTION64_PATH", library.dli_fname, 1);
#endif
}

}  // namespace injection
