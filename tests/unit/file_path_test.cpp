// Without these: the ranks of a job that write over each other's results, or a launcher's variable that leads a path
// somewhere else.

#include <streamgauge/report/file_path.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace sg = streamgauge;
using sg::report::path_for;

namespace {

char const* const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                      "SLURM_PROCID"};

struct no_launcher {
  no_launcher() { clear(); }
  ~no_launcher() { clear(); }
  no_launcher(no_launcher const&) = delete;
  no_launcher& operator=(no_launcher const&) = delete;
  static void clear() {
    for (char const* const name : rank_variables) unsetenv(name);
  }
};

}  // namespace

TEST_CASE("the variable of the rank is that of the launcher that is there") {
  no_launcher const alone;
  CHECK(sg::rank_variable() == nullptr);
  for (char const* const name : {"SLURM_PROCID", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    setenv(name, "3", 1);
    CHECK(std::string{sg::rank_variable()} == name);
  }
}

TEST_CASE("a pattern becomes the path of this process") {
  no_launcher const alone;
  CHECK(path_for("run.json").path == "run.json");
  CHECK(path_for("").path.empty());
  CHECK(path_for("run-%p.json").path == "run-" + std::to_string(getpid()) + ".json");
  CHECK(path_for("%r%r").path == "00");  // started alone
  CHECK(path_for("100%%").path == "100%");
  CHECK(path_for("%%p").path == "%p");
  setenv("SLURM_PROCID", "17", 1);
  CHECK(path_for("run-%r.json").path == "run-17.json");
  auto const host = path_for("a/%h/b").path;
  CHECK(host.size() > 4);
  CHECK(host.find('/', 2) == host.size() - 2);  // a name of one part
}

TEST_CASE("what a pattern cannot say is refused, and no path is made") {
  no_launcher const alone;
  char const* const known = " stands for nothing in a path: %p is the process, %r the rank, %h the host, and %% a percent sign";
  CHECK(path_for("run-%q{RANK}").why_not == std::string{"%q"} + known);
  CHECK(path_for("run-%").why_not == std::string{"%"} + known);
  CHECK(path_for("run-%").path.empty());
  CHECK(path_for("%P").why_not == std::string{"%P"} + known);
  for (char const* const wrong : {"../../etc/x", "", " 1", "-1", "1a"}) {
    setenv("PMI_RANK", wrong, 1);
    CHECK(path_for("run-%r").why_not == std::string{"%r is no rank: PMI_RANK holds \""} + wrong + '"');
    CHECK(path_for("run-%r").path.empty());
    CHECK(path_for("run-%p").why_not.empty());
  }
}

TEST_CASE("a text as a part of a file's name leads nowhere else") {
  CHECK(sg::file_part("f<int, 4>/../x") == "f_int__4_____x");
  CHECK(sg::file_part(std::string(100, 'a')).size() == 80);
}
