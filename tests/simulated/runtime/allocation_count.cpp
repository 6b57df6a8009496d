// Counts what each thread allocates, by standing in for the global operator new. The array and the sized forms of the
// standard library come through here; the nothrow and the aligned ones are defined as well.

#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

#include "simulated.hpp"

namespace simulated {
namespace {
thread_local std::size_t counted = 0;
thread_local int uncounted_depth = 0;
thread_local int no_memory_depth = 0;

void* allocate(std::size_t size) noexcept {
  if (uncounted_depth == 0) ++counted;
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate_aligned(std::size_t size, std::size_t alignment) noexcept {
  if (uncounted_depth == 0) ++counted;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

[[noreturn]] void out_of_memory() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc{};
#else
  std::abort();
#endif
}
}  // namespace

std::size_t allocation_count() { return counted; }

no_memory_scope::no_memory_scope() { ++no_memory_depth; }
no_memory_scope::~no_memory_scope() { --no_memory_depth; }

inside::uncounted_allocations::uncounted_allocations() { ++uncounted_depth; }
inside::uncounted_allocations::~uncounted_allocations() { --uncounted_depth; }

}  // namespace simulated

void* operator new(std::size_t size) {
  if (void* memory = simulated::allocate(size)) return memory;
  simulated::out_of_memory();
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return simulated::no_memory_depth > 0 ? nullptr : simulated::allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = simulated::allocate_aligned(size, static_cast<std::size_t>(alignment))) return memory;
  simulated::out_of_memory();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, std::nothrow_t const& tag) noexcept { return operator new(size, tag); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
