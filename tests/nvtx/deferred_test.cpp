// Ranges after the fact, as a tool gets them. Without these they could arrive without their name, at another time, or not
// at all, and nobody would say so.
#include <doctest/doctest.h>

#include <streamgauge/mark/deferred_range.hpp>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "injection.hpp"
#include "lines.hpp"

namespace sg = streamgauge;
using injection::take_calls;
using injection::take_deferred;
using sg::nanoseconds;
using std::chrono::microseconds;
using std::chrono::milliseconds;

static_assert(!std::is_copy_constructible_v<sg::deferred_ranges> && !std::is_move_constructible_v<sg::deferred_ranges>);
static_assert(std::is_nothrow_destructible_v<sg::deferred_ranges> &&
              std::is_nothrow_default_constructible_v<sg::deferred_ranges>);

#if !defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)

TEST_CASE("where NVTX has no deferred events nothing is submitted, and it is said which NVTX has them") {
  static_cast<void>(take_calls());
  std::string const why =
      "this file was compiled with an NVTX that has no deferred events: take CUDA 13.0's or a later one";
  sg::deferred_ranges ranges;
  CHECK(ranges.why_not() == why);
  CHECK(ranges.submit("a", {}, {}).why_not == why);
  CHECK(ranges.counts().refused == 1);
  sg::tool_clock clock;
  clock.look();
  CHECK(clock.why_not() == why);
  CHECK_FALSE(clock.place(sg::host_now()));
  CHECK(take_calls() == lines{});
}

#else

namespace {

struct later {
  static constexpr char const* name = "later";
};
struct described {
  static constexpr char const* name = "described";
};
struct schemaless {
  static constexpr char const* name = "schemaless";
};
struct domainless {
  static constexpr char const* name = "domainless";
};
struct raced {
  static constexpr char const* name = "raced";
};

constexpr injection::clock tsc{123'456'789, 21, 10};  // 2.1 GHz

sg::deferred_calls const& calls() { return sg::deferred_calls_in<later>(); }

// Tests come in any order; each takes the domain's making out of its way first, and sets the tool's clock.
void begin(injection::clock of = tsc) {
  injection::become(injection::ability::full);
  injection::tick_as(of);
  static_cast<void>(calls().open());
  static_cast<void>(take_calls());
  static_cast<void>(take_deferred());
  static_cast<void>(injection::take_clock_readings());
}

void pass(nanoseconds time) {
  auto const until = sg::host_now() + time;
  while (sg::host_now() < until) std::this_thread::yield();
}

// Whether the tool's stamp lies within the bound of the moment, by the tool's own truth.
bool is_within(nanoseconds bound, std::int64_t ticks, sg::host_stamp moment, injection::clock const& of) {
  auto const off = static_cast<std::int64_t>(static_cast<std::uint64_t>(ticks) -
                                             static_cast<std::uint64_t>(of.at(moment.time_since_epoch().count())));
  double const tick = static_cast<double>(of.nanoseconds) / static_cast<double>(of.ticks);
  // What the clock shows at the moment is itself cut to a tick.
  return std::abs(static_cast<double>(off)) * tick <= static_cast<double>(bound.count()) + tick;
}

sg::deferred_outcome submit_now(sg::deferred_ranges& ranges, char const* name) {
  auto const now = sg::host_now();
  return ranges.submit(name, now, now);
}

bool starts_with(std::string const& text, std::string const& with) { return text.compare(0, with.size(), with) == 0; }

}  // namespace

TEST_CASE("domain and schema are made once, at the first use, the schema being the one that nsys shows") {
  static_cast<void>(sg::tool_attached());
  begin();
  sg::deferred_ranges const first{sg::deferred_calls_in<described>()};
  sg::deferred_ranges const second{sg::deferred_calls_in<described>()};
  // Worked out by hand from NVTX's header. The schema: static (1), a range of start and end (3 << 3). Its entries: begin
  // (1 << 12) and end (2 << 12) of a range, both a time stamp (2 << 10) of 64 bits (17) by the tool's clock (1); a message
  // (1 << 10) that is the handle of a registered string (80).
  CHECK(take_calls() == lines{"T0 domain described",
                              "T0 schema described:range after the fact fields=7e type=1 flags=18 size=24"
                              " [begin type=17 flags=1800 at=0 time=1] [end type=17 flags=2800 at=8 time=1]"
                              " [name type=80 flags=400 at=16]"});
}

