// Conditions: what makes two executions one series, and what entering under them costs.

#include <cstdint>
#include <limits>

#include "observed.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

std::string value_of(sg::given_condition const& given) { return std::string{given.value()}; }

// "a=1 b=2", in the order in which they are kept.
std::string text_of(std::vector<sg::condition> const& all) {
  std::string text;
  for (auto const& each : all) text += (text.empty() ? "" : " ") + each.key + '=' + each.value;
  return text;
}

// The series of a phase with these conditions, as text.
sg::series under(sg::recording const& of, std::string const& conditions) {
  for (auto const& each : of.all)
    if (text_of(each.conditions) == conditions) return each;
  FAIL("no series under " << conditions);
  return {};
}

}  // namespace

TEST_CASE("a condition is a text or a whole number, and every whole number is written in full") {
  CHECK(value_of({"key", "text"}) == "text");
  CHECK(value_of({"key", std::string_view{"view"}}) == "view");
  CHECK(value_of({"key", std::string{"string"}.c_str()}) == "string");
  CHECK(value_of({"key", static_cast<char const*>(nullptr)}).empty());
  CHECK(value_of({"key", ""}).empty());
  CHECK(value_of({"key", 0}) == "0");
  CHECK(value_of({"key", -1}) == "-1");
  CHECK(value_of({"key", 1024u}) == "1024");
  CHECK(value_of({"key", true}) == "1");
  CHECK(value_of({"key", std::int8_t{-128}}) == "-128");
  CHECK(value_of({"key", std::uint8_t{255}}) == "255");
  CHECK(value_of({"key", (std::numeric_limits<std::int64_t>::min)()}) == "-9223372036854775808");
  CHECK(value_of({"key", (std::numeric_limits<std::int64_t>::max)()}) == "9223372036854775807");
  CHECK(value_of({"key", (std::numeric_limits<std::uint64_t>::max)()}) == "18446744073709551615");
  CHECK(value_of({"key", (std::numeric_limits<long long>::min)()}) == "-9223372036854775808");
}

TEST_CASE("conditions are sorted by key, and the later value of a key replaces the earlier one") {
  sg::conditions const one{{"rows", 256}, {"dtype", "f32"}};
  sg::conditions const two{{"dtype", "f32"}, {"rows", 256}};
  CHECK(one == two);
  CHECK(text_of(one.values()) == "dtype=f32 rows=256");
  CHECK(text_of(sg::conditions{{"a", 1}, {"b", 2}, {"a", 3}}.values()) == "a=3 b=2");
  CHECK(text_of(one.with({{"rows", 7}, {"cols", 8}}).values()) == "cols=8 dtype=f32 rows=7");
  CHECK(text_of(one.values()) == "dtype=f32 rows=256");
  CHECK(one == sg::conditions{{"rows", "256"}, {"dtype", "f32"}});  // a number is its digits
  CHECK(!(one == sg::conditions{{"rows", 256}}));
  CHECK(sg::conditions{}.values().empty());
}

TEST_CASE("the comparison that allocates nothing agrees with the one that does") {
  sg::conditions const base{{"b", 2}, {"d", 4}};
  std::initializer_list<sg::given_condition> const additions[] = {{},
                                                                  {{"a", 1}},
                                                                  {{"b", 2}},
                                                                  {{"b", 3}},
                                                                  {{"c", 3}, {"a", 1}},
                                                                  {{"a", 1}, {"c", 3}},
                                                                  {{"a", 9}, {"a", 1}},
                                                                  {{"d", 4}, {"b", 2}},
                                                                  {{"e", ""}}};
  for (auto const& one : additions) {
    auto const made = base.with(one);
    for (auto const& other : additions) CHECK(made.equals(base, other) == (made == base.with(other)));
    CHECK(made.equals(base, one));
    auto const allocated = simulated::allocation_count();
    static_cast<void>(made.equals(base, one));
    CHECK(simulated::allocation_count() == allocated);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "executions under different conditions are never one series") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm"};
  auto const run = [&](int rows, nanoseconds time) {
    auto const scope = gemm.enter(stream, {{"rows", rows}});
    launch(stream, time);
  };
  run(1, 1ms);
  run(2, 2ms);
  run(1, 3ms);
  {
    auto const scope = gemm.enter(stream);
    launch(stream, 9ms);
  }
  auto const recording = recorder.collect();
  REQUIRE(recording.all.size() == 3);
  CHECK(device_times(under(recording, "")) == std::vector<nanoseconds>{9ms});
  CHECK(device_times(under(recording, "rows=1")) == std::vector<nanoseconds>{1ms, 3ms});
  CHECK(device_times(under(recording, "rows=2")) == std::vector<nanoseconds>{2ms});
}

