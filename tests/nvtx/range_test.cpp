// Without these, a tool could see ranges that never close, close twice, carry another name or land in another domain,
// while the program itself looks right.
#include <doctest/doctest.h>

#include <streamgauge/mark/range.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "injection.hpp"
#include "lines.hpp"

namespace sg = streamgauge;
using injection::take_calls;

namespace {

struct my_domain {
  static constexpr char const* name = "my_library";
};

// Tests come in any order; each takes the domain's making out of its way first.
void begin() {
  static_cast<void>(sg::domain_handle<my_domain>());
  static_cast<void>(sg::tool_attached());
  static_cast<void>(take_calls());
}

}  // namespace

static_assert(!std::is_copy_constructible_v<sg::scoped_range> && !std::is_move_constructible_v<sg::scoped_range>);
static_assert(!std::is_copy_assignable_v<sg::scoped_range> && !std::is_move_assignable_v<sg::scoped_range>);
static_assert(std::is_nothrow_constructible_v<sg::scoped_range, char const*>);
static_assert(std::is_nothrow_constructible_v<sg::scoped_range, std::string const&, sg::color, sg::payload>);
static_assert(std::is_nothrow_destructible_v<sg::scoped_range>);
static_assert(!std::is_copy_constructible_v<sg::range> && std::is_nothrow_move_constructible_v<sg::range>);
static_assert(std::is_nothrow_move_assignable_v<sg::range>);
static_assert(!std::is_default_constructible_v<sg::scoped_range>);
static_assert(!std::is_constructible_v<sg::scoped_range, int>);
// A name of one domain does not fit another.
static_assert(std::is_constructible_v<sg::scoped_range_in<my_domain>, sg::registered_name_in<my_domain> const&>);
static_assert(!std::is_constructible_v<sg::scoped_range, sg::registered_name_in<my_domain> const&>);

namespace {
template <class Type, class = void>
struct goes_on_the_heap : std::false_type {};
template <class Type>
struct goes_on_the_heap<Type, std::void_t<decltype(new Type{"x"})>> : std::true_type {};
}  // namespace
static_assert(!goes_on_the_heap<sg::scoped_range>::value && goes_on_the_heap<sg::range>::value);

TEST_CASE("a scoped range pushes when it is made and pops when it goes") {
  begin();
  {
    sg::scoped_range outer{"outer"};
    sg::scoped_range inner{"inner"};
  }
  CHECK(take_calls() == lines{"T0 push :outer", "T0 push :inner", "T0 pop :", "T0 pop :"});
}

TEST_CASE("colour, category and payload come in any order") {
  begin();
  std::size_t const bytes = 42;
  { sg::scoped_range r{"load", sg::color{0xff76b900}, sg::category{3}, sg::payload{bytes}}; }
  { sg::scoped_range_in<my_domain> r{"load", sg::payload{bytes}, sg::color{0xff76b900}}; }
  CHECK(take_calls() == lines{"T0 push :load color=ff76b900 category=3 payload=uint64:42", "T0 pop :",
                              "T0 push my_library:load color=ff76b900 payload=uint64:42", "T0 pop my_library:"});
}

TEST_CASE("a payload keeps the type and value of its number") {
  begin();
  sg::mark("p", sg::payload{std::int64_t{-5}});
  sg::mark("p", sg::payload{std::uint64_t{18446744073709551615U}});
  sg::mark("p", sg::payload{-7});
  sg::mark("p", sg::payload{4294967295U});
  sg::mark("p", sg::payload{0.5});
  sg::mark("p", sg::payload{0.25F});
  sg::mark("p", sg::payload{static_cast<short>(-3)});
  CHECK(take_calls() == lines{"T0 mark :p payload=int64:-5", "T0 mark :p payload=uint64:18446744073709551615",
                              "T0 mark :p payload=int32:-7", "T0 mark :p payload=uint32:4294967295",
                              "T0 mark :p payload=double:0.500000", "T0 mark :p payload=float:0.250000",
                              "T0 mark :p payload=int32:-3"});
}

