// Random series of many kinds: whatever the numbers are, nothing crashes, nothing is NaN or infinite, and what must hold
// holds. What a rule does not think of is found here.

#include <streamgauge/analyze/collector.hpp>
#include <streamgauge/analyze/comparison.hpp>
#include <streamgauge/analyze/number_summary.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/stopping.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sg = streamgauge;

namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 4000;
#else
constexpr int rounds = 600;
#endif

using integers = std::vector<std::int64_t>;

/// A series of a kind that the numbers of the generator choose.
integers drawn(std::mt19937_64& random) {
  auto const below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random() % limit); };
  auto const count = static_cast<std::size_t>(below(4) == 0 ? below(12) : below(400));
  std::int64_t const level = std::int64_t{1} << below(62);
  auto const spread = 1 + static_cast<std::uint64_t>(level) / (1 + static_cast<std::uint64_t>(below(1000)));
  auto const kind = below(8);
  integers made;
  std::int64_t walk = level;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = level / 2 + below(spread);
    if (kind == 0) value = level;                                            // all equal
    if (kind == 1) value = below(3) * level / 2;                             // few values, zero among them
    if (kind == 2 && i > count / 2) value += level / 4;                      // a step
    if (kind == 3) value += static_cast<std::int64_t>(i) * (level / 1000);   // a drift
    if (kind == 4 && below(20) == 0) value += level / 2;                     // outliers
    if (kind == 5) value = walk = walk / 2 + walk / 4 + below(spread) / 4;   // a walk
    if (kind == 6) value = static_cast<std::int64_t>(random() >> 1U);        // anything at all
    if (kind == 7) value = i < 3 ? level : below(4);                         // next to nothing behind a large head
    made.push_back(value < 0 ? 0 : value);
  }
  return made;
}

template <class Value>
bool sound(std::optional<Value> const& value) {
  return !value || std::isfinite(static_cast<double>(*value));
}

template <class T>
void check(sg::number_statistics<T> const& of, std::size_t count) {
  CHECK(of.count == count);
  CHECK(of.median.has_value() == (count > 0));
  bool good = sound(of.median) && sound(of.q05) && sound(of.q25) && sound(of.q75) && sound(of.q95) && sound(of.q99) &&
              sound(of.iqr) && sound(of.mad) && sound(of.mean) && sound(of.sample_stddev) && sound(of.drift.share) &&
              std::isfinite(of.confidence.correlation.factor) && of.confidence.correlation.factor >= 1.0;
  if (count > 0) {
    auto const low = static_cast<double>(*of.minimum);
    auto const high = static_cast<double>(*of.maximum);
    good = good && low <= *of.q05 && *of.q05 <= *of.q25 && *of.q25 <= *of.median && *of.median <= *of.q75 &&
           *of.q75 <= *of.q95 && *of.q95 <= *of.q99 && *of.q99 <= high;
    good = good && low <= *of.mean * (1 + 1e-12) && *of.mean <= high * (1 + 1e-12);
    good = good && of.outlying && of.outlying->worst_index < count && of.outlying->beyond_3_iqr.count() <= of.outlying->beyond_1_5_iqr.count();
  }
  if (of.confidence.interval) {
    good = good && static_cast<double>(of.confidence.interval->low) <= *of.median;
    good = good && *of.median <= static_cast<double>(of.confidence.interval->high);
    good = good && of.confidence.interval->low <= of.confidence.plain->low;
  }
  CHECK(good);
}

}  // namespace

TEST_CASE("random series have sound summaries, and scaling them by two scales the answer") {
  std::mt19937_64 random{20260};
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    auto const values = drawn(random);
    auto const found = sg::summarize(values);
    check(found.all, values.size());
    auto const start = found.steadiness.start;
    CHECK(start.has_value() == (found.steadiness.verdict == sg::steadiness::yes));
    check(found.warmup, start.value_or(0));
    check(found.steady, start ? values.size() - *start : 0);
    CHECK_FALSE(sg::describe(found.steadiness).empty());
    std::vector<double> doubled;
    for (auto const value : values) doubled.push_back(2.0 * static_cast<double>(value));
    std::vector<double> const reals(values.begin(), values.end());
    auto const once = sg::summarize(reals);
    auto const twice = sg::summarize(doubled);
    CHECK(once.steadiness.verdict == twice.steadiness.verdict);
    CHECK(once.steadiness.start == twice.steadiness.start);
    if (once.all.median) CHECK(*twice.all.median == 2.0 * *once.all.median);
    if (once.all.iqr && twice.all.iqr) CHECK(*twice.all.iqr == 2.0 * *once.all.iqr);
  }
}

TEST_CASE("random comparisons are sound, and the other way round they say the opposite") {
  std::mt19937_64 random{20261};
  auto const opposite = [](sg::verdict of) {
    return of == sg::verdict::faster ? sg::verdict::slower : of == sg::verdict::slower ? sg::verdict::faster : of;
  };
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    auto const a = drawn(random);
    auto const b = random() % 2 == 0 ? drawn(random) : a;
    auto const there = sg::compare(a, b);
    auto const back = sg::compare(b, a);
    CHECK(back.verdict == opposite(there.verdict));
    CHECK(sound(there.ratio));
    CHECK_FALSE(there.reason.empty());
    if (there.interval) CHECK((there.interval->low <= *there.ratio && *there.ratio <= there.interval->high));
    if (a == b) CHECK((there.verdict == sg::verdict::same || there.verdict == sg::verdict::inconclusive));
  }
}

TEST_CASE("random numbers, good and bad, in a collector: what was offered was taken or counted, and merging adds up") {
  std::mt19937_64 random{20262};
  for (int round = 0; round < rounds / 10; ++round) {
    sg::collector whole, first, second;
    std::uint64_t offered = 0;
    for (int part = 0; part < 4; ++part) {
      for (auto const value : drawn(random)) {
        double number = static_cast<double>(value);
        auto const bad = random() % 50;
        if (bad == 0) number = std::nan("");
        if (bad == 1) number = -number - 1.0;
        if (bad == 2) number = HUGE_VAL;
        static_cast<void>(whole.add(number));
        static_cast<void>((part % 2 == 0 ? first : second).add(number));
        ++offered;
      }
    }
    CHECK(whole.count() + whole.rejected() == offered);
    CHECK(first.merge(second) == sg::merge_outcome::done);
    CHECK(first.count() == whole.count());
    CHECK(first.rejected() == whole.rejected());
    CHECK(first.sum() == whole.sum());
    CHECK(first.minimum() == whole.minimum());
    CHECK(first.maximum() == whole.maximum());
    CHECK(first.median() == whole.median());
  }
}
