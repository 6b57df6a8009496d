// Would go unseen without these: a reading that turns into a sentinel, a reason that is lost or has no words, a sample
// that outgrows its 80 bytes.
#include <streamgauge/sample.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

namespace sg = streamgauge;

static_assert(sizeof(sg::observation) == 8);
static_assert(sizeof(sg::sample) <= 88);
static_assert(std::is_trivially_copyable_v<sg::sample>);
static_assert(!std::is_convertible_v<int, sg::observation>, "a bare number is no observation");

TEST_CASE("an observation gives back its value and says that nothing is missing") {
  sg::observation const seen{sg::nanoseconds{1280}};
  CHECK(seen.known());
  CHECK(seen.value() == sg::nanoseconds{1280});
  CHECK(seen.why_absent() == sg::absence::none);
}

TEST_CASE("zero and the largest count are values like any other") {
  auto const most = sg::nanoseconds{(std::numeric_limits<std::int64_t>::max)()};
  CHECK(sg::observation{sg::nanoseconds{0}}.value() == sg::nanoseconds{0});
  CHECK(sg::observation{most}.value() == most);
}

TEST_CASE("a reading below zero is absent and says so") {
  for (auto const count : {std::int64_t{-1}, std::int64_t{-5}, (std::numeric_limits<std::int64_t>::min)()}) {
    sg::observation const seen{sg::nanoseconds{count}};
    CHECK_FALSE(seen.known());
    CHECK_FALSE(seen.value().has_value());
    CHECK(seen.why_absent() == sg::absence::negative);
  }
}

TEST_CASE("every reason of absence survives, has words of its own and exactly one fate") {
  std::set<std::string> words;
  int kept = 0;
  int dropped = 0;
  int incomplete = 0;
  int not_asked = 0;
  auto const last = static_cast<int>(sg::absence::negative);
  for (int i = 0; i <= last; ++i) {
    auto const why = static_cast<sg::absence>(i);
    words.insert(sg::describe(why));
    switch (sg::fate_of(why)) {
      case sg::fate::kept: ++kept; break;
      case sg::fate::dropped: ++dropped; break;
      case sg::fate::incomplete: ++incomplete; break;
      case sg::fate::not_asked: ++not_asked; break;
    }
    if (why == sg::absence::none) continue;
    sg::observation const seen{why};
    CHECK_FALSE(seen.known());
    CHECK(seen.why_absent() == why);
    CHECK(seen != sg::observation{sg::nanoseconds{i}});
  }
  CHECK(words.size() == static_cast<std::size_t>(last) + 1);
  CHECK(words.count("unknown") == 0);
  CHECK(kept == 1);
  CHECK(not_asked == 2);
  CHECK(incomplete == 2);
  CHECK(dropped == last + 1 - 5);
}

TEST_CASE("negative is the last reason, which the accounts rely on for their size") {
  auto const beyond = static_cast<sg::absence>(static_cast<int>(sg::absence::negative) + 1);
  CHECK(std::string{sg::describe(beyond)} == "unknown");
}

TEST_CASE("a fresh sample asks for nothing") {
  sg::sample const fresh;
  CHECK(fresh.submit.why_absent() == sg::absence::not_asked);
  CHECK(fresh.device.why_absent() == sg::absence::not_asked);
  CHECK(fresh.completion.why_absent() == sg::absence::not_asked);
  CHECK_FALSE(fresh.parent.has_value());
}

TEST_CASE("conditions are equal when key and value are") {
  CHECK(sg::condition{"dtype", "f32"} == sg::condition{"dtype", "f32"});
  CHECK_FALSE(sg::condition{"dtype", "f32"} == sg::condition{"dtype", "f16"});
  CHECK_FALSE(sg::condition{"dtype", "f32"} == sg::condition{"mode", "f32"});
}