TEST_CASE("marks go to the default domain or to a domain of one's own") {
  begin();
  static sg::registered_name_in<my_domain> const epoch{"epoch"};
  sg::mark("epoch");
  sg::mark(std::string{"epoch"} + " 2");
  sg::mark([] { return std::string_view{"epoch 3 and more"}.substr(0, 7); });
  sg::mark_in<my_domain>("epoch", sg::payload{4});
  sg::mark_in<my_domain>(epoch);
  sg::mark_in<my_domain>([] { return "epoch 6"; });
  CHECK(take_calls() == lines{"T0 mark :epoch", "T0 mark :epoch 2", "T0 mark :epoch 3",
                              "T0 mark my_library:epoch payload=int32:4", "T0 register my_library:epoch",
                              "T0 mark my_library:epoch registered", "T0 mark my_library:epoch 6"});
}

TEST_CASE("case-53: whatever a tool answers to push, every push is popped") {
  for (int const answer : {-2, -1, 0, 7}) {
    CAPTURE(answer);
    begin();
    injection::answer_pushes_with(answer);
    { sg::scoped_range r{"a"}; }
    { sg::scoped_range_in<my_domain> r{"b", sg::color{1}}; }
    sg::range_label const label{"c", 0xff50d0b0, sg::range_calls_in<my_domain>()};
    std::atomic<std::uint64_t> numbers{0};
    CHECK(label.pop(label.push(numbers)));
    injection::answer_pushes_with(0);
    CHECK(take_calls() == lines{"T0 push :a", "T0 pop :", "T0 push my_library:b color=00000001", "T0 pop my_library:",
                                "T0 register my_library:c", "T0 push my_library:c registered color=ff50d0b0 payload=uint64:0", "T0 pop my_library:"});
  }
}

TEST_CASE("case-34: an exception of the body pops the range exactly once and passes through") {
  begin();
  CHECK_THROWS_WITH_AS(
      [] {
        sg::scoped_range r{"body"};
        throw std::runtime_error{"the body's own"};
      }(),
      "the body's own", std::runtime_error);
  CHECK(take_calls() == lines{"T0 push :body", "T0 pop :"});
}

TEST_CASE("an exception of the callable that makes the name pushes nothing and passes through") {
  begin();
  auto const no_name = []() -> std::string { throw std::runtime_error{"no name"}; };
  CHECK_THROWS_AS([&] { sg::scoped_range r{no_name}; }(), std::runtime_error);
  CHECK(take_calls() == lines{});
}

TEST_CASE("case-55: a range starts on one thread and ends on another, once, under the same number") {
  begin();
  std::optional<sg::range> open{std::in_place, "request"};
  std::thread{[&] { open->end(); }}.join();
  open.reset();
  CHECK(take_calls() == lines{"T0 start #0 :request", "T1 end #0 :"});
}

TEST_CASE("case-55: a scoped range that is destroyed on another thread pops nothing there and is counted") {
  begin();
  auto const before = sg::misplaced_pops();
  std::optional<sg::scoped_range_in<my_domain>> strayed{std::in_place, "strayed"};
  std::thread{[&] { strayed.reset(); }}.join();
  CHECK(sg::misplaced_pops() == before + 1);
  CHECK(take_calls() ==
        lines{"T0 push my_library:strayed"});  // a push without its pop: the tool sees the stack unbalanced
}

TEST_CASE("case-55: tasks that interleave keep their ranges apart") {
  begin();
  sg::range_in<my_domain> a{"a"};
  sg::range_in<my_domain> b{"b"};
  a.end();
  b.end();
  CHECK(take_calls() == lines{"T0 start #0 my_library:a", "T0 start #1 my_library:b",
                              "T0 end #0 my_library:", "T0 end #1 my_library:"});
}

