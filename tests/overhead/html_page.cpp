// What a page of a large recording costs: 20 phases with 100,000 samples each, each with a submit and a device time. No
// device is needed, so it is judged everywhere.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <streamgauge/report/html.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

namespace {

// Takes what is written and counts it.
struct measured_out {
  std::size_t size = 0;
  void write(char const*, std::ptrdiff_t bytes) { size += static_cast<std::size_t>(bytes); }
};

}  // namespace

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  sg::recording made;
  std::uint64_t drawn = 1;
  for (std::size_t i = 0; i < 20; ++i) {
    sg::series phase;
    phase.phase = "phase " + std::to_string(i);
    phase.samples.reserve(100'000);
    for (std::int64_t at = 0; at < 100'000; ++at) {
      drawn = drawn * 6364136223846793005U + 1442695040888963407U;
      sg::sample one;
      one.entered = sg::nanoseconds{at * 200'000};
      one.submit = sg::nanoseconds{10'000 + static_cast<std::int64_t>(drawn >> 54U)};
      one.device = sg::nanoseconds{100'000 + static_cast<std::int64_t>((drawn >> 40U) % 96U) * 32};
      one.warmup = at < 20;
      phase.samples.push_back(one);
    }
    made.all.push_back(std::move(phase));
  }
  measured_out out;
  race writing{1};
  writing.add("a page of 20 phases with 100,000 samples each", [&] {
    auto const before = std::chrono::steady_clock::now();
    out.size = 0;
    sg::report::html(out, made);
    return std::chrono::steady_clock::now() - before;
  });
  writing.run(5);

  bounds held;
  held.at_most(writing.of("a page of 20 phases with 100,000 samples each").least() / 1e9, 1.0, "s", "writing the page");
  held.at_most(static_cast<double>(out.size) / 1e6, 2.0, "MB", "its size");
  return held.exit_code();
}
