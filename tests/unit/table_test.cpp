// Would go unseen without these: a table that leaves out a reason, lets a name or a locale change its shape, or calls
// an interval by the wrong name. Whole tables are compared, since what people read is the whole.
#include <streamgauge/report/table.hpp>

#include <streamgauge/analyze/merge.hpp>

#include <doctest/doctest.h>

#include <clocale>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <initializer_list>
#include <locale>
#include <sstream>
#include <string>

#include "warmed.hpp"

namespace sg = streamgauge;
using sg::absence;
using sg::nanoseconds;

namespace {

sg::sample taken(sg::observation submit, sg::observation device = absence::not_asked) {
  sg::sample made;
  made.submit = submit;
  made.device = device;
  return made;
}

sg::sample taken(std::int64_t submit) { return taken(nanoseconds{submit}); }
sg::sample taken(std::int64_t submit, std::int64_t device) { return taken(nanoseconds{submit}, nanoseconds{device}); }

sg::series made_of(char const* phase, std::initializer_list<sg::sample> samples) {
  sg::series made;
  made.phase = phase;
  made.samples = samples;
  return made;
}

sg::environment h200() {
  sg::environment seen;
  seen.library_version = "0.1.0";
  seen.driver_version = 13000;
  seen.runtime_version = 12090;
  seen.compiled_runtime_version = 12040;
  sg::device_description device;
  device.name = "NVIDIA H200";
  device.event_floor = nanoseconds{1280};
  device.submit_floor = nanoseconds{2100};
  device.event_resolution = nanoseconds{32};
  seen.devices = {device};
  seen.host_floor = nanoseconds{27};
  return seen;
}

sg::recording one_phase() {
  sg::recording from;
  from.environment = h200();
  from.all = {made_of("decode_step", {taken(5120, 102'900), taken(4871, 102'804), taken(9330, 105'120)})};
  return from;
}

// A step that waits by blocking, with two phases inside, each with warm-up.
sg::recording nested_phases() {
  sg::recording from;
  from.environment = h200();
  auto step = made_of("step", {taken(28'041'000, 12'052'000), taken(42'000, 53'000), taken(41'000, 52'000),
                               taken(42'500, 52'500), taken(43'000, 54'000)});
  auto gemm = made_of("gemm", {taken(4'009'000, 4'021'000), taken(9100, 21'000), taken(9200, 21'100),
                               taken(9300, 21'200), taken(9400, 21'300)});
  auto tanh =
      made_of("tanh", {taken(6000, 4400), taken(5100, 4100), taken(5200, 4200), taken(5300, 4300), taken(5400, 4400)});
  std::int64_t completion = 20'091'000;
  for (auto& one : step.samples) {
    one.records_inside = 4;
    one.waited = sg::wait_policy::block;
    one.completion = nanoseconds{completion};
    completion = 91'000;
  }
  for (auto& one : gemm.samples) one.parent = 0;
  for (auto& one : tanh.samples) one.parent = 0;
  gemm.conditions = {{"dtype", "f32"}, {"shape", "256x1024"}};
  warm_up(step, 2);
  warm_up(gemm, 2);
  warm_up(tanh, 1);
  from.all = {step, gemm, tanh};
  return from;
}

// Prepare for 2 ms; then, side by side, compute for 6 ms and communicate for 9 ms; then finalize for 1 ms. Three times,
// the first one as warm-up in all of them where `warmup` is 1.
sg::recording side_by_side(std::size_t warmup = 0) {
  sg::recording from;
  from.environment.library_version = "0.1.0";
  constexpr std::int64_t ms = 1'000'000;
  sg::sample prepare = taken(5000, 2 * ms);
  sg::sample overlapped = taken(21'000, 9 * ms);
  sg::sample compute = taken(6000, 6 * ms);
  sg::sample communicate = taken(7000, 9 * ms);
  overlapped.part = sg::span_part::whole;
  compute.part = communicate.part = sg::span_part::branch;
  compute.parent = communicate.parent = 1;
  compute.begins = communicate.begins = nanoseconds{0};
  from.all = {made_of("prepare", {}), made_of("overlapped", {}), made_of("compute", {}), made_of("communicate", {}),
              made_of("finalize", {})};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    overlapped.span = compute.span = communicate.span = i;
    from.all[0].samples.push_back(prepare);
    from.all[1].samples.push_back(overlapped);
    from.all[2].samples.push_back(compute);
    from.all[3].samples.push_back(communicate);
    from.all[4].samples.push_back(taken(4000, 1 * ms));
  }
  for (auto& each : from.all) warm_up(each, warmup);
  return from;
}

template <class Shown>
std::string text_of(Shown const& what) {
  std::ostringstream out;
  sg::report::table(out, what);
  return out.str();
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::size_t widest_line(std::string const& text) {
  std::size_t widest = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) widest = (std::max)(widest, sg::report::width_of(line));
  return widest;
}

// A locale in which 1234567.5 is 1.234.567,5.
struct german : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

/// Without the line breaks of notes, and what stands before their lines.
static std::string on_one_line(std::string const& text) {
  std::string line{' '};
  for (char const each : text)
    if ((each != ' ' && each != '\n') || line.back() != ' ') line += each == '\n' ? ' ' : each;
  return line;
}

TEST_CASE("one phase") {
  CHECK(text_of(one_phase()) == &R"(
             submit                       device interval
             host, until left, us         event to event, us
phase        count  median    min    max  count  median    min    max
-----------  ---------------------------  ---------------------------
decode_step      3   5.120  4.871  9.330      3   102.9  102.8  105.1

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
device       from the start event to the stop event on the stream, gaps included: not kernel time
instrument   device 0 (NVIDIA H200): an empty phase reads 1.28 us on the device, in steps of 32 ns;
             its submit is 2.1 us
             host: an empty pair of stamps reads 27 ns
samples      submit: 3 entered, all kept
             device: 3 entered, all kept
             completion: not asked for, no phase on a stream was waited for
environment  streamgauge 0.1.0, device 0 (NVIDIA H200), driver 13.0, runtime 12.9, compiled with
             12.4
)"[1]);
}

TEST_CASE("three nested phases with conditions, warm-up and a wait") {
  CHECK(text_of(nested_phases()) == &R"(
                                   submit                       device interval
                                   host, until left, us         event to event, us          records
phase                              count  median    min    max  count  median    min    max  inside
---------------------------------  ---------------------------  -----------------------------------
step                                   3   42.50  41.00  43.00      3   52.50  52.00  54.00       4
 (warm-up)                             2   14042  42.00  28041      2    6053  53.00  12052
 (its first)                               28041                        12052
  gemm [dtype=f32 shape=256x1024]      3   9.300  9.200  9.400      3   21.20  21.10  21.30
   (warm-up)                           2    2009  9.100   4009      2    2021  21.00   4021
   (its first)                              4009                         4021
  tanh                                 4   5.250  5.100  5.400      4   4.250  4.100  4.400
   (warm-up)                           1   6.000  6.000  6.000      1   4.400  4.400  4.400

                                   completion by block
                                   host, until waited, us
phase                              count  median    min    max
---------------------------------  ---------------------------
step                                   3   91.00  91.00  91.00
 (warm-up)                             2   10091  91.00  20091
 (its first)                               20091
  gemm [dtype=f32 shape=256x1024]      -       -      -      -
  tanh                                 -       -      -      -

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
device       from the start event to the stop event on the stream, gaps included: not kernel time
inside       event records of phases nested in it, on any stream, made while it was open
completion   host time from entering until the wait returned; a spin polls, a block sleeps
instrument   device 0 (NVIDIA H200): an empty phase reads 1.28 us on the device, in steps of 32 ns;
             its submit is 2.1 us
             host: an empty pair of stamps reads 27 ns
samples      submit: 15 entered, all kept
             device: 15 entered, all kept
             completion: 5 entered, all kept
               not asked for: gemm [dtype=f32 shape=256x1024] 5, tanh 5
environment  streamgauge 0.1.0, device 0 (NVIDIA H200), driver 13.0, runtime 12.9, compiled with
             12.4
)"[1]);
}

TEST_CASE("host only, from nanoseconds to seconds") {
  sg::recording from;
  from.environment.library_version = "0.1.0";
  from.all = {made_of("parse", {taken(503), taken(500), taken(506)}),
              made_of("read file", {taken(3'000'000'000), taken(3'231'000'369)})};
  CHECK(text_of(from) == &R"(
           submit
           host, until left, us
phase      count   median      min      max
---------  --------------------------------
parse          3    0.503    0.500    0.506
read file      2  3115500  3000000  3231000

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
samples      submit: 5 entered, all kept
             device: not asked for, no phase was entered with a stream
             completion: not asked for, no phase on a stream was waited for
environment  streamgauge 0.1.0
)"[1]);
}

TEST_CASE("no device: the device columns are absent with the reason") {
  sg::recording from;
  from.environment.library_version = "0.1.0";
  from.environment.why_no_device = "no CUDA driver was found";
  from.all = {made_of("decode_step",
                      {taken(nanoseconds{90'000}, absence::no_driver), taken(nanoseconds{530}, absence::no_driver),
                       taken(nanoseconds{531}, absence::no_driver), taken(nanoseconds{529}, absence::no_driver)})};
  CHECK(text_of(from) == &R"(
             submit                     device interval
             host, until left, ns       event to event
phase        count  median  min    max  count  median  min  max
-----------  -------------------------  -----------------------
decode_step      4   530.5  529  90000      0       -    -    -

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
device       from the start event to the stop event on the stream, gaps included: not kernel time
samples      submit: 4 entered, all kept
             device: 4 entered = 0 kept + 4 dropped + 0 incomplete
               dropped 4, no CUDA device or driver on this machine: decode_step 4
             completion: not asked for, no phase on a stream was waited for
warning      decode_step: the first sample stands far above the rest: submit 90 us (median
             530.5 ns); a warm-up count keeps it apart
environment  streamgauge 0.1.0, no device: no CUDA driver was found
)"[1]);
}

TEST_CASE("every dropped and incomplete sample is listed with phase, count and reason") {
  auto from = nested_phases();
  from.all[0].samples[3].device = absence::pool_full;
  from.all[0].samples[4].device = absence::pool_full;
  from.all[0].samples[4].waited = sg::wait_policy::spin;
  from.all[1].samples[2].submit = absence::body_threw;
  from.all[1].samples[2].device = absence::body_threw;
  from.all[1].samples[3].device = absence::pool_full;
  from.all[2].lost = 7;
  from.all.push_back(made_of("never", {}));
  from.problems = {{"step", "the legacy stream is a barrier; name the real stream", 0, 50},
                   {"gemm", "cudaEventRecord: invalid resource handle", 400, 1}};
  CHECK(text_of(from) == &R"(
                                   submit                       device interval
                                   host, until left, us         event to event, us          records
phase                              count  median    min    max  count  median    min    max  inside
---------------------------------  ---------------------------  -----------------------------------
step                                   3   42.50  41.00  43.00      1   52.00  52.00  52.00       4
 (warm-up)                             2   14042  42.00  28041      2    6053  53.00  12052
 (its first)                               28041                        12052
  gemm [dtype=f32 shape=256x1024]      2   9.350  9.300  9.400      1   21.30  21.30  21.30
   (warm-up)                           2    2009  9.100   4009      2    2021  21.00   4021
   (its first)                              4009                         4021
  tanh                                 4   5.250  5.100  5.400      4   4.250  4.100  4.400
   (warm-up)                           1   6.000  6.000  6.000      1   4.400  4.400  4.400
never                                  -       -      -      -      -       -      -      -

                                   completion by spin           completion by block
                                   host, until waited, us       host, until waited, us
phase                              count  median    min    max  count  median    min    max
---------------------------------  ---------------------------  ---------------------------
step                                   1   91.00  91.00  91.00      2   91.00  91.00  91.00
 (warm-up)                             0       -      -      -      2   10091  91.00  20091
 (its first)                                                            20091
  gemm [dtype=f32 shape=256x1024]      -       -      -      -      -       -      -      -
  tanh                                 -       -      -      -      -       -      -      -
never                                  -       -      -      -      -       -      -      -

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
device       from the start event to the stop event on the stream, gaps included: not kernel time
inside       event records of phases nested in it, on any stream, made while it was open
completion   host time from entering until the wait returned; a spin polls, a block sleeps
instrument   device 0 (NVIDIA H200): an empty phase reads 1.28 us on the device, in steps of 32 ns;
             its submit is 2.1 us
             host: an empty pair of stamps reads 27 ns
samples      submit: 22 entered = 14 kept + 7 dropped + 1 incomplete
               incomplete 1, an exception left the body: gemm [dtype=f32 shape=256x1024] 1
               dropped 7, the host had no memory left: tanh 7
             device: 22 entered = 11 kept + 10 dropped + 1 incomplete
               incomplete 1, an exception left the body: gemm [dtype=f32 shape=256x1024] 1
               dropped 3, every event of the pool was waiting for the device: step 2,
                 gemm [dtype=f32 shape=256x1024] 1
               dropped 7, the host had no memory left: tanh 7
             completion: 5 entered, all kept
               not asked for: gemm [dtype=f32 shape=256x1024] 5, tanh 5
             never entered: never
warning      step: waited for in more than one way; shown apart, a block wakes later
problem      step: the legacy stream is a barrier; name the real stream, 50 times
problem      gemm: cudaEventRecord: invalid resource handle (CUDA status 400)
environment  streamgauge 0.1.0, device 0 (NVIDIA H200), driver 13.0, runtime 12.9, compiled with
             12.4
)"[1]);
}

TEST_CASE("a long name stands whole on a line of its own") {
  auto from = nested_phases();
  from.all[1].phase = "a_rather_long_name_of_forty_characters__";
  auto const text = text_of(from);
  CHECK(has(text,
            "\n  a_rather_long_name_of_forty_characters__ [dtype=f32 shape=256x1024]\n"
            "   (steady)                             3   9.300"));
  CHECK(widest_line(text) <= 100);
}

TEST_CASE("ordinary tables fit into 100 columns") {
  CHECK(widest_line(text_of(one_phase())) <= 100);
  CHECK(widest_line(text_of(nested_phases())) <= 100);
}

TEST_CASE("columns are counted in characters, not in bytes") {
  auto ascii = one_phase();
  auto other = one_phase();
  ascii.all[0].phase = "groesse_";
  other.all[0].phase = "größe_層_";
  ascii.all.push_back(made_of("a_longer_name", {taken(5000, 90'000)}));
  other.all.push_back(ascii.all.back());
  auto expected = text_of(ascii);
  expected.replace(expected.find("groesse_"), 8, "größe_層_");
  CHECK(text_of(other) == expected);
}

TEST_CASE("a hostile name cannot break the table") {
  auto from = one_phase();
  from.all[0].phase = "evil\n\x1b[2J\xff";
  from.all[0].conditions = {{"k\n", "v\t]"}};
  from.problems = {{"evil\n", "text\nwith lines\x1b", 1, 1}};
  from.environment.devices[0].name = "GPU\r";
  auto const text = text_of(from);
  CHECK(has(text, "evil\\n\\x1b[2J\\xff [k\\n=\"v\\t]\"]"));
  CHECK(has(text, "evil\\n: text\\nwith lines\\x1b (CUDA status 1)"));
  CHECK(has(text, "GPU\\r"));
  for (char const character : text) REQUIRE((character == '\n' || static_cast<unsigned char>(character) >= 0x20));
}

TEST_CASE("case-91 the table is the same in every locale, and the stream is as it was") {
  auto from = one_phase();
  for (int i = 0; i < 1234; ++i) from.all[0].samples.push_back(taken(1'234'567'500, 86'500));
  auto const plain = text_of(from);

  std::ostringstream out;
  std::locale const before = std::locale::global(std::locale{std::locale::classic(), new german});
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  out.imbue(std::locale{std::locale::classic(), new german});
  out << std::hex << std::showpos << std::scientific << std::left << std::setfill('*') << std::setprecision(2);
  out.width(50);
  auto const flags = out.flags();
  auto const imbued = out.getloc();
  sg::report::table(out, from);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);

  CHECK(out.str() == plain);
  CHECK(out.flags() == flags);
  CHECK(out.width() == 50);
  CHECK(out.precision() == 2);
  CHECK(out.fill() == '*');
  CHECK(out.getloc() == imbued);
  CHECK(has(plain, "submit: 1237 entered, all kept"));
}

TEST_CASE("case-84 every observable has count, median, min and max and says whose time it is") {
  auto const text = text_of(nested_phases());
  CHECK(has(text, "submit                       device interval\n"));
  CHECK(has(text, "host, until left, us         event to event, us"));
  CHECK(has(text, "completion by block\n"));
  CHECK(has(text, "count  median    min    max"));
  CHECK_FALSE(has(text, "mean"));
}

TEST_CASE("case-77 and case-78 no number, one number: the same columns, never a sentinel") {
  for (std::size_t const count : {0U, 1U, 2U, 100U}) {
    sg::recording from;
    from.all = {made_of("p", {})};
    from.all[0].samples.assign(count, taken(nanoseconds{2000}, absence::pool_full));
    auto const text = text_of(from);
    for (char const* word : {"nan", "inf ", "-1", "9223372036854775807"}) CHECK_FALSE(has(text, word));
    CHECK(has(text, count == 0 ? "never entered: p" : "submit"));
  }
}

TEST_CASE("case-69 a first sample that stands out is a warning under the table") {
  sg::recording from;
  from.all = {made_of("p", {taken(57'000), taken(2000), taken(2000), taken(2000)})};
  CHECK(has(text_of(from),
            "warning      p: the first sample stands far above the rest: submit 57 us (median 2 us); a "
            "warm-up\n             count keeps it apart\n"));
  warm_up(from.all[0], 1);
  CHECK_FALSE(has(text_of(from), "warning"));
  CHECK(has(text_of(from), "p               3   2.000  2.000  2.000\n (warm-up)      1   57.00  57.00  57.00\n\n"));
}

TEST_CASE("case-70 figures of a long series say whether they are of all or of those that were kept") {
  for (std::int64_t const slow : {0, 2000}) {
    sg::recording of;
    of.all.emplace_back();
    of.all[0].phase = "step";
    for (std::int64_t i = 0; i < 8000; ++i) {
      of.all[0].samples.push_back(taken((i < slow ? 20'000 : 10'000) + i * 2654435761 % 100));
      of.all[0].samples.back().entered = nanoseconds{1000 * i};
    }
    sg::thin_to(2, of.all[0]);
    auto const text = on_one_line(text_of(of));
    CHECK(text.find("count, extremes and mean are of all") != std::string::npos);
    CHECK((text.find("but of those kept alone is what it says of submit") != std::string::npos) == (slow > 0));
  }
}

TEST_CASE("case-09 a device median near the resolution or the floor is a warning under the table") {
  sg::recording from;
  from.all = {made_of("tiny", {taken(2000, 800), taken(2000, 800)})};
  CHECK(has(text_of(from),
            "warning      tiny: the device median of 800 ns is under 1 us, near the resolution of the events"));
  from.environment = h200();
  CHECK(has(on_one_line(text_of(from)), "warning tiny: the device median of 800 ns is less than the 1.28 us that an empty "
                                        "phase reads: what it holds cannot be told from it"));
}

TEST_CASE("a device median near the floor is told with the floor that applies, and how many times it is") {
  sg::recording from;
  from.environment = h200();
  auto const warning = [&](std::int64_t device) {
    from.all = {made_of("small one", {taken(2000, device), taken(2000, device)})};
    auto const text = on_one_line(text_of(from));
    auto const at = text.find("warning ");
    auto const end = text.find(" environment ", at);
    return at == std::string::npos ? std::string{} : text.substr(at, end - at);
  };
  CHECK(warning(1280) == "warning small one: the device median of 1.28 us is 1.0 times the 1.28 us that an empty phase "
                         "reads: a third of it or more is the instrument");
  CHECK(warning(3839) == "warning small one: the device median of 3.839 us is 2.9 times the 1.28 us that an empty phase "
                         "reads: a third of it or more is the instrument");
  CHECK(warning(3840).empty());
  from.environment.devices[0].kernel_floor = nanoseconds{2900};
  CHECK(warning(3840) == "warning small one: the device median of 3.84 us is 1.3 times the 2.9 us that a phase around an "
                         "empty kernel reads: a third of it or more is the instrument");
  CHECK(warning(2899) == "warning small one: the device median of 2.899 us is less than the 2.9 us that a phase around an "
                         "empty kernel reads: what it holds cannot be told from it");
  CHECK(warning(8700).empty());
}

TEST_CASE("the floor around an empty kernel stands beside that of an empty phase, and why it is not there") {
  auto from = one_phase();
  auto& device = from.environment.devices[0];
  CHECK(has(on_one_line(text_of(from)), "instrument device 0 (NVIDIA H200): an empty phase reads 1.28 us on the device, in "
                                        "steps of 32 ns; its submit is 2.1 us host: an empty pair"));
  device.why_no_kernel_floor = "nsys was attached";
  CHECK(has(on_one_line(text_of(from)), "its submit is 2.1 us what one around an empty kernel reads was not measured: nsys "
                                        "was attached host: an empty pair"));
  device.why_no_kernel_floor.clear();
  device.kernel_floor = nanoseconds{2900};
  CHECK(has(on_one_line(text_of(from)), "an empty phase reads 1.28 us on the device, one around an empty kernel 2.9 us, in "
                                        "steps of 32 ns; the empty one's submit is 2.1 us host: an empty pair"));
  device = {};
  device.why_no_floor = device.why_no_kernel_floor = "a phase was open";
  CHECK(has(on_one_line(text_of(from)), "what an empty phase reads was not measured: a phase was open host: an empty pair"));
}

TEST_CASE("a phase that was entered in several places says where") {
  sg::recording from;
  from.all = {made_of("step", {taken(5000)}), made_of("copy", {taken(1000), taken(1000), taken(1000)})};
  from.all[1].samples[0].parent = 0;
  from.all[1].samples[1].parent = 0;
  CHECK(has(text_of(from), "nesting      copy: shown as a root, it was entered 2 times in step, once on its own\n"));
}

TEST_CASE("where a long series was entered is counted among those kept, and the note says so") {
  sg::recording of;
  of.all.resize(2);
  of.all[0].phase = "outer";
  of.all[0].samples = {taken(1), taken(1)};
  of.all[1].phase = "inner";
  for (std::int64_t i = 0; i < 5000; ++i) {
    of.all[1].samples.push_back(taken(10'000 + i * 37 % 60));
    of.all[1].samples.back().entered = nanoseconds{1000 * i};
    if (i % 2 == 0) of.all[1].samples.back().parent = 0;
  }
  CHECK_FALSE(has(on_one_line(text_of(of)), "of those kept"));
  sg::thin_to(2, of.all[1]);
  CHECK(has(on_one_line(text_of(of)), "times on its own, of those kept"));
}

TEST_CASE("a floor that was not measured says why") {
  auto from = one_phase();
  from.environment.devices[0].event_floor.reset();
  from.environment.devices[0].event_resolution.reset();
  from.environment.devices[0].submit_floor.reset();
  from.environment.devices[0].why_no_floor = "a capture was under way";
  CHECK(has(text_of(from),
            "device 0 (NVIDIA H200): what an empty phase reads was not measured: a capture was "
            "under\n             way\n"));
}

TEST_CASE("a phase that waited in one way has no numbers, not zero of them, under the other") {
  sg::recording from;
  from.all = {made_of("a", {taken(2000)}), made_of("b", {taken(2000)})};
  from.all[0].samples[0].completion = nanoseconds{3000};
  from.all[0].samples[0].waited = sg::wait_policy::spin;
  from.all[1].samples[0].completion = nanoseconds{9000};
  from.all[1].samples[0].waited = sg::wait_policy::block;
  auto const text = text_of(from);
  CHECK(has(text,
            "a          1   2.000  2.000  2.000      1   3.000  3.000  3.000      -       -      -      -\n"
            "b          1   2.000  2.000  2.000      -       -      -      -      1   9.000  9.000  9.000\n"));
  CHECK_FALSE(has(text, "warning"));
}

TEST_CASE("completion that was entered and never seen has a block of its own") {
  sg::recording from;
  from.all = {made_of("p", {taken(2000)})};
  from.all[0].samples[0].completion = absence::earlier_work_failed;
  from.all[0].samples[0].waited = sg::wait_policy::spin;
  auto const text = text_of(from);
  CHECK(has(text, "  completion\n"));
  CHECK(has(text, "dropped 1, earlier work of the program failed: p 1\n"));
}

TEST_CASE("nothing measured is one clear line") {
  CHECK(text_of(sg::recording{}) == "nothing measured: no phase was made\n");
}

TEST_CASE("switched off says so") {
  sg::recording from;
  from.recorded = sg::mode::off;
  CHECK(text_of(from) == "not measured: off\n");
  from.why_not_measured = "off (STREAMGAUGE=off)";
  from.all = {made_of("p", {})};
  CHECK(text_of(from) == "not measured: off (STREAMGAUGE=off)\n");
  from.recorded = sg::mode::mark;
  from.why_not_measured.clear();
  CHECK(text_of(from) == "not measured: mark, which names ranges for tools only\n");
}

TEST_CASE("a summary gives the same table as its recording") {
  CHECK(text_of(sg::summarize(nested_phases())) == text_of(nested_phases()));
}

TEST_CASE("a phase that was entered in many others names four of them and counts the rest") {
  sg::recording from;
  for (std::uint32_t i = 0; i < 6; ++i) {
    sg::series outer;
    outer.phase = "outer " + std::to_string(i);
    outer.samples.resize(1);
    outer.samples[0].submit = std::chrono::nanoseconds{5};
    from.all.push_back(outer);
  }
  sg::series inner = from.all[0];
  inner.phase = "inner";
  inner.samples.resize(6, inner.samples[0]);
  for (std::uint32_t i = 0; i < 6; ++i) inner.samples[i].parent = i;
  from.all.push_back(inner);
  auto const text = text_of(from);
  CHECK(has(text, "inner: shown as a root, it was entered once in outer 0, once in outer 1,"));
  CHECK(has(text, "and in 2 more"));
  CHECK_FALSE(has(text, "in outer 4"));
}

TEST_CASE("case-19 a span shows its wall, beside it what its branches add up to, and which of them it waits for") {
  auto const text = text_of(side_by_side());
  CHECK(text == &R"(
               submit                       device interval              span
               host, until left, us         event to event, ms           branches, median, ms
phase          count  median    min    max  count  median    min    max  busy sum  union  overlap
-------------  ---------------------------  ---------------------------  ------------------------
prepare            3   5.000  5.000  5.000      3   2.000  2.000  2.000         -      -        -
overlapped         3   21.00  21.00  21.00      3   9.000  9.000  9.000     15.00  9.000    6.000
  compute          3   6.000  6.000  6.000      3   6.000  6.000  6.000         -      -        -
  communicate      3   7.000  7.000  7.000      3   9.000  9.000  9.000         -      -        -
finalize           3   4.000  4.000  4.000      3   1.000  1.000  1.000         -      -        -

submit       host time from entering a phase to leaving it: with a stream, what it took to enqueue
device       from the start event to the stop event on the stream, gaps included: not kernel time
             of a span it is the wall: earliest begin to latest end over its streams; rates use it
busy sum     device times of a span's branches added up: overlap counts twice, so no rate uses it
union        device time in which at least one branch of the span ran
overlap      device time in which at least two branches of the span ran
span         overlapped: communicate ended last in 3 of 3 steady executions, by 3 ms at the median:
             it is the branch to speed up
samples      submit: 15 entered, all kept
             device: 15 entered, all kept
             completion: not asked for, no phase on a stream was waited for
environment  streamgauge 0.1.0
)"[1]);
  CHECK(widest_line(text) <= 100);
}

TEST_CASE("a span's warm-up has its own line, and what was not a span has none of its numbers") {
  auto from = side_by_side(1);
  from.all[2].samples[0].device = nanoseconds{8'000'000};
  auto const text = text_of(from);
  CHECK(has(text,
            "overlapped         2   21.00  21.00  21.00      2   9.000  9.000  9.000     15.00  9.000    6.000\n"
            " (warm-up)         1   21.00  21.00  21.00      1   9.000  9.000  9.000     17.00  9.000    8.000\n"
            "  compute          2   6.000  6.000  6.000      2   6.000  6.000  6.000         -      -        -\n"
            "   (warm-up)       1   6.000  6.000  6.000      1   8.000  8.000  8.000\n"));
  CHECK(has(text, "communicate ended last in 2 of 2 steady executions"));
}

TEST_CASE("branches that end last in turn are named with their counts, the most frequent one first") {
  auto from = side_by_side();
  from.all[2].samples[1].device = nanoseconds{16'000'000};
  from.all[1].samples[1].device = nanoseconds{16'000'000};
  CHECK(has(text_of(from),
            "span         overlapped: communicate ended last in 2 of 3 steady executions, by 3 ms at the median,\n"
            "             compute in 1, by 7 ms: the first of them is the branch to speed up\n"));
  from.all[0].samples.pop_back();
  from.all[1].samples.pop_back();
  CHECK(has(text_of(from),
            "span         overlapped: compute ended last in 1 of 2 steady executions, by 7 ms at the median,\n"
            "             communicate in 1, by 3 ms: no single one is the branch to speed up\n"));
}

TEST_CASE("branches that did not overlap say so, and none of them is the one to speed up") {
  auto from = side_by_side();
  for (auto& one : from.all[3].samples) one.begins = nanoseconds{6'000'000};
  for (auto& one : from.all[1].samples) one.device = nanoseconds{15'000'000};
  auto const text = text_of(from);
  CHECK(has(text, "     15.00  15.00        0\n"));
  CHECK(has(text,
            "span         overlapped: communicate ended last in 3 of 3 steady executions, by 9 ms at the median;\n"
            "             the branches did not overlap, so each of them adds to the wall\n"));
  CHECK_FALSE(has(text, "speed up"));
  // In one execution of three they did.
  from.all[3].samples[2].begins = nanoseconds{5'000'000};
  CHECK_FALSE(has(text_of(from), "did not overlap"));
}

TEST_CASE("branches that end together share the wall, and none of them is the one to speed up") {
  auto from = side_by_side();
  for (auto& one : from.all[2].samples) one.device = nanoseconds{9'000'000};
  CHECK(has(text_of(from), "by 0 ns at the median: no\n             single one is the branch to speed up\n"));
}

TEST_CASE("a phase that is a span and a branch at once is warned of: its numbers describe neither") {
  auto from = side_by_side();
  CHECK_FALSE(has(text_of(from), "warning"));
  auto& whole = from.all[1];
  whole.samples.insert(whole.samples.end(), from.all[2].samples.begin(), from.all[2].samples.end());
  CHECK(has(text_of(from), "warning      overlapped: holds walls of spans and branches of spans alike"));
}

TEST_CASE("a span with one branch has nothing to overlap with") {
  auto from = side_by_side();
  from.all.erase(from.all.begin() + 2);
  CHECK(has(text_of(from),
            "span         overlapped: communicate ended last in 3 of 3 steady executions, with no other branch\n"
            "             beside it\n"));
}

TEST_CASE("executions that are left out of a span's numbers are counted") {
  auto from = side_by_side();
  from.all[2].samples[0].device = absence::pool_full;
  CHECK(has(text_of(from),
            "communicate ended last in 2 of 2 steady executions, by 3 ms at the median:\n"
            "             it is the branch to speed up; left out 1 without an interval of every branch\n"));
  auto sparse = from;
  sparse.all[2].samples.erase(sparse.all[2].samples.begin() + 1);
  sparse.all[3].samples.erase(sparse.all[3].samples.begin() + 1);
  CHECK(has(text_of(sparse), "left out 1 without an interval of every branch; 1 had no\n             branch\n"));
  for (auto& one : from.all[2].samples) one.device = absence::pool_full;
  auto const text = text_of(from);
  CHECK(has(text, "         -      -        -\n  compute"));
  CHECK(has(text,
            "span         overlapped: no steady execution has every interval; left out 3 without an interval of\n"
            "             every branch\n"));
}

TEST_CASE("a span whose streams are only listed has a wall and no columns of branches") {
  auto from = side_by_side();
  from.all.erase(from.all.begin() + 2, from.all.begin() + 4);
  auto const text = text_of(from);
  CHECK(has(text, "of a span it is the wall"));
  CHECK_FALSE(has(text, "busy sum"));
  CHECK_FALSE(has(text, "\nspan "));
}

TEST_CASE("all blocks at once stand below each other within 100 columns") {
  auto from = side_by_side();
  from.all[0].samples[0].records_inside = 2;
  std::uint8_t policy = 0;
  for (auto& one : from.all[1].samples) {
    one.completion = nanoseconds{9'500'000};
    one.waited = static_cast<sg::wait_policy>(policy++);
  }
  auto const text = text_of(from);
  CHECK(widest_line(text) <= 100);
  for (char const* title : {"  span  ", "  completion by spin", "  completion by block", "  completion\n"})
    CHECK(has(text, title));
}

TEST_CASE("phases inside a graph have no submit: a dash, their warm-up lines, and an account that says so") {
  sg::recording from;
  from.all = {
      made_of("replay", {taken(3000, 40'000), taken(2000, 40'000), taken(2000, 40'000)}),
      made_of("layer", {taken(absence::not_asked, nanoseconds{30'000}), taken(absence::not_asked, nanoseconds{20'000}),
                        taken(absence::not_asked, nanoseconds{20'000})})};
  warm_up(from.all[1], 2);
  auto text = text_of(from);
  CHECK(has(text,
            "replay            3   2.000  2.000  3.000      3   40.00  40.00  40.00\n"
            "layer             -       -      -      -      1   20.00  20.00  20.00\n"
            " (warm-up)                                     2   25.00  20.00  30.00\n"
            " (its first)                                       30.00\n"));
  CHECK(has(text, "submit: 3 entered, all kept\n               not asked for: layer 3\n"));
  CHECK_FALSE(has(text, "never entered"));
  // Nothing else was entered.
  from.all.erase(from.all.begin());
  text = text_of(from);
  CHECK(has(text, "submit: not asked for, no phase was entered outside a graph\n"));
  CHECK(has(text, "layer             1   20.00  20.00  20.00\n (warm-up)        2   25.00  20.00  30.00\n"));
  CHECK_FALSE(has(text, "\nsubmit "));
  CHECK_FALSE(has(text, "never entered"));
}

TEST_CASE("a span over several devices says why it has no device time, and each device has a row") {
  sg::recording from;
  from.all = {made_of("step", {taken(nanoseconds{5000}, absence::several_devices)}),
              made_of("step", {taken(absence::not_asked, nanoseconds{6000})}),
              made_of("step", {taken(absence::not_asked, nanoseconds{9000})}),
              made_of("compute", {taken(1000, 6000), taken(1000, 9000)})};
  from.all[1].conditions = {{"device", "0"}};
  from.all[2].conditions = {{"device", "1"}};
  from.all[0].samples[0].part = sg::span_part::whole;
  for (std::uint32_t i = 1; i <= 2; ++i) {
    auto& device = from.all[i].samples[0];
    auto& branch = from.all[3].samples[i - 1];
    device.part = sg::span_part::whole;
    branch.part = sg::span_part::branch;
    device.span = branch.span = i;
    device.parent = branch.parent = 0;
    branch.begins = nanoseconds{0};
  }
  auto const text = text_of(from);
  CHECK(has(text, &R"(
step                   1   5.000  5.000  5.000      -       -      -      -
  step [device=0]      -       -      -      -      1   6.000  6.000  6.000
  step [device=1]      -       -      -      -      1   9.000  9.000  9.000
  compute              2   1.000  1.000  1.000      2   7.500  6.000  9.000

                   span
                   branches, median, us
phase              busy sum  union  overlap
-----------------  ------------------------
step                      -      -        -
  step [device=0]     6.000  6.000        0
  step [device=1]     9.000  9.000        0
  compute                 -      -        -
)"[1]));
  CHECK(has(text, "submit: 3 entered, all kept\n               not asked for: step [device=0] 1, step [device=1] 1\n"));
  CHECK(has(text,
            "device: 4 entered, all kept\n"
            "               not counted 1, several devices have no clock in common; each has a row of its own:\n"
            "                 step 1\n"));
  CHECK(has(text, "span         step [device=1]: compute ended last in 1 of 1 steady executions"));
  CHECK_FALSE(has(text, "never entered"));

  // Where no device has kept a row, the reason still stands there.
  from.all.resize(1);
  CHECK(has(text_of(from),
            "device: 0 entered\n"
            "               not counted 1, several devices have no clock in common; each has a row of its own:\n"));
}

TEST_CASE("case-50 a tool that was attached has a line, and so have samples that a capture touched") {
  auto from = one_phase();
  CHECK_FALSE(has(text_of(from), "\ntool "));
  from.all[0].samples[1].watched = true;
  CHECK(has(text_of(from), "\ntool         1 sample was taken while a capture was open\n"));
  from.environment.tool = "nsys";
  from.environment.tool_sign = "NSYS_PROFILING_SESSION_ID is set";
  for (auto& one : from.all[0].samples) one.watched = true;
  CHECK(has(text_of(from),
            "\ntool         nsys was attached (NSYS_PROFILING_SESSION_ID is set): 3 samples were taken under it\n"));
  from.all.clear();
  CHECK(has(text_of(from), "\ntool         nsys was attached (NSYS_PROFILING_SESSION_ID is set)\n"));
}

TEST_CASE("case-70 the medians' intervals stand in a block of their own, and what is unsteady or far off in lines below") {
  constexpr std::int64_t pattern[] = {-2, 1, 0, 2, -1};
  sg::recording from;
  from.all = {made_of("step", {})};
  for (std::int64_t i = 0; i < 60; ++i) {
    std::int64_t const submit = i < 5 ? 200'000 : 100'000;
    std::int64_t const device = i < 40 ? 500'000 : 520'000;
    auto const off = pattern[i % 5];
    from.all[0].samples.push_back(taken(submit + off * submit / 1000, device + off * device / 1000 + (i == 30 ? 90'000 : 0)));
  }
  warm_up(from.all[0], 2);
  auto const text = text_of(from);
  CHECK(has(text,
            "              submit                       device interval              95 % interval of the median\n"
            "              host, until left, us         event to event, us           % of it, * not seen steady\n"
            "phase         count  median    min    max  count  median    min    max         submit        device\n"
            "------------  ---------------------------  ---------------------------  ---------------------------\n"
            "step             55   100.0  99.80  100.2     58   500.8  499.0  589.0    -0.10 +0.10  -0.25 +3.74*\n"
            " (warm-up)        5   200.0  199.6  200.4      2   499.8  499.0  500.5\n"));
  CHECK(has(text,
            "unsteady     step: device was flat only from sample 38 of 58 on, the level went from 500 us to\n"
            "             520 us (+4.0 %)\n"
            "             figures of what is unsteady are over all samples behind the fixed warm-up\n"
            "outliers     step: device 1 and 1, the worst 589 us at 28\n"
            "             how many lie beyond 1.5 quartile distances, and beyond 3, with the worst and its place\n"));
}

TEST_CASE("what the program said of itself stands under the table, and that recordings were merged") {
  sg::recording from;
  from.environment.given = {{"commit", "3f2a91c"}, {"note\x1b", "a b"}};
  CHECK(has(text_of(from), "\ngiven        commit=3f2a91c, note\\x1b=a b\n"));
  CHECK_FALSE(has(text_of(from), "merged"));
  from.runs = 2;
  CHECK(has(text_of(from), "\nruns         2 recordings were merged: the samples of each stand behind those of the one before\n"));
}