TEST_CASE("a range arrives in its domain, by its registered name, within the bound of its times") {
  for (injection::clock const of :
       {tsc, injection::clock{0, 1, 1}, injection::clock{-77, 10, 3}, injection::clock{5, 1, 32},
        injection::clock{std::numeric_limits<std::int64_t>::max() - 1000, 21, 10}}) {
    CAPTURE(of.ticks);
    CAPTURE(of.nanoseconds);
    begin(of);
    sg::deferred_ranges ranges{calls()};
    pass(milliseconds{2});
    auto const now = sg::host_now();
    auto const from = now - microseconds{1500};
    auto const to = now - microseconds{500};
    auto const told = ranges.submit("gemm", from, to, nanoseconds{300});
    CHECK(std::string{told.why_not}.empty());
    CHECK(told.submitted());
    CHECK(take_calls() == lines{"T0 register later:gemm", "T0 deferred later:gemm registered"});
    auto const seen = take_deferred();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].name == "later:gemm registered");
    nanoseconds const of_clock = told.bound - nanoseconds{300};
    CHECK(of_clock > nanoseconds{0});
    CHECK(of_clock < milliseconds{1});  // wide on a busy machine, yet no more than the looks can blur
    CHECK(is_within(of_clock, seen[0].begin, from, of));
    CHECK(is_within(of_clock, seen[0].end, to, of));
    auto const counts = ranges.counts();
    CHECK(counts.submitted == 1);
    CHECK(counts.refused == 0);
    CHECK(counts.names == 1);
    CHECK(counts.widest_bound == told.bound);
    CHECK(std::string{counts.first_refusal}.empty());
  }
}

TEST_CASE("the bound that counts is the wider one of the two ends") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  auto const now = sg::host_now();
  auto const near = ranges.submit("a", now, now).bound;
  auto const both = ranges.submit("a", now - std::chrono::seconds{100}, now).bound;
  auto const far = ranges.submit("a", now - std::chrono::seconds{100}, now - std::chrono::seconds{100}).bound;
  CHECK(near < far);
  auto const ahead = ranges.submit("a", now, now + std::chrono::seconds{100}).bound;
  CHECK(both > near + milliseconds{1});  // 20 millionths of 100 s are 2 ms
  CHECK(ahead > near + milliseconds{1});
  auto const widest = both > far ? both : far;
  CHECK(ranges.counts().widest_bound == (ahead > widest ? ahead : widest));
  CHECK(ranges.submit("a", now, now).submitted());
  CHECK(ranges.counts().widest_bound > near + milliseconds{1});  // still
  CHECK(ranges.submit("a", now, now, (nanoseconds::max)()).bound == (nanoseconds::max)());
}

TEST_CASE("with one look at the tool's clock nothing can be placed, with two that lie apart it can") {
  begin();
  sg::tool_clock clock{calls()};
  CHECK_FALSE(clock.place(sg::host_now()));
  CHECK(std::string{clock.why_not()} ==
        "the other clock was read once only, so its rate is not known yet: read it again later");
  CHECK(clock.map().readings() == 1);
  CHECK(injection::take_clock_readings() == 5);
  pass(milliseconds{2});
  clock.look();
  CHECK(injection::take_clock_readings() == 5);
  CHECK(std::string{clock.why_not()}.empty());
  CHECK(clock.map().ticks_per_second().value() == doctest::Approx(2.1e9).epsilon(1e-3));
  auto const moment = sg::host_now() - milliseconds{1};
  auto const found = clock.place(moment);
  REQUIRE(found.has_value());
  CHECK(is_within(found->bound, found->ticks, moment, tsc));
  pass(milliseconds{1});
  clock.look_when_due();
  CHECK(clock.map().readings() == 3);
}

TEST_CASE("of the five readings of a look the quickest counts") {
  // Of three calls in a row the first two take 300 us.
  static int asked = 0;
  static constexpr sg::deferred_calls slow{[]() noexcept -> char const* { return ""; }, nullptr,
                                           []() noexcept {
                                             auto const now = sg::host_now();
                                             if (++asked % 3 != 0) pass(microseconds{300});
                                             return now.time_since_epoch().count();
                                           },
                                           nullptr, nullptr};
  asked = 0;
  sg::tool_clock clock{slow};
  pass(milliseconds{20});
  clock.look();
  CHECK(asked == 10);
  CHECK(std::string{clock.why_not()}.empty());  // windows of 300 us would blur the rate
}

TEST_CASE("a tool without time stamps, or with ones that stand still or go back, gets no ranges") {
  begin({0, 0, 1});
  sg::deferred_ranges ranges{calls()};
  std::string const none = "the tool that listens to NVTX gives no time stamps: nvtxTimestampGet answers 0";
  CHECK(ranges.why_not() == none);
  CHECK(submit_now(ranges, "a").why_not == none);

  injection::tick_as({42, 0, 1});
  sg::tool_clock still{calls()};
  still.look();
  CHECK(std::string{still.why_not()} == "the other clock stands still: read again later, it showed the same");
  CHECK_FALSE(still.place(sg::host_now()));

  injection::tick_as({0, -1, 1});
  sg::tool_clock back{calls()};
  back.look();
  CHECK(std::string{back.why_not()} == "the other clock went backwards, so it is none");
  CHECK(take_calls() == lines{});
  CHECK(take_deferred().empty());
}