TEST_CASE_FIXTURE(fresh_machine, "conditions given with the phase, on entering, or half and half make the same series") {
  sg::recorder recorder;
  sg::phase const bare{recorder, "gemm", sg::warmup{1}};
  sg::phase const whole{recorder, "gemm", sg::conditions{{"rows", 256}, {"dtype", "f32"}}};
  sg::phase const half{recorder, "gemm", sg::conditions{{"dtype", "f32"}}};
  sg::phase const with = bare.with({{"rows", 256}}).with({{"dtype", "f32"}});
  { auto const scope = whole.enter(sg::host_only); }
  { auto const scope = half.enter(sg::host_only, {{"rows", 256}}); }
  { auto const scope = bare.enter(sg::host_only, {{"dtype", "f32"}, {"rows", 256}}); }
  { auto const scope = bare.enter(sg::host_only, {{"rows", 256}, {"dtype", "f32"}}); }
  { auto const scope = with.enter(sg::host_only); }
  { auto const scope = half.enter(sg::host_only, {{"rows", 256}, {"dtype", "f32"}}); }
  auto const recording = recorder.collect();
  auto const series = under(recording, "dtype=f32 rows=256");
  CHECK(series.phase == "gemm");
  CHECK(series.samples.size() == 6);
  CHECK(series.warmup == 1);
  CHECK(under(recording, "").samples.empty());
  CHECK(under(recording, "dtype=f32").samples.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a condition given on entering replaces the phase's own") {
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm", sg::conditions{{"dtype", "f32"}}};
  { auto const scope = gemm.enter(sg::host_only, {{"dtype", "f16"}}); }
  { auto const scope = gemm.enter(sg::host_only, {{"dtype", "f64"}, {"dtype", "f16"}}); }
  auto const recording = recorder.collect();
  CHECK(under(recording, "dtype=f16").samples.size() == 2);
  CHECK(under(recording, "dtype=f32").samples.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "entering under conditions that were seen before allocates nothing") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm", sg::conditions{{"a long key that no string keeps in place", "and a long value as well"}}};
  std::string const text(100, 'x');
  auto const enter_each = [&] {
    for (int rows = 0; rows < 10; ++rows) {
      auto const outer = gemm.enter(stream, {{"another key that no string keeps in place", rows}, {"text", text}});
      auto const inner = gemm.enter(sg::host_only, {{"text", text}, {"yet another key that is long", -rows}});
    }
  };
  auto const before = simulated::allocation_count();
  enter_each();
  auto const after_first = simulated::allocation_count();
  CHECK(after_first > before);
  simulated::clear_log();
  enter_each();
  CHECK(simulated::allocation_count() == after_first);
  auto const recording = recorder.collect();
  CHECK(recording.all.size() == 21);
}

TEST_CASE_FIXTURE(fresh_machine, "phases of one name in two recorders share nothing") {
  sg::recorder one;
  sg::recorder two;
  sg::phase const a{one, "step"};
  sg::phase const b{two, "step"};
  { auto const scope = a.enter(sg::host_only); }
  CHECK(series_of(one.collect(), "step").samples.size() == 1);
  CHECK(series_of(two.collect(), "step").samples.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a phase nested under conditions names the parent's series, not its phase alone") {
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm"};
  sg::phase const part{recorder, "part"};
  for (int rows : {1, 2}) {
    auto const outer = gemm.enter(sg::host_only, {{"rows", rows}});
    auto const inner = part.enter(sg::host_only);
  }
  auto const recording = recorder.collect();
  auto const inner = series_of(recording, "part");
  REQUIRE(inner.samples.size() == 2);
  REQUIRE(inner.samples[0].parent);
  REQUIRE(inner.samples[1].parent);
  CHECK(text_of(recording.all.at(*inner.samples[0].parent).conditions) == "rows=1");
  CHECK(text_of(recording.all.at(*inner.samples[1].parent).conditions) == "rows=2");
}
