// Would go unseen without these: a command line that starts another program, or the same one with other arguments.
#include <streamgauge/measure/this_program.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

namespace sg = streamgauge;
using words = std::vector<std::string>;

namespace {
std::string listed(std::string_view text) { return std::string{text}; }
}  // namespace

TEST_CASE("the kernel's list of arguments becomes words, empty ones and blanks and line breaks among them") {
  CHECK(sg::words_of_arguments(listed({"./my app\0--name\0\0a\nb\0", 21})).words ==
        words{"./my app", "--name", "", "a\nb"});
  CHECK(sg::words_of_arguments(listed({"app\0", 4})).words == words{"app"});
}

TEST_CASE("a list that starts nothing is absent, with the reason") {
  CHECK(sg::words_of_arguments("").why_not == "the list of its arguments is empty");
  CHECK(sg::words_of_arguments("app: worker 3").why_not == "the program has written over its arguments");
  CHECK(sg::words_of_arguments(listed({"\0x\0", 3})).why_not == "the program was started without a name");
  auto const missing = sg::this_program("/nowhere/cmdline");
  CHECK(missing.words.empty());
  CHECK(missing.why_not == "/nowhere/cmdline cannot be read");
}

TEST_CASE("this program's own words begin with its name") {
  auto const own = sg::this_program();
  CHECK(own.why_not.empty());
  REQUIRE_FALSE(own.words.empty());
  CHECK(own.words.front().find("tests") != std::string::npos);
}
