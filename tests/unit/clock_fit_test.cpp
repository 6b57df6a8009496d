// Would go unseen without these: a bound that does not hold, so that a device moment stands where it never was; a bound that
// is wider than it must be; and clocks that contradict each other with a number all the same.
#include <streamgauge/analyze/clock_fit.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace sg = streamgauge;
using sg::clock_fit;
using sg::clock_window;
using sg::nanoseconds;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// No limit but what the case is about.
constexpr sg::clock_limits rigid{0, 0, nanoseconds{0}};
constexpr sg::clock_limits straight{300e-6, 0, nanoseconds{0}};

clock_window window(std::int64_t device, std::int64_t earliest, std::int64_t latest) { return {device, earliest, latest, 0}; }

// The host's time for a moment of a device's clock: an offset, a drift, and a drift that swings.
struct true_clocks {
  double offset = 5e12;
  double drift = 0;             // of the host against the device
  double swing = 0;             // how far the drift swings to each side
  double turn = 20;             // seconds from one end to the other and back

  [[nodiscard]] std::int64_t host(std::int64_t device) const {
    double const at = static_cast<double>(device) / 1e9;
    double const full = 2 * 3.14159265358979323846;
    // The swing's integral: its drift is swing * sin(full * at / turn).
    double const swung = swing * turn / full * (1 - std::cos(full * at / turn));
    return device + static_cast<std::int64_t>(std::llround(offset + 1e9 * (drift * at + swung)));
  }
  // By how much the drift changes in a second, at most.
  [[nodiscard]] double change() const { return swing * 2 * 3.14159265358979323846 / turn; }
};

}  // namespace

TEST_CASE("a window alone places its own moment in its middle, with half its width as the bound") {
  clock_fit<> const fit{{window(1000, 5000, 5600)}, rigid};
  auto const placed = fit.at(1000);
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{5300});
  CHECK(placed->bound == nanoseconds{301});  // rounded up to the next whole one
}

TEST_CASE("windows of clocks that do not drift intersect, wherever they lie") {
  clock_fit<> const fit{{window(0, 1000, 1600), window(second, second + 1200, second + 2000)}, rigid};
  auto const placed = fit.at(second / 2);
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{second / 2 + 1400});
  CHECK(placed->bound == nanoseconds{201});
}

TEST_CASE("one-sided windows bound from both sides together") {
  clock_fit<> const fit{{window(0, 700, clock_window::open_after), window(100, clock_window::open_before, 1000)}, rigid};
  auto const placed = fit.at(50);
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{50 + 800});
  CHECK(placed->bound == nanoseconds{101});
}

TEST_CASE("what is bounded from one side alone is not placed, and neither is anything without windows") {
  CHECK_FALSE(clock_fit<>{std::vector<clock_window>{}}.at(5));
  CHECK_FALSE(clock_fit<>{{window(0, 700, clock_window::open_after)}, rigid}.at(0));
  CHECK_FALSE(clock_fit<>{{window(0, clock_window::open_before, 700)}, rigid}.at(0));
}

TEST_CASE("with one window the bound grows by the most that the clocks may drift") {
  clock_fit<> const fit{{window(0, 1000, 1600)}, straight};
  auto const placed = fit.at(second / 1000);  // 300e-6 of a millisecond are 300 ns
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{second / 1000 + 1300});
  CHECK(placed->bound == nanoseconds{300 + 300 + 1});
}

TEST_CASE("between two windows the drift is a line: 3.5 us a second are followed, not averaged") {
  clock_fit<> const fit{{window(0, 0, 0), window(second, second + 3500, second + 3500)}, straight};
  for (std::int64_t const at : {second / 4, second / 2, 3 * second / 4}) {
    auto const placed = fit.at(at);
    REQUIRE(placed);
    CHECK(placed->host == nanoseconds{at + 3500 * at / second});
    CHECK(placed->bound == nanoseconds{1});
  }
  REQUIRE(fit.drift());
  CHECK(fit.drift()->rate == doctest::Approx(3.5e-6).epsilon(1e-12));
  CHECK(fit.drift()->bound == 0);
}

