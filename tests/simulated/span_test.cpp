// One span over streams of one device: exact walls and begins, and a program that runs as if nobody looked.

#include <type_traits>

#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

static_assert(!std::is_copy_constructible_v<sg::span> && !std::is_move_constructible_v<sg::span>);
static_assert(!std::is_copy_assignable_v<sg::span> && !std::is_move_assignable_v<sg::span>);
static_assert(!std::is_copy_constructible_v<sg::branch> && !std::is_move_constructible_v<sg::branch>);
static_assert(!std::is_copy_assignable_v<sg::branch> && !std::is_move_assignable_v<sg::branch>);
static_assert(!std::is_default_constructible_v<sg::span> && !std::is_default_constructible_v<sg::branch>);
static_assert(std::is_nothrow_destructible_v<sg::span> && std::is_nothrow_destructible_v<sg::branch>);
static_assert(!std::is_convertible_v<sg::phase, sg::span>, "a span is opened by name");
static_assert(!std::is_constructible_v<sg::span, sg::phase const&, int>, "a number names no stream");
static_assert(!std::is_constructible_v<sg::span, sg::phase const&, sg::joined_tag>, "a joined span has an origin");
static_assert(!std::is_constructible_v<sg::span, sg::phase const&, cudaStream_t>,
              "a single stream is listed in braces");

