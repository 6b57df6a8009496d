// Without these, a program under a tool could crash after its work is done: in a static destructor, or when a plug-in
// that marked is unloaded.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "injection.hpp"
#include "lines.hpp"

namespace {

// The programs lie beside this one.
std::string beside(std::string const& name) {
  char path[4096];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  std::string const self{path, length > 0 ? static_cast<std::size_t>(length) : 0};
  return self.substr(0, self.rfind('/') + 1) + name;
}

struct outcome {
  int exit_code;
  lines output;
  lines calls;
};

// Runs a program under the injection library, or without any tool.
outcome run(std::string const& command, std::string const& environment) {
  std::string const log = beside("process_test_" + std::to_string(getpid()) + ".log");
  std::remove(log.c_str());
  outcome result{-1, {}, {}};
  FILE* const pipe =
      popen(("env " + environment + " STREAMGAUGE_TEST_NVTX_LOG='" + log + "' " + command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char line[1024];
  while (std::fgets(line, sizeof line, pipe) != nullptr) result.output.emplace_back(line);
  int const status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream file{log};
  for (std::string call; std::getline(file, call);) result.calls.push_back(call);
  std::remove(log.c_str());
  return result;
}

std::string const no_tool = "-u NVTX_INJECTION64_PATH";
std::string with_tool() { return "NVTX_INJECTION64_PATH='" + beside("libnvtx_injection.so") + "'"; }

}  // namespace

TEST_CASE("case-65: ranges in static destructors reach the tool, and no domain is destroyed at exit") {
  auto const seen = run("'" + beside("nvtx_exit_program") + "'", with_tool());
  CHECK(seen.exit_code == 0);
  CHECK(seen.output == lines{});
  CHECK(seen.calls == lines{"T0 domain at_exit", "T0 start #0 at_exit:open until exit", "T1 register at_exit:last",
                            "T1 push at_exit:last registered", "T1 register :streamgauge", "T1 push :dying",
                            "T1 pop :", "T1 pop at_exit:", "T0 end #0 at_exit:", "T0 push at_exit:last registered",
                            "T0 push :dying", "T0 pop :", "T0 pop at_exit:"});
}

TEST_CASE("case-65: ranges in static destructors are quiet without a tool") {
  auto const seen = run("'" + beside("nvtx_exit_program") + "'", no_tool);
  CHECK(seen.exit_code == 0);
  CHECK(seen.output == lines{});
  CHECK(seen.calls == lines{});
}

TEST_CASE("case-65: a plug-in that marks is really unloaded, and the program goes on marking and exits well") {
  auto const command = "'" + beside("nvtx_plugin_host") + "' '" + beside("libnvtx_plugin.so") + "'";
  lines const of_plugin{"T0 domain plugin",
                        "T0 register plugin:step",
                        "T0 category plugin:3258481713 io",
                        "T0 push plugin:step registered category=3258481713",
                        "T0 register :streamgauge",
                        "T0 push :lazy",
                        "T0 register plugin:label",
                        "T0 push plugin:label registered color=ff123456 payload=uint64:0",
                        "T0 pop plugin:",
                        "T0 mark :mark",
                        "T0 pop :",
                        "T0 pop plugin:",
                        "T0 push plugin:unloading",
                        "T0 pop plugin:"};
  lines expected{"T0 push :host"};
  for (int i = 0; i < 2; ++i) {
    expected.push_back("T0 push :plug-in");
    expected.insert(expected.end(), of_plugin.begin(), of_plugin.end());
    expected.push_back("T0 pop :");
  }
  expected.push_back("T0 pop :");
  auto const seen = run(command, with_tool());
  CHECK(seen.exit_code == 0);
  CHECK(seen.output == lines{});
  CHECK(seen.calls == expected);
  CHECK(run(command, no_tool).exit_code == 0);
}