TEST_CASE("a drift is as sure as its two ends are, and the further they lie apart the surer") {
  // Offsets of +-500 ns at 0 and at 10 s, 30 us apart.
  clock_fit<> const fit{{window(0, -500, 500), window(10 * second, 10 * second + 29'500, 10 * second + 30'500)}, straight};
  REQUIRE(fit.drift());
  CHECK(fit.drift()->rate == doctest::Approx(3e-6).epsilon(1e-12));
  CHECK(fit.drift()->bound == doctest::Approx(0.1e-6).epsilon(1e-12));
  CHECK_FALSE(clock_fit<>{{window(0, -500, 500)}, straight}.drift());
  // What elapsed times are rounded by from the one to the other, and two readings of 64 ns, on 10 s.
  sg::clock_window late = window(10 * second, 10 * second + 29'500, 10 * second + 30'500);
  late.blur = 72;
  sg::clock_limits read = straight;
  read.resolution = nanoseconds{64};
  CHECK(clock_fit<>{{window(0, -500, 500), late}, straight}.drift()->bound == doctest::Approx(0.1072e-6).epsilon(1e-9));
  CHECK(clock_fit<>{{window(0, -500, 500), late}, read}.drift()->bound == doctest::Approx(0.1200e-6).epsilon(1e-9));
}

TEST_CASE("beyond the last window the line goes on, and the bound opens like a fan") {
  // Offsets of 0 +- 100 at 0 s and +- 100 at 1 s: at 2 s between 100 + 200 and the same below.
  clock_fit<> const fit{{window(0, -100, 100), window(second, second - 100, second + 100)}, straight};
  auto const placed = fit.at(2 * second);
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{2 * second});
  CHECK(placed->bound == nanoseconds{301});
}

TEST_CASE("a drift that may change widens the bound: an eighth of the change times the square of the distance") {
  sg::clock_limits limits = straight;
  limits.change_of_drift = 1e-6;
  clock_fit<> const fit{{window(0, 0, 0), window(second, second, second)}, limits};
  auto const placed = fit.at(second / 2);
  REQUIRE(placed);
  CHECK(placed->host == nanoseconds{second / 2});
  CHECK(placed->bound == nanoseconds{125 + 1});
}

TEST_CASE("a device reading that may be off against another widens what the other says, and not its own") {
  clock_window late = window(second, second, second);
  late.blur = 40;
  clock_fit<> const fit{{window(0, -10, 10), late}, rigid};
  REQUIRE(fit.at(second));
  CHECK(fit.at(second)->bound == nanoseconds{1});
  CHECK(fit.at(second)->host == nanoseconds{second});
  REQUIRE(fit.at(0));
  CHECK(fit.at(0)->bound == nanoseconds{11});
}

TEST_CASE("the resolution of the device's clock is part of every bound") {
  sg::clock_limits limits = rigid;
  limits.resolution = nanoseconds{64};
  CHECK(clock_fit<>{{window(0, 0, 0)}, limits}.at(0)->bound == nanoseconds{65});
}

TEST_CASE("windows that no clocks within the limits could show place nothing") {
  CHECK(clock_fit<>{{window(0, 0, 100), window(second, second + 500, second + 600)}, rigid}.contradicted());
  CHECK_FALSE(clock_fit<>{{window(0, 0, 100), window(second, second + 500, second + 600)}, rigid}.at(0));
  CHECK_FALSE(clock_fit<>{{window(0, 0, 100), window(second, second + 500, second + 600)}, straight}.contradicted());
  // The host's clock was set forward by a millisecond between two windows.
  std::vector<clock_window> jumped;
  for (std::int64_t i = 0; i < 20; ++i) {
    std::int64_t const at = i * second / 10;
    std::int64_t const host = at + (i < 10 ? 0 : second / 1000);
    jumped.push_back(window(at, host - 2000, host + 2000));
  }
  CHECK(clock_fit<>{jumped}.contradicted());
}

