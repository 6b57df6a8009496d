// Is the second side slower? Compares recordings that programs wrote (write_file(path, json_of(recording))), for people, for pull
// requests and, by its exit status, for CI: 0 same or faster, 1 slower, 2 inconclusive, 3 not comparable.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/analyze/outcome.hpp>
#include <streamgauge/report/comparison_markdown.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/read_recording.hpp>

namespace sg = streamgauge;

constexpr char usage[] =
    "compare [OPTIONS] BEFORE.json AFTER.json             one run a side: within one run only\n"
    "compare [OPTIONS] BEFORE.json... -- AFTER.json...    several runs a side, the standard; made in turns\n"
    "  --threshold PERCENT   what differs by less counts as the same (1)\n"
    "  --what WHAT           submit, device or completion decides alone; all three unless given\n"
    "  --pairs               the first before with the first after, and so on\n"
    "  --markdown            for a pull request\n"
    "exit status: 0 same or faster, 1 slower, 2 inconclusive, 3 not comparable, or nothing to compare\n";

struct request {
  std::vector<std::string> files[2];
  double threshold = sg::default_threshold;
  std::optional<sg::observable> what;
  bool pairs = false;
  bool markdown = false;
  std::string wrong;  // what cannot be understood
};

request read(int argc, char** argv) {
  request found;
  std::vector<std::string> files;
  std::size_t split = 0;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    bool const has_value = i + 1 < argc;
    if (word == "--markdown") {
      found.markdown = true;
    } else if (word == "--pairs") {
      found.pairs = true;
    } else if (word == "--threshold" && has_value) {
      char* end = nullptr;
      found.threshold = std::strtod(argv[++i], &end) / 100;
      if (*end != '\0' || end == argv[i] || *sg::why_no_threshold(found.threshold))
        found.wrong = "--threshold wants a number of percent from 0 up, and \"" + std::string{argv[i]} + "\" is none";
    } else if (word == "--what" && has_value) {
      std::string const name = argv[++i];
      for (auto const each : {sg::observable::submit, sg::observable::device, sg::observable::completion})
        if (name == sg::describe(each)) found.what = each;
      if (!found.what) found.wrong = "--what wants submit, device or completion, and \"" + name + "\" is none";
    } else if (word == "--") {
      if (split > 0) found.wrong = "there is one -- too many";
      split = files.size();
    } else if (word.substr(0, 2) == "--") {
      found.wrong = "there is no option " + word + ", or it wants a value";
    } else {
      files.push_back(word);
    }
  }
  if (split == 0 && files.size() == 2) split = 1;
  if (found.wrong.empty() && (split == 0 || split == files.size())) found.wrong = "two sides are needed, with -- between";
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto& side = found.files[i < split ? 0 : 1];
    bool const again = std::find(side.begin(), side.end(), files[i]) != side.end();
    if (again && found.wrong.empty()) found.wrong = files[i] + " stands twice on one side, and a run counts once";
    side.push_back(files[i]);
  }
  return found;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string{argv[1]} == "--help") return std::cout << usage, 0;
  request const asked = read(argc, argv);
  constexpr int not_comparable = static_cast<int>(sg::outcome::not_comparable);
  if (!asked.wrong.empty()) return std::cerr << "compare: " << asked.wrong << "\n\n" << usage, not_comparable;
  std::vector<sg::recording> sides[2];
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::string const& file : asked.files[side]) {
      auto read = sg::report::read_recording_file(file);
      if (!read) return std::cerr << "compare: " << read.why_not << '\n', not_comparable;
      sides[side].push_back(std::move(*read.taken));
    }
  }
  bool const one = sides[0].size() == 1 && sides[1].size() == 1;
  auto compared = one ? sg::compare(sides[0][0], sides[1][0], asked.threshold)
                      : asked.pairs ? sg::compare_pairs(sides[0], sides[1], asked.threshold)
                                    : sg::compare_runs(sides[0], sides[1], asked.threshold);
  if (asked.what) compared = sg::only(*asked.what, compared);
  sg::outcome const outcome = sg::outcome_of(compared);
  if (asked.markdown)
    sg::report::markdown(std::cout, compared);
  else
    sg::report::table(std::cout, compared), std::cout << '\n' << sg::describe(outcome) << '\n';
  // A verdict that nobody can read the reasons of is none.
  if (!std::cout.flush()) return std::cerr << "compare: the standard output could not be written\n", not_comparable;
  return static_cast<int>(outcome);
}
