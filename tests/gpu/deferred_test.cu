// The bug that would go unseen without this file: ranges after the fact that nsys leaves out, shows without their name, or
// shows somewhere else than where they were.
#include "nsys_export.cuh"

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>

#include <streamgauge/mark/deferred_range.hpp>

namespace {

using namespace std::chrono_literals;

// Each is marked as it runs, and a second time afterwards, by stamps taken just inside.
int twice() {
  struct {
    char const* live;
    char const* after;
    std::chrono::milliseconds length;
    sg::host_stamp begin{};
    sg::host_stamp end{};
  } all[] = {{"live a", "after a", 2ms}, {"live b", "after b", 5ms}, {"live \"c\"", "after \"c\"", 20ms}};
  sg::deferred_ranges ranges;
  for (auto& each : all) {
    sg::scoped_range const range{each.live};
    each.begin = sg::host_now();
    std::this_thread::sleep_for(each.length);
    each.end = sg::host_now();
  }
  for (auto const& each : all) {
    auto const told = ranges.submit(each.after, each.begin, each.end);
    std::printf("%s: %s, bound %lld ns\n", each.after, told.submitted() ? "submitted" : told.why_not,
                static_cast<long long>(told.bound.count()));
  }
  sg::tool_clock clock;
  std::this_thread::sleep_for(20ms);
  clock.look();
  std::printf("ticks per second: %.0f\n", clock.map().ticks_per_second().value_or(0));
  std::printf("widest bound: %lld\n", static_cast<long long>(ranges.counts().widest_bound.count()));
  std::fflush(stdout);
  return 0;
}
add_child const as_twice{"twice", twice};

std::int64_t number_behind(std::string const& words, std::string const& text) {
  auto const at = text.find(words);
  REQUIRE(at != std::string::npos);
  return std::stoll(text.substr(at + words.size()));
}

}  // namespace

TEST_CASE("nsys shows a range after the fact by its name, where it was, within its bound") {
  if (std::string{sg::deferred_ranges{}.why_not()}.find("compiled") != std::string::npos || !has("python3")) {
    MESSAGE("skipped: this NVTX has no deferred events, or there is no python3 to read the export");
    return;
  }
  std::string const text =
      shell("nsys profile --trace=nvtx --sample=none --cpuctxsw=none -f true -o twice " + self() + " --child=twice");
  std::printf("%s", text.c_str());
  CHECK(times_in(text, ": submitted, bound ") == 3);
  std::int64_t const bound = number_behind("widest bound: ", text);
  CHECK(bound < 100'000);
  std::map<std::string, exported> found;
  for (exported const& each : exported_from("twice.nsys-rep").ranges) found[each.name] = each;
  // The stamps were taken inside the range that ran: a push and a pop away, and what the system put between.
  constexpr std::int64_t within = 20'000;
  for (std::string const name : {"a", "b", "\"c\""}) {
    CAPTURE(name);
    std::string const live = "live " + name;
    std::string const after = "after " + name;
    REQUIRE(found.count(live) == 1);
    REQUIRE(found.count(after) == 1);
    exported const outer = found.at(live);
    exported const inner = found.at(after);
    std::printf("%s: begins %lld ns behind, ends %lld ns before; bound %lld\n", after.c_str(),
                static_cast<long long>(inner.begin - outer.begin), static_cast<long long>(outer.end - inner.end),
                static_cast<long long>(bound));
    CHECK(inner.begin >= outer.begin - bound);
    CHECK(inner.begin <= outer.begin + bound + within);
    CHECK(inner.end <= outer.end + bound);
    CHECK(inner.end >= outer.end - bound - within);
  }
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
