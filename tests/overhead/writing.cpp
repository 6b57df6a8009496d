// What it costs to write results down, and to read them back. No device is needed, so it is judged everywhere.

#include <chrono>
#include <cstddef>
#include <string>

#include <streamgauge/report/csv.hpp>
#include <streamgauge/report/recording_json.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

namespace {

constexpr std::size_t samples = 1'000'000;

sg::recording recorded(std::size_t phases) {
  sg::recording made;
  std::uint64_t drawn = 1;
  for (std::size_t i = 0; i < phases; ++i) {
    made.all.emplace_back();
    made.all.back().phase = "phase " + std::to_string(i);
    made.all.back().conditions = {{"rows", std::to_string(i)}};
    for (std::size_t k = 0; k < samples / phases; ++k) {
      drawn = drawn * 6364136223846793005U + 1442695040888963407U;
      auto const noise = static_cast<std::int64_t>(drawn >> 54);
      sg::sample one;
      one.entered = sg::nanoseconds{60'000'000'000 + static_cast<std::int64_t>(k) * 123'457};
      one.submit = sg::nanoseconds{2000 + noise};
      one.device = sg::nanoseconds{12'000 + noise};
      one.completion = sg::nanoseconds{15'000 + noise};
      one.queue = sg::nanoseconds{3000 + noise};
      one.bound = sg::nanoseconds{2339};
      one.waited = sg::wait_policy::spin;
      one.stream = 1;
      made.all.back().samples.push_back(one);
    }
  }
  return made;
}

template <class Text>
void keep(Text const& kept) {
  asm volatile("" ::"r"(&kept) : "memory");
}

}  // namespace

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  sg::recording const one = recorded(1);
  sg::recording const many = recorded(1000);
  race writing{1e6};  // ns for each are ms for all
  auto const add = [&](char const* name, auto write) {
    writing.add(name, [write] {
      auto const before = std::chrono::steady_clock::now();
      auto const text = write();
      keep(text);
      return std::chrono::steady_clock::now() - before;
    });
  };
  add("JSON, one phase", [&] { return sg::report::json_of(one); });
  add("JSON, a thousand phases", [&] { return sg::report::json_of(many); });
  add("JSON, a thousand phases, with summaries",
      [&] { return sg::report::json_of(many, {sg::report::part::included, sg::report::part::included}); });
  add("CSV, one phase", [&] { return sg::report::samples_csv(one); });
  add("CSV, a thousand phases", [&] { return sg::report::samples_csv(many); });
  writing.run(5);
  writing.print("writing 1,000,000 samples, ms");

  bounds held;
  for (char const* const name : {"JSON, one phase", "JSON, a thousand phases"})
    held.at_most(writing.of(name).least(), 1000.0, "ms", name);
  return held.exit_code();
}
