// Writes traces of recordings that were made up, for traces.py to read: each behind a line that says what it has to hold.
// One with a bit of everything first, then a thousand random ones, the same in every run.
#include <cstdio>
#include <random>
#include <string>

#include <streamgauge/report/trace.hpp>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

// No distribution of the standard library's: they differ from one to the next.
class draws {
 public:
  explicit draws(std::uint64_t seed) : bits_{seed} {}
  /// 0 to `below`, without it.
  std::int64_t number(std::int64_t below) { return static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(below)); }
  /// Once in so many.
  bool once_in(std::int64_t many) { return number(many) == 0; }

 private:
  std::mt19937_64 bits_;
};

char const* const names[] = {"gemm", "copy", "quote\" and \\", "line\nbreak\x01", ("A\xff" "B"), "\xe2\x82\xac", "", "\xed\xa0\x80"};

void frame(sg::recording& of, draws& random) {
  int const devices = 1 + static_cast<int>(random.number(2));
  std::int64_t const streams = 1 + random.number(4);
  for (std::int64_t i = 0; i < streams; ++i)
    of.streams.push_back({static_cast<int>(random.number(devices + 1)) - (random.once_in(5) ? 1 : 0),
                          static_cast<std::uint64_t>(random.number(1 << 20)), static_cast<sg::stream_kind>(random.number(3))});
  for (int i = 0; i < devices; ++i) {
    of.clocks.emplace_back();
    of.clocks.back().device = i;
    of.clocks.back().anchors = static_cast<std::uint64_t>(random.number(12));
    if (random.once_in(2)) of.clocks.back().drift = static_cast<double>(random.number(20000) - 10000) * 1e-9;
    of.environment.devices.emplace_back();
    of.environment.devices.back().ordinal = i;
    if (random.once_in(2)) of.environment.devices.back().name = names[random.number(8)];
    std::int64_t const readings = random.number(4);
    for (std::int64_t j = 0; j < readings; ++j) {
      of.environment.devices.back().readings.emplace_back();
      auto& one = of.environment.devices.back().readings.back();
      one.at = nanoseconds{random.number(3'000'000)};
      if (random.once_in(2)) one.sm_mhz = 345 + static_cast<std::uint32_t>(random.number(1700));
      if (random.once_in(2)) one.memory_mhz = 3201;
    }
  }
  std::int64_t const phases = 1 + random.number(5);
  for (std::int64_t i = 0; i < phases; ++i) {
    of.all.emplace_back();
    of.all.back().phase = names[random.number(8)];
    if (random.once_in(3)) of.all.back().conditions = {{"dtype", names[random.number(8)]}, {"rows", std::to_string(i)}};
  }
}

sg::absence missing(draws& random) {
  return static_cast<sg::absence>(1 + random.number(static_cast<std::int64_t>(sg::absence_count) - 1));
}