TEST_CASE("a range moves, ends twice harmlessly, and ends what it held when it is assigned to") {
  begin();
  auto open = sg::range{"first"};
  CHECK(open.is_open());
  auto moved = std::move(open);
  CHECK_FALSE(open.is_open());
  open.end();
  moved.end();
  moved.end();
  CHECK_FALSE(moved.is_open());
  CHECK(take_calls() == lines{"T0 start #0 :first", "T0 end #0 :"});

  sg::range a{"a"};
  sg::range b{"b", sg::category{9}};
  a = std::move(b);
  auto& same = a;
  a = std::move(same);
  CHECK(a.is_open());
  CHECK(take_calls() == lines{"T0 start #0 :a", "T0 start #1 :b category=9", "T0 end #0 :"});
  a.end();
  CHECK(take_calls() == lines{"T0 end #1 :"});
}

TEST_CASE("case-56: a stray pop in the default domain leaves a range of a named domain alone") {
  begin();
  {
    sg::scoped_range_in<my_domain> ours{"ours"};
    nvtxRangePop();
  }
  CHECK(take_calls() == lines{"T0 push my_library:ours", "T0 pop :", "T0 pop my_library:"});
}

TEST_CASE("case-62: a view ends where it ends, null is empty, and a name ends at its first NUL") {
  begin();
  std::string_view const view = "abcdef";
  using namespace std::string_view_literals;
  { sg::scoped_range r{view.substr(0, 3)}; }
  { sg::scoped_range r{std::string_view{}}; }
  { sg::scoped_range r{""}; }
  { sg::scoped_range r{nullptr}; }
  { sg::scoped_range r{static_cast<char const*>(nullptr), sg::color{2}}; }
  { sg::scoped_range r{"cut\0here"sv}; }
  { sg::scoped_range r{std::string("cut\0too", 7)}; }
  { sg::range r{view.substr(1, 2)}; }
  sg::mark_in<my_domain>(view.substr(4));
  CHECK(take_calls() == lines{"T0 push :abc", "T0 pop :", "T0 push :", "T0 pop :", "T0 push :", "T0 pop :", "T0 push :",
                              "T0 pop :", "T0 push : color=00000002", "T0 pop :", "T0 push :cut", "T0 pop :",
                              "T0 push :cut", "T0 pop :", "T0 start #0 :bc", "T0 end #0 :", "T0 mark my_library:ef"});
}

TEST_CASE("case-62: a view longer than the buffer arrives whole") {
  begin();
  for (std::size_t const length : {254U, 255U, 256U, 257U, 5000U}) {
    CAPTURE(length);
    std::string const text(length + 10, 'x');
    { sg::scoped_range r{std::string_view{text}.substr(0, length)}; }
    CHECK(take_calls() == lines{"T0 push :" + std::string(length, 'x'), "T0 pop :"});
  }
}

TEST_CASE("names that are worked out are sent as plain text") {
  begin();
  int const i = 7;
  {
    sg::scoped_range r{[&] { return "layer " + std::to_string(i); }, sg::color{3}};
  }
  {
    sg::range_in<my_domain> r{[&] { return "layer " + std::to_string(i); }};
  }
  CHECK(take_calls() == lines{"T0 push :layer 7 color=00000003", "T0 pop :", "T0 start #0 my_library:layer 7",
                              "T0 end #0 my_library:"});
}

TEST_CASE("a label pushes, pops, starts and ends in the domain it was made for, in its colour and with its number") {
  begin();
  sg::range_label const ours{"decode", 0xff50d0b0, sg::range_calls_in<my_domain>()};
  sg::range_label const plain{std::string{"decode"}, 0xff0000ff, sg::range_calls_in<sg::default_domain>()};
  std::atomic<std::uint64_t> numbers{7};
  CHECK(take_calls() == lines{});  // nothing before the first use
  auto const pushed = ours.push(numbers);
  auto const id = plain.start(numbers);
  CHECK(ours.pop(pushed));
  plain.end(id);
  CHECK(plain.pop(plain.push(numbers)));
  ours.end(ours.start(numbers));
  CHECK(take_calls() == lines{"T0 register my_library:decode",
                              "T0 push my_library:decode registered color=ff50d0b0 payload=uint64:7",
                              "T0 register :decode", "T0 start #0 :decode registered color=ff0000ff payload=uint64:8",
                              "T0 pop my_library:", "T0 end #0 :",
                              "T0 push :decode registered color=ff0000ff payload=uint64:9", "T0 pop :",
                              "T0 start #1 my_library:decode registered color=ff50d0b0 payload=uint64:10",
                              "T0 end #1 my_library:"});
}

