// What was tried, and what it brought: one line a try, appended to a file of JSON lines, and shown as a history.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <streamgauge/analyze/outcome.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/read_recording.hpp>

namespace sg = streamgauge;
using nlohmann::json;

constexpr char usage[] =
    "tuning_log LOG.jsonl                                              the history\n"
    "tuning_log LOG.jsonl CHANGE BEFORE.json AFTER.json                one more line: what was changed, and what it brought\n"
    "tuning_log LOG.jsonl CHANGE BEFORE.json... -- AFTER.json...       from several runs a side\n";

std::string now_in_utc() {
  std::time_t const now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

json line_of(std::string const& change, sg::recording_comparison const& compared) {
  json line{{"schema", "streamgauge.try"}, {"version", 1}, {"time", now_in_utc()}, {"change", change}};
  line["outcome"] = sg::describe(sg::outcome_of(compared));
  line["entries"] = json::array();
  for (auto const& each : compared.entries) {
    json entry{{"series", sg::report::identity_of(each.phase, each.conditions)}, {"what", sg::describe(each.what)}};
    entry["verdict"] = sg::describe(each.result.verdict);
    entry["before_ns"] = each.result.a.median ? json(*each.result.a.median) : json();
    entry["after_ns"] = each.result.b.median ? json(*each.result.b.median) : json();
    entry["ratio"] = each.result.ratio ? json(*each.result.ratio) : json();
    entry["interval"] = each.result.interval ? json{each.result.interval->low, each.result.interval->high} : json();
    entry["basis"] = sg::describe(each.result.basis);
    entry["runs"] = {each.result.a.runs, each.result.b.runs};
    line["entries"].push_back(entry);
  }
  return line;
}

// Whether the last line has no end: who wrote it was killed, or the disk was full. What is written next would belong to it.
bool ends_within_line(std::string const& log) {
  std::ifstream from{log, std::ios::ate | std::ios::binary};
  return from && from.tellg() > 0 && from.seekg(-1, std::ios::end) && from.get() != '\n';
}

// One line of the history for each series and observable of a try; a line that is none says so and costs no other.
int show(std::string const& log) {
  std::ifstream from{log};
  if (!from) return std::cerr << "tuning_log: cannot read " << log << '\n', 1;
  sg::report::grid<> lines;
  auto& cells = lines.next_block();
  cells.title = "what it brought";
  cells.subtitle = "medians";
  cells.columns = 6;
  for (char const* heading : {"what", "before", "after", "change", "verdict", "by"}) cells.cells.emplace_back(heading);
  std::string text, below;
  for (std::size_t number = 1; std::getline(from, text); ++number) {
    json const line = json::parse(text, nullptr, false);
    if (line.is_discarded()) {
      below += "line " + std::to_string(number) + " is no line of this program: it is no JSON\n";
      continue;
    }
    try {
      for (json const& entry : line.at("entries")) {
        auto const time = [&](char const* key) {
          return entry.at(key).is_null() ? "-" : sg::report::with_unit(sg::fractional_nanoseconds{entry.at(key).get<double>()});
        };
        // The name of a series was escaped when the line was written.
        std::string series = sg::report::escaped(entry.at("series").get<std::string>());
        for (auto at = series.find("\\\\"); at != series.npos; at = series.find("\\\\", at + 1)) series.erase(at, 1);
        std::string const name = sg::report::escaped(line.at("time").get<std::string>().substr(0, 16) + "  " +
                                                     line.at("change").get<std::string>()) + ", " + series;
        // All of it is read before any of it is shown: a row of fewer cells would shift those below.
        std::vector<std::string> const row{
            sg::report::escaped(entry.at("what").get<std::string>()), time("before_ns"), time("after_ns"),
            entry.at("ratio").is_null() ? "-" : sg::report::change_of(entry.at("ratio").get<double>()),
            sg::report::escaped(entry.at("verdict").get<std::string>()), sg::report::escaped(entry.value("basis", "-"))};
        lines.add_line(name, "");
        cells.cells.insert(cells.cells.end(), row.begin(), row.end());
      }
    } catch (json::exception const& wrong) {
      below += "line " + std::to_string(number) + " is no line of this program: " + sg::report::escaped(wrong.what()) + '\n';
    }
  }
  if (from.bad()) return std::cerr << "tuning_log: cannot read " << log << ": is it a folder?\n", 1;
  lines.measure(cells);
  std::cout << lines.text() << below;
  if (!std::cout.flush()) return std::cerr << "tuning_log: the standard output could not be written\n", 1;
  return below.empty() ? 0 : 1;
}

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  if (words.empty()) return std::cerr << usage, 1;
  if (words[0] == "--help") return std::cout << usage, 0;
  if (words.size() == 1) return show(words[0]);
  std::vector<std::string> files(words.begin() + 2, words.end());
  auto const split = std::find(files.begin(), files.end(), "--");
  std::size_t const before = split != files.end() ? static_cast<std::size_t>(split - files.begin()) : 1;
  if (split != files.end()) files.erase(split);
  if (before == 0 || files.size() <= before || (before == 1 && files.size() > 2 && words.size() - 2 == files.size()))
    return std::cerr << usage, 1;
  std::vector<sg::recording> sides[2];
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto read = sg::report::read_recording_file(files[i]);
    if (!read) return std::cerr << "tuning_log: " << read.why_not << '\n', 1;
    sides[i < before ? 0 : 1].push_back(std::move(*read.taken));
  }
  auto const compared = files.size() == 2 ? sg::compare(sides[0][0], sides[1][0]) : sg::compare_runs(sides[0], sides[1]);
  // One write of a whole line: what runs beside this appends before or behind it.
  std::string const text = (ends_within_line(words[0]) ? "\n" : "") + line_of(words[1], compared).dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  std::ofstream into{words[0], std::ios::app};
  into.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  if (!into) return std::cerr << "tuning_log: cannot write " << words[0] << '\n', 1;
  into.close();
  return show(words[0]);
}