namespace {

template <class Object, class = void>
struct has_new : std::false_type {};
template <class Object>
struct has_new<Object, std::void_t<decltype(Object::operator new (std::size_t{1}))>> : std::true_type {};
static_assert(!has_new<sg::span>::value && !has_new<sg::branch>::value, "bound to the scope that they are entered in");

template <class Span, class = void>
struct has_branch_without_a_stream : std::false_type {};
template <class Span>
struct has_branch_without_a_stream<Span, std::void_t<decltype(std::declval<Span&>().branch())>> : std::true_type {};
static_assert(!has_branch_without_a_stream<sg::span>::value);

/// One stream of a fork: what is queued on it before its branch is entered, and its branch's work.
struct stretch {
  nanoseconds backlog;
  nanoseconds work;
};

struct known_answer {
  std::vector<stretch> parts;
  nanoseconds wall;
  std::vector<nanoseconds> begins;
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "prepare 2 ms, then compute 6 beside communicate 9, then finalize 1: the span is 9, the whole 12") {
  cudaStream_t const main = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const prepare{recorder, "prepare"};
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const compute{recorder, "compute"};
  sg::phase const communicate{recorder, "communicate"};
  sg::phase const finalize{recorder, "finalize"};
  {
    auto const whole = step.enter(main);
    {
      auto const scope = prepare.enter(main);
      launch(main, 2ms);
    }
    follow(side, main);
    {
      sg::span both{overlap};
      {
        auto const part = both.branch(main, compute);
        launch(main, 6ms);
      }
      auto const part = both.branch(side, communicate);
      launch(side, 9ms);
    }
    follow(main, side);
    auto const scope = finalize.enter(main);
    launch(main, 1ms);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  CHECK(sample_of(taken, "step").device == 12ms);
  CHECK(sample_of(taken, "prepare").device == 2ms);
  CHECK(sample_of(taken, "finalize").device == 1ms);
  auto const wall = sample_of(taken, "overlap");
  CHECK(wall.device == 9ms);
  CHECK(wall.part == sg::span_part::whole);
  CHECK(wall.parent == 0u);
  CHECK(missing(wall.begins) == sg::absence::not_asked);
  CHECK(missing(wall.completion) == sg::absence::not_asked);
  CHECK(wall.records_inside == 4);
  CHECK(sample_of(taken, "step").records_inside == 8);
  for (auto const& [name, time] : {std::pair{"compute", 6ms}, std::pair{"communicate", 9ms}}) {
    auto const part = sample_of(taken, name);
    CHECK(part.device == time);
    CHECK(part.begins == 0ns);
    CHECK(part.part == sg::span_part::branch);
    CHECK(part.span == wall.span);
    CHECK(part.parent == 2u);
    CHECK(part.records_inside == 0);
  }
  CHECK(wall.span != 0);
  CHECK(sample_of(taken, "step").span == 0);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "the wall goes from the earliest begin to the latest end, in whatever order they come") {
  std::vector<known_answer> const answers{
      {{{0ms, 6ms}, {0ms, 9ms}}, 9ms, {0ms, 0ms}},                    // side by side
      {{{0ms, 5ms}, {3ms, 4ms}}, 7ms, {0ms, 3ms}},                    // the second one 3 ms later
      {{{4ms, 2ms}, {0ms, 1ms}}, 6ms, {4ms, 0ms}},                    // entered first, begun last
      {{{0ms, 2ms}, {5ms, 1ms}}, 6ms, {0ms, 5ms}},                    // one after the other, with a gap
      {{{0ms, 10ms}, {3ms, 2ms}}, 10ms, {0ms, 3ms}},                  // the second inside the first
      {{{3ms, 2ms}, {0ms, 10ms}}, 10ms, {3ms, 0ms}},                  // the first inside the second
      {{{0ms, 0ms}, {0ms, 0ms}}, 0ms, {0ms, 0ms}},                    // no work at all
      {{{2ms, 0ms}, {0ms, 0ms}}, 2ms, {2ms, 0ms}},                    // no work, at different times
      {{{7ms, 1ms}}, 1ms, {0ms}},                                     // one branch alone
      {{{1ms, 2ms}, {2ms, 3ms}, {0ms, 4ms}}, 5ms, {1ms, 2ms, 0ms}},   // three
      {{{9ms, 1ms}, {0ms, 1ms}, {4ms, 0ms}}, 10ms, {9ms, 0ms, 4ms}},  // three, the event in common the latest
      {{{0ms, 1ns}, {250ms, 32ns}}, 250ms + 32ns, {0ms, 250ms}},  // what CUDA's float keeps of a quarter of a second
  };
  for (auto const& each : answers) {
    simulated::reset();
    sg::recorder recorder;
    sg::phase const overlap{recorder, "overlap"};
    std::vector<cudaStream_t> streams;
    for (auto const& part : each.parts) {
      streams.push_back(new_stream());
      launch(streams.back(), part.backlog);
    }
    {
      sg::span all{overlap};
      for (std::size_t i = 0; i < streams.size(); ++i) {
        auto const part = all.branch(streams[i]);
        launch(streams[i], each.parts[i].work);
      }
    }
    auto const taken = recorder.collect();
    CHECK(sample_of(taken, "overlap", {}).device == each.wall);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      auto const part = sample_of(taken, "overlap", {{"branch", std::to_string(i + 1)}});
      CHECK(part.begins == each.begins[i]);
      CHECK(part.device == each.parts[i].work);
    }
    check_accounts(taken);
  }
}

TEST_CASE_FIXTURE(
    fresh_machine,
    "two concurrent streams of 10 ms: the wall is 10, each branch 10, and nothing adds them up (case-19)") {
  cudaStream_t const one = new_stream();
  cudaStream_t const other = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  {
    sg::span both{overlap};
    for (auto const stream : {one, other}) {
      auto const part = both.branch(stream);
      launch(stream, 10ms);
    }
  }
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "overlap", {}).device == 10ms);
  CHECK(sample_of(taken, "overlap", {{"branch", "1"}}).device == 10ms);
  CHECK(sample_of(taken, "overlap", {{"branch", "2"}}).device == 10ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a span without a branch has its host side, and calls nothing") {
  make_context();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  simulated::clear_log();
  {
    sg::span const nothing{overlap};
    simulated::host_advance(3us);
  }
  CHECK(calls_of_ours().empty());
  auto const seen = sample_of(recorder.collect(), "overlap");
  CHECK(seen.submit == 3us);
  CHECK(missing(seen.device) == sg::absence::not_asked);
  CHECK(seen.part == sg::span_part::whole);
}

