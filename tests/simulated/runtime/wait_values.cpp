// Waiting for values in the host's memory.

#include "wait_values.hpp"

#include "captures.hpp"
#include "contexts.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {

constexpr unsigned int for_the_device = 2;  // CU_MEMHOSTREGISTER_DEVICEMAP
constexpr unsigned int at_least = 0;        // CU_STREAM_WAIT_VALUE_GEQ; no other condition is there

// A device knows memory by another address than the host: who mixes them up is refused.
constexpr unsigned long long on_device = 0x7000'0000'0000'0000U;

/// The registered memory around an address.
std::pair<char* const, registered_memory> const* around(machine const& m, char const* address) {
  for (auto const& each : m.registered)
    if (address >= each.first && address < each.first + each.second.size) return &each;
  return nullptr;
}

}  // namespace

// Unmeasured: while a stream is being captured it is as unsafe as an allocation.
int register_memory(call_in_progress& c, void* memory, std::size_t size, unsigned int flags) {
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  if (!memory || size == 0 || flags != for_the_device) return cudaErrorInvalidValue;
  if (int const unsafe = refuse_unsafe(c)) return unsafe;
  auto* const first = static_cast<char*>(memory);
  if (around(c.m, first) || around(c.m, first + size - 1)) return cudaErrorHostMemoryAlreadyRegistered;
  c.m.registered[first] = {size, used.home};
  return 0;
}

int device_address(call_in_progress& c, unsigned long long* address, void* memory, unsigned int flags) {
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  if (!address || flags != 0 || !around(c.m, static_cast<char*>(memory))) return cudaErrorInvalidValue;
  *address = on_device + reinterpret_cast<std::uintptr_t>(memory);
  return 0;
}

int wait_for_word(call_in_progress& c, cudaStream_t handle, unsigned long long address, unsigned int value,
                  unsigned int flags) {
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (flags != at_least || address < on_device || address % 4 != 0) return cudaErrorInvalidValue;
  if (int const captured = refuse_captured(*s.object)) return captured;
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  auto const* const word = reinterpret_cast<char const*>(address - on_device);
  auto const* const memory = around(c.m, word);
  if (!memory || memory->second.home != s.object->home) return cudaErrorInvalidValue;
  enqueue_word_wait(c.m, *s.object, {reinterpret_cast<std::uint32_t const*>(word), value});
  return 0;
}

}  // namespace simulated::inside
