// Would go unseen without these: a filter that the tool takes, that matches nothing, and that nobody is told of.
#include <streamgauge/mark/filter.hpp>

#include <doctest/doctest.h>

#include "shell.hpp"

namespace sg = streamgauge;
using sg::range_style;

namespace {
std::string ncu(std::string_view name) { return sg::ncu_include(name).raw; }
std::string nsys(std::string_view name, std::string_view domain = {}) { return sg::nsys_capture(name, domain).raw; }
std::string why_not_ncu(std::string_view name) { return sg::ncu_include(name).why_not; }
std::string why_not_nsys(std::string_view name, std::string_view domain = {}) {
  return sg::nsys_capture(name, domain).why_not;
}
}  // namespace

TEST_CASE("case-60: nsys wants the name first, ncu the domain, and a slash behind a push/pop range") {
  CHECK(nsys("step", "mylib") == "step@mylib");
  CHECK(sg::ncu_include("step", "mylib").raw == "mylib@step/");
  CHECK(sg::ncu_include("step", "mylib", range_style::start_end).raw == "mylib@step");
  CHECK(nsys("step") == "step");
  CHECK(ncu("step") == "step/");
  CHECK(sg::ncu_include("step", {}, range_style::start_end).raw == "step");
}

TEST_CASE("case-61: what is an operator in ncu's filters is escaped, and nothing else") {
  struct {
    char const* name;
    char const* filter;
  } const table[] = {
      {"a/b", "a\\/b/"},
      {"x@y", "x\\@y/"},
      {"v[0]", "v\\[0\\]/"},
      {"p+q", "p\\+q/"},
      {"a,b", "a\\,b/"},
      {"s*t", "s\\*t/"},
      {"*", "\\*/"},
      {"/", "\\//"},
      {"target", "target/"},
      {"two words", "two words/"},
      {"f<int, 4>", "f<int\\, 4>/"},
      {"it's", "it's/"},
      {"say \"hi\"", "say \"hi\"/"},
      {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9/"},
      {"$HOME `x`", "$HOME `x`/"},
      {"a\tb", "a\tb/"},
      {"a\nb", "a\nb/"},
      {"50%", "50%/"},
      {"a:b", "a:b/"},
      {"ns::f(x)", "ns::f(x)/"},
      {"(x)", "(x)/"},
      {"{y}", "{y}/"},
      {"a|b", "a|b/"},
      {"^a$", "^a$/"},
      {"a.b", "a.b/"},
      {"?q", "?q/"},
      {"#h", "#h/"},
      {"~t", "~t/"},
      {"!n", "!n/"},
      {"a&b", "a&b/"},
      {"-dash", "-dash/"},
      {" before", " before/"},
      {"behind ", "behind /"},
      {"\"re gex:x\"", "\"re gex:x\"/"},
  };
  for (auto const& each : table) {
    CAPTURE(each.name);
    CHECK(ncu(each.name) == each.filter);
    CHECK(why_not_ncu(each.name).empty());
  }
}

TEST_CASE("a domain is escaped as a name is") {
  CHECK(sg::ncu_include("plain", "my.dom/x@y").raw == "my.dom\\/x\\@y@plain/");
  CHECK(sg::ncu_include("plain", "d,1[2]").raw == "d\\,1\\[2\\]@plain/");
  CHECK(sg::ncu_include("plain", "lib a").raw == "lib a@plain/");
  CHECK(sg::ncu_include("x@y", "dom", range_style::start_end).raw == "dom@x\\@y");
  CHECK(sg::ncu_include("a/b", {}, range_style::start_end).raw == "a\\/b");
}

TEST_CASE("ranges that are nested stand in one filter, the outermost first") {
  CHECK(sg::ncu_include({"measured_step", "target"}).raw == "measured_step/target/");
  CHECK(sg::ncu_include({"a/b", "c", "f<int, 4>"}, "my lib").raw == "my lib@a\\/b/c/f<int\\, 4>/");
  CHECK(sg::ncu_include({"a", "b"}, {}, range_style::start_end).why_not ==
        "start/end ranges lie in no stack, so none is inside another");
  CHECK(sg::ncu_include(std::initializer_list<std::string_view>{}).why_not == "no range was named");
}

TEST_CASE("case-61: a name that ncu cannot match is refused with the reason, not mangled") {
  CHECK(why_not_ncu("a\\b") == "a backslash was not matched by ncu when it was tried");
  CHECK(sg::ncu_include("a=b").raw == "a=b/");
  CHECK(why_not_ncu("a;c") == "a semicolon was not matched by ncu when it was tried");
  CHECK(why_not_ncu("a=b;c") == "a semicolon was not matched by ncu when it was tried");
  CHECK(why_not_ncu("regex:x") == "ncu takes a name that begins with regex: for a pattern");
  CHECK(why_not_ncu("") == "the name is empty");
  CHECK(why_not_ncu(std::string_view{"a\0b", 3}) == "the name holds a zero byte, and NVTX ends it there");
  CHECK(sg::ncu_include("step", "d\\e").why_not == "a backslash was not matched by ncu when it was tried");
  CHECK(sg::ncu_include({"fine", "a\\b"}).why_not == "a backslash was not matched by ncu when it was tried");
  for (auto const& refused : {sg::ncu_include("a\\b"), sg::ncu_include("s", "d;"), sg::ncu_include({"fine", ""})}) {
    CHECK_FALSE(refused.usable());
    CHECK(refused.raw.empty());
    CHECK(refused.quoted().empty());
  }
}

TEST_CASE("nsys: an @ that belongs to a name or a domain is escaped, and nothing else") {
  CHECK(nsys("target") == "target");
  CHECK(nsys("x@y", "lib") == "x\\@y@lib");
  CHECK(nsys("step", "a@b") == "step@a\\@b");
  for (char const* name : {"a b", "a*b", "v[0]", "a/b", "it's", "\xc3\xa9t\xc3\xa9", "se"}) CHECK(nsys(name) == name);
}

TEST_CASE("nsys: a name that it cannot match is refused with the reason") {
  CHECK(sg::nsys_capture("x@y").raw == "x\\@y@*");
  CHECK(why_not_nsys("f<int, 4>") == "a comma was not matched by nsys when it was tried");
  CHECK(why_not_nsys("say \"hi\"") == "a double quote was not matched by nsys when it was tried");
  CHECK(sg::nsys_capture("a\\b").raw == "a\\\\b@*");
  CHECK(sg::nsys_capture("step", "a\\b").why_not == "a backslash in a domain's name was not tried with nsys");
  CHECK(why_not_nsys("step", "a,b") == "a comma was not matched by nsys when it was tried");
  CHECK(why_not_nsys("step", "*") == "nsys takes the domain * for any domain");
  CHECK(why_not_nsys("") == "the name is empty");
  CHECK(nsys("a,b").empty());
}

TEST_CASE("case-57: nsys needs its variable for names that are not registered, and for those alone") {
  CHECK(sg::nsys_variable_for(sg::name_kind::text) == "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0");
  CHECK(sg::nsys_variable_for(sg::name_kind::registered).empty());
}

TEST_CASE("case-61: the quoted text through a shell gives the raw element back, byte for byte") {
  for (std::string_view const name : {"two words",
                                      "it's",
                                      "''",
                                      "say \"hi\"",
                                      "$HOME `id` $(id)",
                                      "a\nb",
                                      "a\tb",
                                      "!n",
                                      "*",
                                      "~t",
                                      "#h",
                                      "?q",
                                      "a&b|c",
                                      "-dash",
                                      " before",
                                      "behind ",
                                      "f<int, 4>",
                                      "{a,b}",
                                      "50%",
                                      "a%b",
                                      "\xc3\xa9t\xc3\xa9",
                                      "\xff\x01",
                                      "x@y/v[0]"}) {
    CAPTURE(name);
    auto const argument = sg::ncu_include(name, "my lib");
    CHECK(words_from_shell(argument.quoted()) == argument.raw + '\0');
    CHECK(words_from_shell(sg::shell_word(name)) == std::string{name} + '\0');
  }
  CHECK(words_from_shell(sg::shell_word("") + ' ' + sg::shell_word("a")) == std::string{"\0a\0", 3});
  CHECK(words_from_shell(sg::shell_word("a\\b")) == std::string{"a\\b\0", 4});
}

TEST_CASE("a word in which a shell sees nothing special stays as it is") {
  CHECK(sg::shell_word("--nvtx-capture=step@lib") == "--nvtx-capture=step@lib");
  CHECK(sg::shell_word("target/") == "target/");
  CHECK(sg::shell_word("a b") == "'a b'");
  CHECK(sg::shell_word("it's") == "'it'\\''s'");
  CHECK(sg::shell_word("") == "''");
}
