// Without these, a program in production, where no tool listens, could pay for names that nobody reads.
#include <doctest/doctest.h>

#include <streamgauge/mark/deferred_range.hpp>
#include <streamgauge/mark/range.hpp>
#include <streamgauge/mark/tool.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace sg = streamgauge;

namespace {

std::size_t allocations = 0;

struct quiet {
  static constexpr char const* name = "quiet";
};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return operator new(size); }
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("no tool is attached, and a domain has no handle") {
  CHECK_FALSE(sg::tool_attached());
  CHECK(sg::domain_handle<quiet>() == nullptr);
}

TEST_CASE("case-50: without any sign it is not known who watches") {
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("NSYS_PROFILING_SESSION_ID");
  CHECK_FALSE(sg::attached_tool().known());
  setenv("CUDA_INJECTION64_PATH", "/a/library", 1);
  CHECK(std::string{sg::attached_tool().name} == "a tool for CUDA");
  setenv("CUDA_INJECTION64_PATH", "", 1);
  CHECK_FALSE(sg::attached_tool().known());
  unsetenv("CUDA_INJECTION64_PATH");
}

TEST_CASE("case-64: without a tool a million ranges of every kind allocate nothing and call no name's callable") {
  static sg::registered_name_in<quiet> const step{"step"};
  static sg::named_category_in<quiet> const io{"io"};
  static sg::range_label const label{"label", 0xff123456, sg::range_calls_in<quiet>()};
  std::atomic<std::uint64_t> numbers{0};
  std::string const text(1000, 'x');
  int called = 0;
  auto const make_name = [&] {
    ++called;
    return std::string(1000, 'y');
  };
  auto const before = allocations;
  for (int i = 0; i < 1000000; ++i) {
    sg::scoped_range a{"literal"};
    sg::scoped_range_in<quiet> b{step, io, sg::color{1}, sg::payload{i}};
    sg::range_in<quiet> c{"started"};
    sg::mark("mark");
    static_cast<void>(label.pop(label.push(numbers)));
  }
  for (int i = 0; i < 1000; ++i) {
    sg::scoped_range view{std::string_view{text}.substr(0, 900)};
    sg::scoped_range whole{text};
    sg::scoped_range lazy{make_name};
    sg::range_in<quiet> started{make_name};
    sg::mark(make_name);
  }
  CHECK(allocations == before);
  CHECK(called == 0);
  CHECK(numbers == 0);  // nobody would read them
  CHECK(std::string(100, 'z').size() == 100);
  CHECK(allocations == before + 1);  // the counter counts
}

TEST_CASE("case-55: a range whose name was never made is nobody's to pop") {
  auto const before = sg::misplaced_pops();
  std::optional<sg::scoped_range> lazy{std::in_place, [] { return "never"; }};
  std::thread{[&] { lazy.reset(); }}.join();
  CHECK(sg::misplaced_pops() == before);
}

TEST_CASE("case-64: without a tool a million ranges after the fact allocate nothing, and each is told why it goes nowhere") {
  std::string const long_name(1000, 'x');
  sg::deferred_ranges ranges;
#if defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)
  CHECK(std::string{ranges.why_not()} == "no tool listens to NVTX");
#endif
  auto const before = allocations;
  std::uint64_t refused = 0;
  for (int i = 0; i < 1000000; ++i) {
    auto const told = ranges.submit(long_name, {}, {});
    refused += told.submitted() ? 0U : 1U;
  }
  CHECK(allocations == before);
  CHECK(refused == 1000000);
  auto const counts = ranges.counts();
  CHECK(counts.refused == 1000000);
  CHECK(counts.submitted == 0);
  CHECK(counts.names == 0);
  CHECK(std::string{counts.first_refusal} == ranges.why_not());
}