TEST_CASE_FIXTURE(fresh_machine, "a stream that is only listed counts for the wall, and gives no sample") {
  program_stream const main;
  program_stream const listed;
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  for (int i = 0; i < 2; ++i) {
    std::vector<cudaStream_t> const as_list{listed.get(), side};
    sg::span around = i == 0 ? sg::span{overlap, {listed, side}} : sg::span{overlap, as_list};
    {
      auto const part = around.branch(main);
      launch(main.get(), 3ms);
    }
    launch(listed.get(), 5ms);
    launch(side, 8ms);
    if (i == 0) wait_for(side);
  }
  auto const taken = recorder.collect();
  CHECK(taken.all.size() == 2);
  CHECK(device_times(row_of(taken, "overlap", {})) == std::vector<nanoseconds>{8ms, 8ms});
  auto const parts = row_of(taken, "overlap", {{"branch", "1"}});
  CHECK(device_times(parts) == std::vector<nanoseconds>{3ms, 3ms});
  for (auto const& part : parts.samples) CHECK(part.begins == 0ms);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a stream may be listed and have a branch: the wall is the scope, the branch its work") {
  cudaStream_t const main = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  {
    sg::span around{overlap, {main, main}};
    launch(main, 2ms);
    {
      auto const part = around.branch(main);
      launch(main, 3ms);
    }
    launch(main, 4ms);
  }
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "overlap", {}).device == 9ms);
  auto const part = sample_of(taken, "overlap", {{"branch", "1"}});
  CHECK(part.device == 3ms);
  CHECK(part.begins == 2ms);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "spans nest in phases, in branches and in each other, and each keeps its own numbers") {
  cudaStream_t const a = new_stream();
  cudaStream_t const b = new_stream();
  cudaStream_t const c = new_stream();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  sg::phase const left{recorder, "left"};
  sg::phase const right{recorder, "right"};
  {
    sg::span around{outer};
    auto const first = around.branch(a, left);
    launch(a, 1ms);
    follow(b, a);
    follow(c, a);
    {
      sg::span within{inner};
      {
        auto const part = within.branch(b, left);
        launch(b, 4ms);
      }
      auto const part = within.branch(c, right);
      launch(c, 2ms);
    }
    follow(a, b);
    launch(a, 1ms);
  }
  auto const taken = recorder.collect();
  auto const whole = sample_of(taken, "outer");
  auto const within = sample_of(taken, "inner");
  CHECK(whole.device == 6ms);
  CHECK(within.device == 4ms);
  CHECK(within.span != whole.span);
  CHECK(within.parent == 2u);  // the branch that it was entered in
  auto const parts = series_of(taken, "left");
  REQUIRE(parts.samples.size() == 2);
  CHECK(parts.samples[0].device == 6ms);
  CHECK(parts.samples[0].span == whole.span);
  CHECK(parts.samples[0].records_inside == 4);
  CHECK(parts.samples[1].device == 4ms);
  CHECK(parts.samples[1].span == within.span);
  CHECK(sample_of(taken, "right").span == within.span);
}

TEST_CASE_FIXTURE(fresh_machine, "what follows a branch in a phase is in that phase still, not in the branch's span") {
  cudaStream_t const a = new_stream();
  cudaStream_t const b = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const part_of{recorder, "part"};
  sg::phase const around{recorder, "around"};
  sg::phase const within{recorder, "within"};
  {
    sg::span both{overlap};
    auto const scope = around.enter(a);
    { auto const part = both.branch(b, part_of); }
    auto const nested = within.enter(a);
  }
  { auto const scope = around.enter(a); }
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "part").parent == 0u);
  CHECK(sample_of(taken, "within").parent == 2u);
  auto const scopes = series_of(taken, "around");
  REQUIRE(scopes.samples.size() == 2);
  CHECK(scopes.samples[0].parent == 0u);
  CHECK(!scopes.samples[1].parent);
}