// What a program does: phases that nest and follow on each thread, device work behind each other on each stream, and places
// that are off by as much as their bounds.
void play(sg::recording& of, draws& random) {
  std::int64_t const origin = random.once_in(3) ? 2'592'000'000'000'000 : 0;
  std::vector<std::int64_t> free(of.streams.size(), origin);
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    std::int64_t now = origin + random.number(5000);
    std::int64_t const steps = random.number(12);
    for (std::int64_t step = 0; step < steps; ++step) {
      auto const stream = static_cast<std::uint32_t>(random.number(static_cast<std::int64_t>(of.streams.size())));
      std::int64_t const inside = random.number(4);
      std::int64_t const bound = random.number(3000);
      std::int64_t const entered = now;
      std::int64_t begin = free[stream] > now ? free[stream] : now;
      std::int64_t const outer_begin = begin;
      std::vector<sg::sample> inner;
      for (std::int64_t i = 0; i < inside; ++i) {
        sg::sample one;
        if (begin < now) begin = now;
        std::int64_t const jitter = random.number(2 * bound + 1) - bound;
        one.entered = nanoseconds{now};
        one.submit = nanoseconds{random.number(4000)};
        one.device = nanoseconds{random.number(20'000)};
        std::int64_t const placed = begin + jitter < now ? now : begin + jitter;
        one.queue = nanoseconds{placed - now};
        begin += one.device.value()->count();
        now += one.submit.value()->count() + random.number(500);
        one.parent = 0;
        inner.push_back(one);
      }
      sg::sample outer;
      outer.entered = nanoseconds{entered};
      outer.submit = nanoseconds{now - entered};
      outer.queue = nanoseconds{outer_begin - entered};
      outer.device = nanoseconds{begin - outer_begin + random.number(100)};
      free[stream] = outer_begin + outer.device.value()->count();
      if (random.once_in(3)) {
        std::int64_t const end = free[stream] > now ? free[stream] : now;
        outer.completion = nanoseconds{end - entered + random.number(9000)};
        outer.waited = random.once_in(2) ? sg::wait_policy::spin : sg::wait_policy::block;
        now = entered + outer.completion.value()->count();
      }
      inner.push_back(outer);
      for (std::size_t i = 0; i < inner.size(); ++i) {
        inner[i].thread = thread;
        inner[i].stream = stream + 1;
        inner[i].bound = nanoseconds{bound};
        inner[i].warmup = step < 2;
        bool const is_outer = i + 1 == inner.size();
        std::size_t const phase = is_outer || of.all.size() == 1 ? 0 : 1 + i % (of.all.size() - 1);
        of.all[phase].samples.push_back(inner[i]);
      }
      now += random.number(3000);
    }
  }
  for (auto& each : of.all)  // as recorders have them
    sg::put_in_order(each.samples, [](auto const& a, auto const& b) { return a.entered < b.entered; });
}

// Anything at all: what overlaps, what contradicts itself, what is missing.
void scatter(sg::recording& of, draws& random) {
  std::int64_t const span = random.once_in(2) ? 100'000 : 40'000'000'000;
  for (auto& each : of.all) {
    std::int64_t const count = random.number(30);
    for (std::int64_t i = 0; i < count; ++i) {
      sg::sample one;
      one.entered = nanoseconds{random.number(span)};
      one.submit = random.once_in(5) ? sg::observation{missing(random)} : sg::observation{nanoseconds{random.number(30'000)}};
      one.device = random.once_in(5) ? sg::observation{missing(random)} : sg::observation{nanoseconds{random.number(30'000)}};
      one.queue = random.once_in(5) ? sg::observation{missing(random)} : sg::observation{nanoseconds{random.number(30'000)}};
      if (random.once_in(3)) one.completion = nanoseconds{random.number(90'000)};
      one.bound = nanoseconds{random.number(5000)};
      one.thread = static_cast<std::uint32_t>(random.number(3));
      one.stream = static_cast<std::uint32_t>(random.number(static_cast<std::int64_t>(of.streams.size()) + 2));
      if (random.once_in(3)) one.parent = static_cast<std::uint32_t>(random.number(static_cast<std::int64_t>(of.all.size()) + 1));
      one.warmup = random.once_in(4);
      one.watched = random.once_in(9);
      if (random.once_in(6)) {
        one.part = random.once_in(2) ? sg::span_part::whole : sg::span_part::branch;
        one.span = static_cast<std::uint32_t>(random.number(6));
        if (one.part == sg::span_part::whole) one.stream = 0;
      }
      each.samples.push_back(one);
    }
  }
  if (random.once_in(20)) of.all[0].runs = 2;
  if (random.once_in(9)) of.all[0].lost = 3;
  if (random.once_in(9)) of.problems.push_back({names[random.number(8)], names[random.number(8)], 0, 2});
  if (random.once_in(9)) of.clocks.clear();
}

// As told by the recording itself, not by what draws it.
void write(char const* name, std::int64_t number, sg::recording const& of) {
  std::size_t host = 0, waits = 0, device = 0, warm = 0, left_out = 0, samples = 0;
  std::uint64_t lost = 0;
  bool merged = false;
  for (auto const& each : of.all) {
    merged = merged || each.runs > 1;
    lost += each.lost;
    samples += each.samples.size();
    for (auto const& one : each.samples) {
      bool const drawn = one.device.known() && one.queue.known() &&
                         (one.part == sg::span_part::whole || (one.stream != 0 && one.stream <= of.streams.size()));
      bool const wait = one.submit.known() && one.completion.known() && *one.completion.value() > *one.submit.value();
      bool const asked = one.device.known() || sg::fate_of(one.device.why_absent()) != sg::fate::not_asked;
      host += one.submit.known() ? 1U : 0U;
      waits += wait ? 1U : 0U;
      device += drawn ? 1U : 0U;
      left_out += asked && !drawn ? 1U : 0U;
      if (one.warmup) warm += (one.submit.known() ? 1U : 0U) + (wait ? 1U : 0U) + (drawn ? 1U : 0U);
    }
  }
  if (merged) host = waits = device = warm = 0, left_out = samples;
  std::printf("### %s %lld host=%zu wait=%zu device=%zu warmup=%zu left_out=%zu\n%s", name, static_cast<long long>(number),
              host, waits, device, warm, left_out + static_cast<std::size_t>(lost), sg::report::trace_of(of).c_str());
}

}  // namespace

int main() {
  {
    draws random{7};
    sg::recording of;
    frame(of, random);
    for (auto& each : of.clocks) each.anchors = 10;
    of.streams = {{0, 0x70, sg::stream_kind::made}, {1, 0x70, sg::stream_kind::legacy}};
    play(of, random);
    play(of, random);
    write("first", 0, of);
  }
  for (std::int64_t i = 0; i < 1000; ++i) {
    draws random{static_cast<std::uint64_t>(1000 + i)};
    sg::recording of;
    frame(of, random);
    i % 2 == 0 ? play(of, random) : scatter(of, random);
    write(i % 2 == 0 ? "played" : "scattered", i, of);
  }
}