TEST_CASE("a range that ends before it begins is refused, one that is empty goes") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  auto const now = sg::host_now();
  CHECK(std::string{ranges.submit("a", now, now - nanoseconds{1}).why_not} == "it ends before it begins");
  CHECK(std::string{ranges.submit("a", now, now, nanoseconds{-1}).why_not} == "its bound is below zero");
  CHECK(std::string{ranges.submit("a", (sg::host_stamp::min)(), now).why_not} ==
        "its time is too far away from now to be placed on the tool's clock");
  CHECK(take_calls() == lines{});
  CHECK(ranges.submit("a", now, now).submitted());
  auto const seen = take_deferred();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].begin == seen[0].end);
  auto const counts = ranges.counts();
  CHECK(counts.submitted == 1);
  CHECK(counts.refused == 3);
  CHECK(std::string{counts.first_refusal} == "it ends before it begins");
}

TEST_CASE("case-62, case-57: any name passes, and each is registered once") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  auto const now = sg::host_now();
  std::string const quoted = "a \"quoted\" name, 100 % 's";
  std::string const utf8 =
      "Stra\xc3\x9f"
      "e \xe2\x86\x92 \xf0\x9f\x9a\x80";
  std::string const longest(5000, 'x');
  std::string const buffer = "abcdef";
  char const* const null = nullptr;
  for (int i = 0; i < 3; ++i) {
    CHECK(ranges.submit("", now, now).submitted());
    CHECK(ranges.submit(null, now, now).submitted());
    CHECK(ranges.submit(quoted, now, now).submitted());
    CHECK(ranges.submit(utf8.c_str(), now, now).submitted());
    CHECK(ranges.submit(longest, now, now).submitted());
    CHECK(ranges.submit(std::string_view{buffer}.substr(0, 3), now, now).submitted());
    CHECK(ranges.submit(std::string_view{"abc\0def", 7}, now, now).submitted());
  }
  lines expected{"T0 register later:", "T0 deferred later: registered", "T0 deferred later: registered"};
  for (auto const& name : {quoted, utf8, longest, std::string{"abc"}}) {
    expected.push_back("T0 register later:" + name);
    expected.push_back("T0 deferred later:" + name + " registered");
  }
  expected.push_back("T0 deferred later:abc registered");
  lines again;
  for (auto const& line : expected)
    if (!starts_with(line, "T0 register")) again.push_back(line);
  expected.insert(expected.end(), again.begin(), again.end());
  expected.insert(expected.end(), again.begin(), again.end());
  CHECK(take_calls() == expected);
  CHECK(ranges.counts().names == 5);
}

TEST_CASE("names that a program makes up as it goes stop at 1024, and those before go on") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  auto const now = sg::host_now();
  for (int i = 0; i < 1500; ++i) static_cast<void>(ranges.submit("step " + std::to_string(i), now, now));
  CHECK(ranges.submit("step 7", now, now).submitted());
  auto const counts = ranges.counts();
  CHECK(counts.names == 1024);
  CHECK(counts.submitted == 1025);
  CHECK(counts.refused == 476);
  CHECK(std::string{counts.first_refusal} ==
        "there are 1024 names already: give ranges that differ by a number one name");
  std::size_t registered = 0;
  for (auto const& line : take_calls()) registered += starts_with(line, "T0 register") ? 1U : 0U;
  CHECK(registered == 1024);
  CHECK(take_deferred().size() == 1025);
}

TEST_CASE("a tool that registers no names gets no ranges, since nobody would know them") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  injection::become(injection::ability::registers_nothing);
  for (int i = 0; i < 2; ++i)
    CHECK(std::string{submit_now(ranges, "a").why_not} ==
          "the tool registers no names, and without one nobody knows the range");
  injection::become(injection::ability::full);
  CHECK(take_calls() == lines{"T0 register later:a"});
}

TEST_CASE("a domain that the tool does not want gets nothing, and all again when it does") {
  begin();
  sg::deferred_ranges ranges{calls()};
  pass(milliseconds{2});
  injection::become(injection::ability::wants_no_domain);
  std::string const why = "the tool that listens to NVTX does not want this domain now";
  CHECK(ranges.why_not() == why);
  CHECK(submit_now(ranges, "a").why_not == why);
  CHECK(take_calls() == lines{});
  injection::become(injection::ability::full);
  CHECK(submit_now(ranges, "a").submitted());
  CHECK(std::string{ranges.why_not()}.empty());
}

