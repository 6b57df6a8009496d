// Without these, a program under a tool could crash after its work is done: in a static destructor, or when a plug-in
// that marked is unloaded; and a tool that takes no deferred events could get them, or stop those that follow.
#include <doctest/doctest.h>

#include <streamgauge/mark/deferred_calls.hpp>

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

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)

namespace {

// The host submits a range, then the plug-in, twice, then the host again.
std::string deferred() { return "'" + beside("nvtx_deferred_host") + "' '" + beside("libnvtx_deferred_plugin.so") + "'"; }

lines all_said(std::string const& what) {
  return {"host: " + what + "\n", "plug-in: " + what + "\n", "plug-in: " + what + "\n", "host: " + what + "\n"};
}

}  // namespace

TEST_CASE("case-65: a plug-in that submits ranges after the fact is really unloaded, and so is all that it made known") {
  std::string const schema =
      ":range after the fact fields=7e type=1 flags=18 size=24 [begin type=17 flags=1800 at=0 time=1]"
      " [end type=17 flags=2800 at=8 time=1] [name type=80 flags=400 at=16]";
  lines expected{"T0 domain streamgauge_device", "T0 schema streamgauge_device" + schema,
                 "T0 register streamgauge_device:of the host", "T0 deferred streamgauge_device:of the host registered"};
  for (int i = 0; i < 2; ++i) {
    expected.push_back("T0 domain in_plugin");
    expected.push_back("T0 schema in_plugin" + schema);
    expected.push_back("T0 register in_plugin:of the plug-in");
    expected.push_back("T0 deferred in_plugin:of the plug-in registered");
  }
  expected.push_back("T0 deferred streamgauge_device:of the host registered");
  auto const seen = run(deferred(), with_tool());
  CHECK(seen.exit_code == 0);
  CHECK(seen.output == all_said("submitted"));
  CHECK(seen.calls == expected);
}

TEST_CASE("without a tool nothing is submitted, and it is said so") {
  auto const seen = run(deferred(), no_tool);
  CHECK(seen.exit_code == 0);
  CHECK(seen.output == all_said("no tool listens to NVTX"));
  CHECK(seen.calls == lines{});
}

TEST_CASE("a tool that takes ranges and no deferred events gets none of these, and it is said so") {
  lines const expected{"T0 domain streamgauge_device", "T0 domain in_plugin", "T0 domain in_plugin"};
  std::string const why = "the tool that listens to NVTX takes no deferred events: it registers no payload schema";
  SUBCASE("it does not know of extensions") {
    auto const seen =
        run(deferred(), "NVTX_INJECTION64_PATH='" + beside("libnvtx_injection_without_deferred.so") + "'");
    CHECK(seen.exit_code == 0);
    CHECK(seen.output == all_said(why));
    CHECK(seen.calls == expected);
  }
  SUBCASE("its part for extensions refuses to start") {
    auto const seen = run(deferred(), with_tool() + " STREAMGAUGE_TEST_NVTX_EXTENSION=fails");
    CHECK(seen.exit_code == 0);
    CHECK(seen.output == all_said(why));
    CHECK(seen.calls == expected);
  }
}

#endif
