// Writes recordings for the tests of the programs that read them: recordings FOLDER.
#include <cstdint>
#include <iostream>
#include <string>

#include <streamgauge/report/file.hpp>
#include <streamgauge/report/recording_json.hpp>

namespace sg = streamgauge;
using sg::nanoseconds;

sg::recording run(std::int64_t level, std::string const& device = "one device", std::int64_t noise = 1) {
  constexpr std::int64_t pattern[] = {-2, 1, 0, 2, -1};
  sg::recording made;
  made.environment.devices.resize(1);
  made.environment.devices[0].name = device;
  made.all.resize(1);
  made.all[0].phase = "step <b>&|";
  for (std::size_t i = 0; i < 60; ++i) {
    sg::sample one;
    one.entered = nanoseconds{static_cast<std::int64_t>(i) * 1'000'000};
    one.device = nanoseconds{level + noise * pattern[i % 5] * level / 1000};
    made.all[0].samples.push_back(one);
  }
  return made;
}

int main(int, char** argv) {
  std::string const folder = std::string{argv[1]} + '/';
  auto const write = [&](std::string const& name, sg::recording const& of) {
    auto const done = sg::report::write_file(folder + name, sg::report::json_of(of));
    if (!done) std::cerr << done.why_not << '\n', std::exit(1);
  };
  for (std::int64_t i = 0; i < 5; ++i) {
    write("before-" + std::to_string(i) + ".json", run(100'000 + 20 * i));
    write("same-" + std::to_string(i) + ".json", run(100'010 + 20 * i));
    write("slower-" + std::to_string(i) + ".json", run(103'000 + 20 * i));
    write("wild-" + std::to_string(i) + ".json", run(80'000 + 12'000 * i));
  }
  write("elsewhere.json", run(100'000, "another device"));
}
