// Would go unseen without these: a rate above what the device can do that looks like a good one, a roof without a source,
// bytes that were counted with empty caches beside times of full ones, and "unknown" that counts as 0.

#include <streamgauge/analyze/roofline.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>

#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/report/roofline_table.hpp>

namespace sg = streamgauge;
using sg::fractional_nanoseconds;
using sg::limiting_roof;
using sg::nanoseconds;
using sg::report::four_digits;
using sg::report::in_percent;
using sg::report::with_prefix;

namespace {

double const nan = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();

// 1 Tflop/s and 100 GB/s: they meet at 10 operations a byte.
sg::device_roofs plain_roofs() {
  sg::device_roofs roofs;
  roofs.flops = sg::given_roof(1e12, "by hand");
  roofs.bytes = sg::given_roof(100e9, "by hand");
  return roofs;
}

sg::declared_work work(double flops, double read, double written) { return {flops, read, written}; }

sg::device_description h200() {
  sg::device_description device;
  device.ordinal = 2;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.most_sm_mhz = 1980;
  device.most_memory_mhz = 3201;
  device.memory_bus_bits = 6144;
  return device;
}

// A series whose device times are all the same.
sg::series constant(char const* phase, std::int64_t ns, std::optional<sg::declared_work> declared) {
  sg::series of;
  of.phase = phase;
  of.work = declared;
  for (int i = 0; i < 40; ++i) {
    sg::sample one;
    one.entered = nanoseconds{i * 1'000'000};
    one.submit = nanoseconds{2000};
    one.device = nanoseconds{ns};
    one.stream = 1;
    of.samples.push_back(one);
  }
  return of;
}

sg::recording of_series(std::vector<sg::series> all) {
  sg::recording of;
  of.all = std::move(all);
  of.streams = {{0, 0x70, sg::stream_kind::made}, {1, 0x70, sg::stream_kind::made}};
  return of;
}

std::string table_of(sg::roofline const& of) {
  std::ostringstream text;
  sg::report::roofline_table(text, of);
  return text.str();
}

// Whether a text holds a part, wherever its lines were broken.
bool has(std::string text, std::string const& part) {
  for (auto at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    auto const word = text.find_first_not_of(' ', at + 1);
    text.replace(at, word - at, " ");
  }
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the roofs of an H200 follow from its attributes, each with its source") {
  auto const roofs = sg::roofs_of(h200());
  // 132 multiprocessors of 128 cores, 2 operations a cycle of 1.98 GHz; 2 transfers a cycle of 3.201 GHz on 768 bytes.
  CHECK(roofs.flops.per_second == doctest::Approx(66.90816e12).epsilon(1e-12));
  CHECK(roofs.bytes.per_second == doctest::Approx(4.916736e12).epsilon(1e-12));
  CHECK(roofs.flops.source == "from the device's attributes: FP32 without tensor cores");
  CHECK(roofs.bytes.source == "from the device's attributes: twice the memory's clock times the width of its bus");
  CHECK(roofs.flops.origin == sg::roof_origin::attributes);
  CHECK(roofs.device == 2);
}

TEST_CASE("the cores of documented architectures are known, and of no other") {
  CHECK(sg::fp32_cores(70) == 64);
  CHECK(sg::fp32_cores(80) == 64);
  CHECK(sg::fp32_cores(86) == 128);
  CHECK(sg::fp32_cores(90) == 128);
  CHECK(sg::fp32_cores(100) == 128);
  CHECK(sg::fp32_cores(120) == 128);
  for (int other : {0, 37, 91, 99, 130, 200, -1}) CHECK_FALSE(sg::fp32_cores(other));
}

TEST_CASE("a roof whose attributes are not all known is absent, with the one that is missing") {
  auto device = h200();
  device.compute_capability = 135;
  device.memory_bus_bits.reset();
  auto roofs = sg::roofs_of(device);
  CHECK_FALSE(roofs.flops.per_second);
  CHECK(roofs.flops.why_not == "compute capability 13.5 is not in the list of architectures");
  CHECK_FALSE(roofs.bytes.per_second);
  CHECK(roofs.bytes.why_not == "the device does not tell the width of its memory's bus");
  CHECK_FALSE(roofs.bytes.source.empty());
  roofs = sg::roofs_of(sg::device_description{});
  CHECK(roofs.flops.why_not == "the device does not tell its compute capability");
  CHECK(roofs.bytes.why_not == "the device does not tell its memory's clock");
  device = h200();
  device.most_sm_mhz = 0;
  CHECK(sg::roofs_of(device).flops.why_not == "the device does not tell its highest clock");
  device.multiprocessors = 0;
  CHECK(sg::roofs_of(device).flops.why_not == "the device does not tell how many multiprocessors it has");
}

TEST_CASE("a roof of the user or of a measurement names its source, and what is no rate is none") {
  CHECK(sg::given_roof(989e12, "the data sheet").per_second == 989e12);
  CHECK(sg::given_roof(989e12, "the data sheet").source == "given: the data sheet");
  CHECK(sg::given_roof(1, "").source == "given: by the program, which names no source");
  // 4 GB within 1 ms.
  auto const copied = sg::measured_roof(4e9, fractional_nanoseconds{1e6}, "a copy");
  CHECK(copied.per_second == doctest::Approx(4e12));
  CHECK(copied.source == "measured: a copy");
  CHECK(copied.origin == sg::roof_origin::measured);
  for (double bad : {0.0, -1.0, nan, infinity}) {
    CHECK_FALSE(sg::given_roof(bad, "x").per_second);
    CHECK(sg::given_roof(bad, "x").why_not == "what was given is no rate above 0");
    CHECK_FALSE(sg::measured_roof(bad, fractional_nanoseconds{1}, "x").per_second);
    CHECK_FALSE(sg::measured_roof(1, fractional_nanoseconds{bad}, "x").per_second);
    CHECK_FALSE(sg::measured_roof(1, fractional_nanoseconds{bad}, "x").why_not.empty());
  }
}

TEST_CASE("rates, intensity, ridge and shares of work below the ridge: the memory limits") {
  // 1 Mflop, 300 kB read and 100 kB written in 10 us: 100 Gflop/s, 40 GB/s, 2.5 flop/B.
  auto const at = sg::roofline_of(nanoseconds{10'000}, work(1e6, 3e5, 1e5), plain_roofs());
  CHECK(at.flops_per_second == doctest::Approx(1e11));
  CHECK(at.bytes_per_second == doctest::Approx(4e10));
  CHECK(at.intensity == doctest::Approx(2.5));
  CHECK(at.ridge == doctest::Approx(10.0));
  CHECK(at.share_of_flops == doctest::Approx(0.1));
  CHECK(at.share_of_bytes == doctest::Approx(0.4));
  CHECK(at.limit == limiting_roof::memory);
  CHECK(at.share == at.share_of_bytes);
  CHECK_FALSE(at.above_flops);
  CHECK_FALSE(at.above_bytes);
  CHECK(at.missing.empty());
}

TEST_CASE("above the ridge, and on it, the arithmetic limits") {
  auto const beyond = sg::roofline_of(nanoseconds{10'000}, work(5e6, 1e5, 1e5), plain_roofs());
  CHECK(beyond.intensity == doctest::Approx(25.0));
  CHECK(beyond.limit == limiting_roof::arithmetic);
  CHECK(beyond.share == doctest::Approx(0.5));
  CHECK(sg::roofline_of(nanoseconds{10'000}, work(2e6, 1e5, 1e5), plain_roofs()).limit == limiting_roof::arithmetic);
  // Without any byte there is no intensity, and nothing but the arithmetic left.
  auto const alone = sg::roofline_of(nanoseconds{10'000}, work(5e6, 0, 0), plain_roofs());
  CHECK_FALSE(alone.intensity);
  CHECK(alone.limit == limiting_roof::arithmetic);
  CHECK(alone.bytes_per_second == 0.0);
  // A copy has no operations: intensity 0.
  auto const copy = sg::roofline_of(nanoseconds{10'000}, work(0, 2e5, 2e5), plain_roofs());
  CHECK(copy.intensity == 0.0);
  CHECK(copy.limit == limiting_roof::memory);
  CHECK(sg::roofline_of(nanoseconds{10'000}, work(0, 0, 0), plain_roofs()).limit == limiting_roof::unknown);
}

TEST_CASE("a rate above its roof is flagged; a measured roof leaves a little for what reaches more than it did") {
  // 12 Mflop in 10 us is 1.2 times the roof; 1.1 MB is 1.1 times.
  auto at = sg::roofline_of(nanoseconds{10'000}, work(12e6, 1e5, 1e5), plain_roofs());
  CHECK(at.above_flops);
  CHECK_FALSE(at.above_bytes);
  at = sg::roofline_of(nanoseconds{10'000}, work(1e6, 1e6, 1e5), plain_roofs());
  CHECK_FALSE(at.above_flops);
  CHECK(at.above_bytes);
  auto roofs = plain_roofs();
  CHECK_FALSE(sg::roofline_of(nanoseconds{10'000}, work(1e6, 9e5, 1e5), roofs).above_bytes);  // on the roof
  CHECK(sg::roofline_of(nanoseconds{10'000}, work(1e6, 9e5, 1.3e5), roofs).above_bytes);
  roofs.bytes = sg::measured_roof(100e9, fractional_nanoseconds{1e9}, "a copy");
  CHECK_FALSE(sg::roofline_of(nanoseconds{10'000}, work(1e6, 9e5, 1.3e5), roofs).above_bytes);
  CHECK(sg::roofline_of(nanoseconds{10'000}, work(1e6, 9e5, 1.6e5), roofs).above_bytes);
}

TEST_CASE("what is not declared is absent with what to add, and is never 0") {
  auto const first = [](sg::declared_work const& of, sg::device_roofs const& roofs = plain_roofs()) {
    auto const at = sg::roofline_of(nanoseconds{10'000}, of, roofs);
    REQUIRE_FALSE(at.missing.empty());
    CHECK_FALSE(at.intensity);
    CHECK(at.limit == limiting_roof::unknown);
    CHECK_FALSE(at.share);
    return at.missing.front();
  };
  CHECK(first({std::nullopt, 1.0, 1.0}) == "no operations are declared: flops(), 0 if there are none");
  CHECK(first({1.0, 1.0, std::nullopt}) == "no bytes written are declared: writes(), 0 if there are none");
  CHECK(first({1.0, std::nullopt, 1.0}) == "no bytes read are declared: reads(), 0 if there are none");
  CHECK(first({1.0, std::nullopt, std::nullopt}) == "no bytes are declared: reads() and writes(), 0 where there are none");
  CHECK(first({-1.0, 1.0, 1.0}) == "the declared operations are no number of at least 0");
  CHECK(first({nan, 1.0, 1.0}) == "the declared operations are no number of at least 0");
  CHECK(first({1.0, infinity, 1.0}) == "the declared bytes are no number of at least 0");
  CHECK(first({1.0, 1.0, -2.0}) == "the declared bytes are no number of at least 0");
}

TEST_CASE("without a roof or a time the rest stays, and the reason is there") {
  auto const none = sg::roofline_of(nanoseconds{10'000}, work(1e6, 3e5, 1e5), sg::device_roofs{});
  CHECK(none.flops_per_second == doctest::Approx(1e11));
  CHECK(none.intensity == doctest::Approx(2.5));
  CHECK_FALSE(none.ridge);
  CHECK_FALSE(none.share_of_flops);
  CHECK_FALSE(none.above_flops);
  CHECK(none.limit == limiting_roof::unknown);
  REQUIRE(none.missing.size() == 2);
  CHECK(none.missing[0] == "no roof of the arithmetic: no roof of the arithmetic was given");
  CHECK(none.missing[1] == "no roof of the memory: no roof of the memory was given");
  for (double bad : {0.0, -5.0, nan}) {
    auto const at = sg::roofline_of(fractional_nanoseconds{bad}, work(1e6, 3e5, 1e5), plain_roofs());
    CHECK_FALSE(at.flops_per_second);
    CHECK_FALSE(at.share);
    REQUIRE(at.missing.size() == 1);
    CHECK(at.missing[0] == "there is no time above 0");
  }
}

TEST_CASE("of a recording the steady median counts, warm-up does not, and only phases that declare work have a row") {
  auto gemm = constant("gemm", 10'000, work(1e6, 3e5, 1e5));
  for (std::size_t i = 0; i < 5; ++i) {
    gemm.samples[i].warmup = true;
    gemm.samples[i].device = nanoseconds{900'000};
  }
  gemm.warmup = 5;
  auto const found = sg::roofline_of(of_series({constant("plain", 10, std::nullopt), gemm}), plain_roofs());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].series == 1);
  CHECK(found.rows[0].time == fractional_nanoseconds{10'000});
  CHECK(found.rows[0].count == 35);
  CHECK(found.rows[0].steady);
  CHECK(found.rows[0].bytes_source == "declared");
  CHECK(found.rows[0].point.share == doctest::Approx(0.4));
}

TEST_CASE("a phase of another device, of several, or without device times is left out with the reason") {
  auto roofs = plain_roofs();
  roofs.device = 0;
  auto const why = [&](sg::series const& of) {
    auto const found = sg::roofline_of(of_series({of}), roofs);
    REQUIRE(found.rows.size() == 1);
    CHECK_FALSE(found.rows[0].point.flops_per_second);
    return found.rows[0].why_not;
  };
  auto elsewhere = constant("gemm", 10'000, work(1, 1, 1));
  for (auto& each : elsewhere.samples) each.stream = 2;
  CHECK(why(elsewhere) == "it ran on device 1, and the roofs are those of device 0");
  auto both = constant("gemm", 10'000, work(1, 1, 1));
  both.samples[3].stream = 2;
  CHECK(sg::roofline_of(of_series({constant("gemm", 10'000, work(1, 1, 1))}), roofs).rows[0].why_not.empty());
  CHECK(why(both) == "its executions ran on several devices");
  auto host = constant("gemm", 10'000, work(1, 1, 1));
  for (auto& each : host.samples) each.device = sg::absence::no_driver;
  CHECK(why(host) == "no device time of a steady execution");
  auto mixed = constant("gemm", 10'000, work(1, 1, 1));
  mixed.samples[0].part = sg::span_part::whole;
  mixed.samples[1].part = sg::span_part::branch;
  CHECK(why(mixed) == "it is a span and a branch of one, which have no time in common");
}

TEST_CASE("bytes that ncu counted replace the declared ones by name, and only where the caches were alike") {
  auto const of = of_series({constant("gemm", 10'000, work(1e6, 3e5, 1e5))});
  sg::measured_bytes counted{"gemm", {}, 8e5, sg::cache_state::warm};
  auto found = sg::roofline_of(of, plain_roofs(), {counted});
  CHECK(found.rows[0].bytes_source == "ncu, dram__bytes.sum");
  CHECK(found.rows[0].point.bytes_per_second == doctest::Approx(8e10));
  CHECK(found.rows[0].point.intensity == doctest::Approx(1.25));
  CHECK(has(table_of(found), "gemm: bytes counted by ncu, dram__bytes.sum"));

  sg::measured_bytes const mistyped{"gem", {}, 8e5, sg::cache_state::warm};
  auto const nowhere = sg::roofline_of(of, plain_roofs(), {mistyped});
  CHECK(nowhere.rows[0].bytes_source == "declared");
  CHECK(has(table_of(nowhere), "unmatched    bytes were counted of gem, and no phase here has that name and conditions"));
  sg::recording marked = of;
  marked.recorded = sg::mode::mark;
  marked.all.clear();
  CHECK(table_of(sg::roofline_of(marked, plain_roofs())) == "not measured: ranges were marked only\n");

  // ncu as it is empties the caches: what it counts then is another number's.
  counted.counted_with = sg::cache_state::cold;
  found = sg::roofline_of(of, plain_roofs(), {counted});
  CHECK(found.rows[0].bytes_source == "declared");
  CHECK(found.rows[0].point.bytes_per_second == doctest::Approx(4e10));
  CHECK(has(table_of(found), "counted bytes were left aside: they were counted with flushed caches and the phase was timed "
                             "with what the program had left in the caches: count with --cache-control none"));
  counted.timed_with = sg::cache_state::cold;
  CHECK(sg::roofline_of(of, plain_roofs(), {counted}).rows[0].bytes_source == "ncu, dram__bytes.sum");
  counted.counted_with = sg::cache_state::warm;
  CHECK(sg::why_not_alike(counted).find("--cache-control all") != std::string::npos);
  counted.timed_with = sg::cache_state::rotating;
  CHECK(sg::why_not_alike(counted) == "they were counted with what the program had left in the caches and the phase was timed "
                                      "with inputs that rotate: count as they rotate, with --cache-control none");
  counted.counted_with = sg::cache_state::rotating;
  CHECK(sg::why_not_alike(counted) == "");
  counted.counted_with = counted.timed_with = sg::cache_state::unknown;
  CHECK(sg::why_not_alike(counted) == "it is not known what the caches held");
  counted = {"gemm", {}, nan, sg::cache_state::warm};
  CHECK(sg::why_not_alike(counted) == "they are no number of at least 0");
  // Of other conditions: not these.
  counted = {"gemm", {{"rows", "7"}}, 8e5, sg::cache_state::warm};
  CHECK(sg::roofline_of(of, plain_roofs(), {counted}).rows[0].bytes_source == "declared");
}

TEST_CASE("merged runs keep the work that they agree on; where they do not the first one's stands, and is a problem") {
  auto into = of_series({constant("gemm", 10, work(1, 2, 3)), constant("late", 10, std::nullopt)});
  sg::merge(into, of_series({constant("gemm", 10, work(1, 2, 3)), constant("late", 10, work(4, 5, 6)),
                             constant("new", 10, work(7, 8, 9))}));
  CHECK(into.problems.empty());
  CHECK(into.all[0].work == work(1, 2, 3));
  CHECK(into.all[1].work == work(4, 5, 6));
  CHECK(into.all[2].work == work(7, 8, 9));
  sg::merge(into, of_series({constant("gemm", 10, work(1, 2, 4))}));
  CHECK(into.all[0].work == work(1, 2, 3));
  REQUIRE(into.problems.size() == 1);
  CHECK(into.problems[0].phase == "gemm");
  CHECK(into.problems[0].text == "the runs declare different work; that of the first one stands");
}

TEST_CASE("numbers of a roofline have four digits and a prefix, in no locale") {
  CHECK(four_digits(0) == "0");
  CHECK(four_digits(1.0 / 12) == "0.08333");
  CHECK(four_digits(12.5) == "12.50");
  CHECK(four_digits(9.9996) == "10.00");
  CHECK(four_digits(999.94) == "999.9");
  CHECK(four_digits(999.96) == "1000");
  CHECK(four_digits(123456.7) == "123457");
  CHECK(four_digits(1e-9) == "under 1e-8");
  CHECK(four_digits(1e19) == "over 1e18");
  CHECK(four_digits(nan) == "-");
  CHECK(with_prefix(66.90816e12) == "66.91 T");
  CHECK(with_prefix(4.916736e12, "B/s") == "4.917 TB/s");
  CHECK(with_prefix(999.96e9) == "1.000 T");
  CHECK(with_prefix(12.5) == "12.50");
  CHECK(with_prefix(12.5, "B/s") == "12.50 B/s");
  CHECK(with_prefix(5e20) == "500.0 E");
  CHECK(in_percent(0.8147) == "81.5 %");
  CHECK(in_percent(0.99996) == "100.0 %");
  CHECK(in_percent(1.2) == "120.0 %");
}

TEST_CASE("the table, line by line") {
  auto slow = constant("scale", 10'000, work(1e6, 3e5, 1e5));
  auto wrong = constant("gemm", 10'000, work(12e6, 1e5, 1e5));
  auto reads = constant("sum", 10'000, sg::declared_work{1e6, 4e5, std::nullopt});
  auto roofs = plain_roofs();
  roofs.bytes = sg::measured_roof(100e9, fractional_nanoseconds{1e9}, "a copy of 256 MiB");
  auto const text = table_of(sg::roofline_of(of_series({slow, wrong, reads}), roofs));
  CHECK(text ==
        "       device, and work over it               share of the roof\n"
        "       median of steady ones\n"
        "phase    n  median   flop/s      B/s  flop/B  arithmetic  memory       limit    of it\n"
        "-----  -------------------------------------  ---------------------------------------\n"
        "scale   40   10 us  100.0 G  40.00 G   2.500      10.0 %  40.0 %      memory   40.0 %\n"
        "gemm    40   10 us  1.200 T  20.00 G   60.00     120.0 %  20.0 %  arithmetic  120.0 %\n"
        "sum     40   10 us  100.0 G        -       -      10.0 %       -           -        -\n"
        "\n"
        "rates        work over the median of device, gaps included; work is declared by the program unless a\n"
        "             line below says that it was counted\n"
        "B/s          bytes read and written\n"
        "flop/B       the intensity: operations for each byte\n"
        "limit        which roof is the lower one at that intensity, and the share of it\n"
        "*            no steady level was seen, and the median is of everything behind the fixed warm-up\n"
        "arithmetic   1.000 Tflop/s, given: by hand\n"
        "memory       100.0 GB/s, measured: a copy of 256 MiB\n"
        "ridge        at 10.00 flop/B the roofs meet: below it the memory is the lower one\n"
        "wrong        gemm: 120.0 % of the roof of the arithmetic: more than the device can do: the declared\n"
        "             work is wrong, or the time\n"
        "absent       sum: no bytes written are declared: writes(), 0 if there are none\n");
}

TEST_CASE("above a measured roof, or one of cores alone, the table says what else it may be; an absent roof is named once") {
  auto moves = constant("copy", 10'000, work(0, 1e6, 1e6));
  auto roofs = plain_roofs();
  roofs.flops = sg::roofs_of(sg::device_description{}).flops;
  roofs.bytes = sg::measured_roof(100e9, fractional_nanoseconds{1e9}, "a copy of 256 MiB");
  auto text = table_of(sg::roofline_of(of_series({moves, moves}), roofs));
  CHECK(has(text, "copy: 200.0 % of the roof of the memory: more than was measured there: the declared work is wrong, or the "
                  "time, or the roof was measured too low; or bytes came from a cache, which are none of the memory's"));
  CHECK(has(text, "arithmetic   absent: the device does not tell its compute capability (from the device's attributes: FP32 "
                  "without tensor cores)"));
  CHECK(text.find("absent       copy") == std::string::npos);
  CHECK(text.find("ridge") == std::string::npos);
  // 200 Gflop in 1 ms: three times what an H200's cores do without the tensor cores.
  roofs = sg::roofs_of(h200());
  roofs.device.reset();
  text = table_of(sg::roofline_of(of_series({constant("gemm", 1'000'000, work(2e11, 1e6, 1e6))}), roofs));
  CHECK(has(text, "gemm: 298.9 % of the roof of the arithmetic: more than the device can do: the declared work is wrong, or "
                  "the time; or it ran on tensor cores, which have a roof of their own"));
}

TEST_CASE("without declared work the table says how it is declared") {
  CHECK(table_of(sg::roofline_of(of_series({constant("plain", 10, std::nullopt)}), plain_roofs())) ==
        "no phase declares its work: sg::phase{recorder, name, sg::work{}.flops(f).reads(r).writes(w)}\n");
}