TEST_CASE("the order of the windows does not matter, and two of one moment both count") {
  std::vector<clock_window> windows;
  for (std::int64_t i = 0; i < 40; ++i) windows.push_back(window(i * second / 10, i * second / 10 + 3 * i, i * second / 10 + 900 + 2 * i));
  windows.push_back(window(2 * second, 2 * second + 100, 2 * second + 700));
  clock_fit<> const forth{windows};
  std::vector<clock_window> const turned{windows.rbegin(), windows.rend()};
  clock_fit<> const back{turned};
  for (std::int64_t at = -second; at < 6 * second; at += second / 7) {
    REQUIRE(forth.at(at));
    REQUIRE(back.at(at));
    CHECK(forth.at(at)->host == back.at(at)->host);
    CHECK(forth.at(at)->bound == back.at(at)->bound);
  }
  REQUIRE(forth.at(2 * second));
  CHECK(forth.at(2 * second)->bound < nanoseconds{301 + 65});
}

TEST_CASE("the bound always holds: skew, drifts to 200 ppm, drifts that change, jitter, windows of one side") {
  std::mt19937_64 dice{20261130};
  auto const between = [&dice](double low, double high) {
    return low + (high - low) * static_cast<double>(dice() >> 11) / 9007199254740992.0;
  };
  std::size_t placed_count = 0;
  double widest_at_rest = 0;
  for (int round = 0; round < 300; ++round) {
    true_clocks clocks;
    clocks.offset = between(-1e15, 1e15);
    clocks.drift = between(-200e-6, 200e-6);
    clocks.turn = between(2, 60);
    clocks.swing = between(0, 1e-6) * clocks.turn / 6.2831853072;
    double const most_apart = between(0.05, 2);
    std::vector<clock_window> windows;
    for (double at = 0; at < 20; at += between(0.01, most_apart)) {
      auto const device = static_cast<std::int64_t>(at * 1e9);
      std::int64_t const host = clocks.host(device);
      auto const early = static_cast<std::int64_t>(between(1500, 4000) + (dice() % 10 == 0 ? between(0, 1e6) : 0));
      auto const late = static_cast<std::int64_t>(between(800, 3000) + (dice() % 10 == 0 ? between(0, 1e6) : 0));
      windows.push_back(window(device, host - early, host + late));
      if (dice() % 3 == 0)
        windows.push_back(window(device + 12345, clocks.host(device + 12345) - static_cast<std::int64_t>(between(0, 5000)), clock_window::open_after));
      if (dice() % 3 == 0)
        windows.push_back(window(device + 23456, clock_window::open_before, clocks.host(device + 23456) + static_cast<std::int64_t>(between(0, 5000))));
    }
    REQUIRE(clocks.change() <= 1e-6 * 1.0000001);
    clock_fit<> const fit{windows};
    REQUIRE_FALSE(fit.contradicted());
    for (int i = 0; i < 200; ++i) {
      auto const device = static_cast<std::int64_t>(between(-1e9, 22e9));
      auto const placed = fit.at(device);
      REQUIRE(placed);
      std::int64_t const off = placed->host.count() - clocks.host(device);
      REQUIRE((off < 0 ? -off : off) <= placed->bound.count());
      ++placed_count;
      bool const inside = device > second && device < 18 * second && most_apart < 1;
      if (inside) widest_at_rest = (std::max)(widest_at_rest, static_cast<double>(placed->bound.count()));
    }
  }
  CHECK(placed_count == 60000);
  // Windows of 2.3 to 7 us, at least one a second: the half-width stays below the widest window's.
  CHECK(widest_at_rest < 4000);
}