TEST_CASE("a tool that takes no schema, or makes no domains, is told of nothing more") {
  begin();
  injection::become(injection::ability::takes_no_schemas);
  sg::deferred_ranges without_schema{sg::deferred_calls_in<schemaless>()};
  injection::become(injection::ability::makes_no_domains);
  sg::deferred_ranges without_domain{sg::deferred_calls_in<domainless>()};
  injection::become(injection::ability::full);
  static_cast<void>(take_calls());
  pass(milliseconds{2});
  std::string const no_schema =
      "the tool that listens to NVTX takes no deferred events: it registers no payload schema";
  std::string const no_domain = "the tool that listens to NVTX makes no domains";
  CHECK(without_schema.why_not() == no_schema);
  CHECK(submit_now(without_schema, "a").why_not == no_schema);
  CHECK(without_domain.why_not() == no_domain);
  CHECK(submit_now(without_domain, "a").why_not == no_domain);
  CHECK(without_domain.counts().first_refusal == no_domain);
  CHECK(take_calls() == lines{});
  CHECK(injection::take_clock_readings() == 0);
}

TEST_CASE("eight threads that submit at once lose nothing, register each name once, and make one schema") {
  begin();
  std::atomic<int> waiting{8};
  std::vector<std::thread> threads;
  constexpr int rounds = 500;
  {
    std::vector<sg::deferred_counts> counts(8);
    for (std::size_t i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        waiting.fetch_sub(1);
        while (waiting.load() > 0) std::this_thread::yield();
        sg::deferred_ranges own{sg::deferred_calls_in<raced>()};
        counts[i] = own.counts();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::size_t domains = 0;
  std::size_t schemas = 0;
  for (auto const& line : take_calls()) {
    domains += line.find(" domain raced") != line.npos ? 1U : 0U;
    schemas += line.find(" schema raced:") != line.npos ? 1U : 0U;
  }
  CHECK(domains == 1);
  CHECK(schemas == 1);

  sg::deferred_ranges ranges{sg::deferred_calls_in<raced>()};
  pass(milliseconds{2});
  threads.clear();
  std::atomic<int> arrived{0};
  std::vector<int> outside(8);
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 1; round <= rounds; ++round) {
        arrived.fetch_add(1);
        while (arrived.load() < 8 * round) std::this_thread::yield();  // all come to a new name at once
        auto const now = sg::host_now();
        auto const told = ranges.submit("step " + std::to_string(round), now - microseconds{1}, now);
        outside[i] += told.submitted() ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(outside == std::vector<int>(8));
  auto const counts = ranges.counts();
  CHECK(counts.submitted == 8 * rounds);
  CHECK(counts.refused == 0);
  CHECK(counts.names == rounds);
  std::size_t registered = 0;
  for (auto const& line : take_calls()) registered += line.find(" register raced:") != line.npos ? 1U : 0U;
  CHECK(registered == rounds);
  auto const seen = take_deferred();
  REQUIRE(seen.size() == 8 * rounds);
  for (auto const& range : seen) {
    CHECK(range.end > range.begin);
    CHECK(starts_with(range.name, "raced:step "));
  }
}

TEST_CASE("a tool that takes long to register a name is told it once, whoever comes with it meanwhile") {
  static std::atomic<int> registered{0};
  static std::atomic<int> submitted{0};
  static constexpr sg::deferred_calls slow{[]() noexcept -> char const* { return ""; }, []() noexcept { return true; },
                                           []() noexcept { return sg::host_now().time_since_epoch().count(); },
                                           [](char const*) noexcept -> void* {
                                             ++registered;
                                             std::this_thread::sleep_for(microseconds{200});
                                             return &registered;
                                           },
                                           [](void*, std::int64_t, std::int64_t) noexcept { ++submitted; }};
  registered = 0;
  submitted = 0;
  sg::deferred_ranges ranges{slow};
  pass(milliseconds{2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        auto const now = sg::host_now();
        static_cast<void>(ranges.submit("step " + std::to_string(k), now, now));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(registered == 20);
  CHECK(submitted == 160);
  CHECK(ranges.counts().submitted == 160);
  CHECK(ranges.counts().names == 20);
}

TEST_CASE("a child that was forked while another thread of its parent was submitting goes on") {
  sg::process_lock lock;
  lock.lock();
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    lock.lock();
    lock.unlock();
    sg::process_guard const guard{lock};
    _exit(7);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  lock.unlock();
}

#endif
