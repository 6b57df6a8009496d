// Without these, a name could be registered again and again or not at all, a domain could be made twice or be destroyed
// under a tool that is gone, and a tool that knows less than all of NVTX could lose ranges.
#include <doctest/doctest.h>

#include <streamgauge/mark/range.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "injection.hpp"
#include "lines.hpp"

namespace sg = streamgauge;
using injection::take_calls;

namespace {

struct named {
  static constexpr char const* name = "named";
};
struct fresh {
  static constexpr char const* name = "fresh";
};
struct contended {
  static constexpr char const* name = "contended";
};
struct refused {
  static constexpr char const* name = "refused";
};

std::size_t count(lines const& all, std::string const& what) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](std::string const& line) { return line.find(what) != line.npos; }));
}

}  // namespace

// Names of static storage serve in static destructors, and are ready before any static initialiser runs.
static_assert(std::is_trivially_destructible_v<sg::registered_name> &&
              std::is_trivially_destructible_v<sg::named_category>);
static_assert(!std::is_copy_constructible_v<sg::registered_name> && !std::is_copy_constructible_v<sg::named_category>);

TEST_CASE("a tool is attached") { CHECK(sg::tool_attached()); }

TEST_CASE("a domain is made at its first use, once, and never destroyed") {
  static_cast<void>(take_calls());
  { sg::scoped_range_in<fresh> r{"a"}; }
  { sg::range_in<fresh> r{"b"}; }
  sg::mark_in<fresh>("c");
  CHECK(take_calls() == lines{"T0 domain fresh", "T0 push fresh:a", "T0 pop fresh:", "T0 start #0 fresh:b",
                              "T0 end #0 fresh:", "T0 mark fresh:c"});
  CHECK(sg::domain_handle<fresh>() == sg::domain_handle<fresh>());
  CHECK(sg::domain_handle<sg::default_domain>() == nullptr);
}

TEST_CASE("case-57: a thousand pushes of one name register it once, before the first push") {
  static_cast<void>(sg::domain_handle<named>());
  static_cast<void>(take_calls());
  static sg::registered_name_in<named> const step{"step"};
  CHECK(take_calls() == lines{});
  for (int i = 0; i < 1000; ++i) sg::scoped_range_in<named> r{step};
  auto const calls = take_calls();
  CHECK(calls.size() == 2001);
  CHECK(calls.front() == "T0 register named:step");
  CHECK(count(calls, "register ") == 1);
  CHECK(count(calls, "push named:step registered") == 1000);
  CHECK(count(calls, "pop named:") == 1000);
  CHECK(step.handle() == step.handle());
  CHECK(step.handle() != nullptr);
}

TEST_CASE("case-57: a registered name of the default domain is sent registered too") {
  static_cast<void>(take_calls());
  static sg::registered_name const step{"step"};
  { sg::scoped_range r{step}; }
  { sg::range r{step, sg::color{5}}; }
  CHECK(take_calls() == lines{"T0 register :step", "T0 push :step registered",
                              "T0 pop :", "T0 start #0 :step registered color=00000005", "T0 end #0 :"});
}

TEST_CASE(
    "case-57: eight threads that race for one name make one domain and one registration, and all push it registered") {
  for (int round = 0; round < 50; ++round) {
    static_cast<void>(take_calls());
    sg::registered_name_in<contended> const step{"step"};
    std::atomic<int> waiting{8};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        waiting.fetch_sub(1);
        while (waiting.load() > 0) std::this_thread::yield();
        sg::scoped_range_in<contended> r{step};
      });
    }
    for (auto& thread : threads) thread.join();
    auto const calls = take_calls();
    CHECK(count(calls, "domain contended") == (round == 0 ? 1U : 0U));
    CHECK(count(calls, "register contended:step") == 1);
    CHECK(count(calls, "push contended:step registered") == 8);
    CHECK(count(calls, "pop contended:") == 8);
  }
}

TEST_CASE("a category with a name is named once, at its first use, and its number comes from the name") {
  static_cast<void>(sg::domain_handle<named>());
  static_cast<void>(take_calls());
  static sg::named_category_in<named> const io{"io"};
  static sg::named_category_in<named> const again{"io"};
  static sg::named_category_in<named> const chosen{sg::category{12}, "compute"};
  static sg::named_category const plain{sg::category{13}, "plain"};
  CHECK(take_calls() == lines{});
  { sg::scoped_range_in<named> r{"read", io}; }
  { sg::scoped_range_in<named> r{"read", io}; }
  sg::mark_in<named>("run", chosen);
  sg::mark("run", plain);
  CHECK(io.id() == 0xc2387c31U);  // the 32-bit FNV-1a of "io", 0x42387c31, with the top bit set
  CHECK(io.id() == again.id());
  std::string const id = "3258481713";
  CHECK(take_calls() == lines{"T0 category named:" + id + " io", "T0 push named:read category=" + id,
                              "T0 pop named:", "T0 push named:read category=" + id,
                              "T0 pop named:", "T0 category named:12 compute", "T0 mark named:run category=12",
                              "T0 category :13 plain", "T0 mark :run category=13", "T0 category named:" + id + " io"});
}

TEST_CASE("case-57: a tool that registers nothing still gets the name, as plain text") {
  static_cast<void>(sg::domain_handle<named>());
  static_cast<void>(take_calls());
  injection::become(injection::ability::registers_nothing);
  sg::registered_name_in<named> const step{"step"};
  sg::registered_name const plain{"plain"};
  sg::range_label const label{"label", 0xff123456, sg::range_calls_in<named>()};
  { sg::scoped_range_in<named> r{step}; }
  { sg::scoped_range r{plain}; }
  std::atomic<std::uint64_t> numbers{0};
  CHECK(label.pop(label.push(numbers)));
  injection::become(injection::ability::full);
  CHECK(take_calls() == lines{"T0 register named:step", "T0 push named:step", "T0 pop named:", "T0 register :plain",
                              "T0 push :plain", "T0 pop :", "T0 register named:label", "T0 push named:label",
                              "T0 pop named:"});
}

TEST_CASE("a tool that makes no domains still gets every range, in its default domain") {
  static_cast<void>(take_calls());
  injection::become(injection::ability::makes_no_domains);
  { sg::scoped_range_in<refused> r{"a", sg::color{1}}; }
  { sg::range_in<refused> r{"b"}; }
  sg::mark_in<refused>("c");
  injection::become(injection::ability::full);
  CHECK(take_calls() ==
        lines{"T0 domain refused", "T0 push :a", "T0 pop :", "T0 start #0 :b", "T0 end #0 :", "T0 mark :c"});
}
