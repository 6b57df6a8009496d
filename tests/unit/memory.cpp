// Counts what each thread allocates and lets its memory end, by standing in for the global operator new. The array and
// the sized forms of the standard library come through here; the nothrow ones are defined as well.
#include "memory.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local memory::amount counted;
thread_local bool ends = false;
thread_local std::size_t left = 0;

// The size stands before what was asked for.
constexpr std::size_t before = 16;

void* allocate(std::size_t size) noexcept {
  auto* const block = static_cast<char*>(std::malloc(before + size));
  if (!block) return nullptr;
  *reinterpret_cast<std::size_t*>(block) = size;
  ++counted.allocations;
  counted.bytes += size;
  if (counted.bytes > counted.peak) counted.peak = counted.bytes;
  return block + before;
}

void release(void* memory) noexcept {
  if (!memory) return;
  auto* const block = static_cast<char*>(memory) - before;
  counted.bytes -= *reinterpret_cast<std::size_t*>(block);  // wraps where another thread allocated it
  std::free(block);
}

}  // namespace

namespace memory {

amount seen() {
  amount const now = counted;
  counted.peak = counted.bytes;
  return now;
}
ends_after::ends_after(std::size_t allocations) {
  ends = true;
  left = allocations;
}
ends_after::~ends_after() { ends = false; }

}  // namespace memory

void* operator new(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  if (ends && left == 0) return nullptr;
  if (ends) --left;
  return allocate(size);
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, std::nothrow_t const& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::nothrow_t const&) noexcept { release(memory); }
void operator delete[](void* memory, std::nothrow_t const&) noexcept { release(memory); }
