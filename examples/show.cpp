// Recordings that programs wrote, as somebody wants to see them: a table, a page for the browser, a trace for Perfetto.
// Several are the ranks of one program: each one's median, the slowest, the spread.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/analyze/ranks.hpp>
#include <streamgauge/report/file.hpp>
#include <streamgauge/report/html.hpp>
#include <streamgauge/report/latency_table.hpp>
#include <streamgauge/report/rank_table.hpp>
#include <streamgauge/report/read_recording.hpp>
#include <streamgauge/report/table.hpp>
#include <streamgauge/report/trace.hpp>

namespace sg = streamgauge;

constexpr char usage[] =
    "show RUN.json                      the table, and where the time went between host and device\n"
    "show run-0.json run-1.json ...     the ranks side by side\n"
    "show --html PAGE.html RUN.json     a page for the browser; with two recordings it compares them\n"
    "show --trace TRACE.json RUN.json   a trace for ui.perfetto.dev\n";

// What could not be written is said, and ends the program with 1.
int write(std::string const& path, std::string const& text) {
  auto const done = sg::report::write_file(path, text);
  if (!done) return std::cerr << "show: " << done.why_not << '\n', 1;
  return std::cout << "written: " << done.path << '\n', 0;
}

int show(int argc, char** argv) {
  std::string kind, target;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    bool const is_kind = word == "--html" || word == "--trace";
    if (is_kind && kind.empty() && i + 1 < argc && std::string{argv[i + 1]}.substr(0, 2) != "--") {
      kind = word;
      target = argv[++i];
    } else if (word.substr(0, 2) == "--") {
      return std::cerr << "show: " << word << " is no option, or wants a value, or came twice\n\n" << usage, 1;
    } else {
      files.push_back(word);
    }
  }
  if (files.empty()) return std::cerr << usage, 1;
  std::vector<sg::recording> all;
  for (std::string const& file : files) {
    auto read = sg::report::read_recording_file(file);
    if (!read) return std::cerr << "show: " << read.why_not << '\n', 1;
    all.push_back(std::move(*read.taken));
  }
  if (kind == "--trace" && all.size() > 1) return std::cerr << "show: a trace is of one recording\n", 1;
  if (kind == "--html" && all.size() > 2) return std::cerr << "show: a page is of one recording, or compares two\n", 1;
  if (kind == "--trace") return write(target, sg::report::trace_of(all[0]));
  if (kind == "--html") {
    std::ostringstream page;
    all.size() == 2 ? sg::report::html(page, all[0], all[1]) : sg::report::html(page, all[0]);
    return write(target, page.str());
  }
  if (all.size() > 1) return sg::report::rank_table(std::cout, sg::by_rank(all), files), 0;
  sg::report::table(std::cout, all[0]);
  if (!all[0].clocks.empty()) sg::report::latency_table(std::cout << '\n', all[0]);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string{argv[1]} == "--help") return std::cout << usage, 0;
  int const status = show(argc, argv);
  if (!std::cout.flush()) return std::cerr << "show: the standard output could not be written\n", 1;
  return status;
}
