// Names and colours of what a timeline shows. Without these a thread would stay a number, and one range have another
// colour in each run.
#include <doctest/doctest.h>

#include <streamgauge/mark/name_color.hpp>
#include <streamgauge/mark/range.hpp>
#include <streamgauge/mark/thread_name.hpp>

#include <set>
#include <string>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include "injection.hpp"
#include "lines.hpp"

namespace sg = streamgauge;
using injection::take_calls;

// Fixed here, so that no later version gives a name another colour.
static_assert(sg::color_of("load").argb == sg::color_of(std::string_view{"loader"}.substr(0, 4)).argb);
static_assert(sg::hue_of("load") != sg::hue_of("step"));

TEST_CASE("a name has the same colour in every run") {
  CHECK(sg::hue_of("load") == 0xd050d0);
  CHECK(sg::hue_of("step") == 0xb0d050);
  CHECK(sg::hue_of("") == 0x90d050);
}

TEST_CASE("the colours of many names are spread over the circle, opaque and of one brightness") {
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 400; ++i) {
    auto const argb = sg::color_of("layer" + std::to_string(i)).argb;
    CHECK((argb & 0xff000000U) == 0xff000000U);
    std::uint32_t const parts[3] = {argb >> 16U & 0xffU, argb >> 8U & 0xffU, argb & 0xffU};
    CHECK(std::set<std::uint32_t>(parts, parts + 3).count(0xd0) == 1);
    CHECK(std::set<std::uint32_t>(parts, parts + 3).count(0x50) == 1);
    seen.insert(argb);
  }
  CHECK(seen.size() == 24);
}

TEST_CASE("a range shows the colour of its name") {
  static_cast<void>(take_calls());
  { sg::scoped_range const range{"load", sg::color{0xff000000U | sg::hue_of("load")}}; }
  auto const by_hand = take_calls();
  { sg::scoped_range const range{"load", sg::color_of("load")}; }
  CHECK(take_calls() == by_hand);
}

TEST_CASE("a thread names itself, by the number that the system knows it by") {
  REQUIRE(sg::tool_attached());  // asked once
  static_cast<void>(take_calls());
  long number = 0;
  std::thread{[&] {
    number = syscall(SYS_gettid);
    sg::name_this_thread("loader");
    sg::name_this_thread(nullptr);
  }}.join();
  CHECK(take_calls() ==
        lines{"T0 thread " + std::to_string(number) + " loader", "T0 thread " + std::to_string(number) + " "});
}