TEST_CASE("case-55: a label popped on another thread pops nothing there and says so") {
  begin();
  sg::range_label const label{"phase", 0xff50d0b0, sg::range_calls_in<my_domain>()};
  std::atomic<std::uint64_t> numbers{0};
  auto const before = sg::misplaced_pops();
  auto const pushed = label.push(numbers);
  std::thread{[&] { CHECK_FALSE(label.pop(pushed)); }}.join();
  CHECK(sg::misplaced_pops() == before);  // whoever holds the label knows its name, and tells
  CHECK(take_calls() == lines{"T0 register my_library:phase",
                              "T0 push my_library:phase registered color=ff50d0b0 payload=uint64:0"});
}

namespace {

// How often each of these was left elsewhere so far: literals are told apart by their text here.
std::uint64_t times_left(char const* name) {
  std::uint64_t times = 0;
  for (auto const& each : sg::unbalanced_ranges())
    if (name == nullptr ? each.name == nullptr : each.name != nullptr && std::string{each.name} == name)
      times += each.count;
  return times;
}

template <class Name>
void leave_elsewhere(Name const& name) {
  std::optional<sg::scoped_range> strayed{std::in_place, name};
  std::thread{[&] { strayed.reset(); }}.join();
}

}  // namespace

TEST_CASE("case-55: ranges that were left elsewhere are named where the name lasts, and counted in any case") {
  begin();
  static sg::registered_name const registered{"left: registered"};
  auto const nameless = times_left(nullptr);
  auto const all = sg::misplaced_pops();
  for (int i = 0; i < 3; ++i) leave_elsewhere("left: literal");
  leave_elsewhere(registered);
  static char const array[] = "left: array";
  leave_elsewhere(array);
  CHECK(times_left("left: literal") == 3);
  CHECK(times_left("left: registered") == 1);
  CHECK(times_left("left: array") == 1);
  CHECK(times_left(nullptr) == nameless);
  CHECK(sg::misplaced_pops() == all + 5);
  // Of these the text may be gone by the time that somebody asks.
  struct settings {
    char name[16];
  };
  auto const before = times_left(nullptr);
  std::string const text{"left: text"};
  leave_elsewhere(text);
  leave_elsewhere(text.c_str());
  leave_elsewhere(std::string_view{text});
  leave_elsewhere([&] { return text; });
  {
    char buffer[] = "left: buffer";
    std::optional<sg::scoped_range> strayed{std::in_place, buffer};
    std::thread{[&] { strayed.reset(); }}.join();
  }
  {
    std::unique_ptr<settings const> const short_lived{new settings{"left: member"}};
    std::optional<sg::scoped_range> strayed{std::in_place, short_lived->name};
    std::thread{[&] { strayed.reset(); }}.join();
  }
  CHECK(times_left("left: text") == 0);
  CHECK(times_left("left: buffer") == 0);
  CHECK(times_left("left: member") == 0);
  CHECK(times_left(nullptr) == before + 6);
  CHECK(sg::misplaced_pops() == all + 11);
}

TEST_CASE("beyond the names that are kept, and by threads that race, every range that was left is counted") {
  sg::unbalanced_log log;
  static char const names[20][2] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k)
        for (auto const& name : names) log.note(name);
    });
  for (auto& each : threads) each.join();
  auto const found = log.read();
  REQUIRE(found.size() == 17);
  for (std::size_t i = 0; i < 16; ++i) CHECK(found[i].count == 4000);
  CHECK(found[16].name == nullptr);
  CHECK(found[16].count == 4 * 4000);
  CHECK(log.count() == 20 * 4000);
}
