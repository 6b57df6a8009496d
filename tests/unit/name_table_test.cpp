// Would go unseen without these: a name that is made known twice, or never, and a program that fills the tool's memory with
// names that it makes up.
#include <streamgauge/mark/name_table.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sg = streamgauge;

namespace {

/// A tool that gives the names' numbers, counted from 1, as handles.
struct numbering {
  std::vector<std::string> told{};
  bool silent = false;

  sg::name_table::answer ask(sg::name_table& table, std::string_view name) {
    return table.handle_of(name, [this](char const* text) -> void* {
      told.emplace_back(text);
      return silent ? nullptr : reinterpret_cast<void*>(told.size());
    });
  }
};

void* number(std::size_t n) { return reinterpret_cast<void*>(n); }

}  // namespace

static_assert(!std::is_copy_constructible_v<sg::name_table> && !std::is_copy_assignable_v<sg::name_table>);

TEST_CASE("each name is made known once, whoever holds its text, and keeps its handle") {
  sg::name_table table;
  numbering tool;
  std::string const buffer = "abcdef";
  CHECK(tool.ask(table, "abc").handle == number(1));
  CHECK(tool.ask(table, "").handle == number(2));
  CHECK(tool.ask(table, std::string_view{buffer}.substr(0, 3)).handle == number(1));
  CHECK(tool.ask(table, buffer).handle == number(3));
  CHECK(tool.ask(table, std::string_view{}).handle == number(2));
  CHECK(tool.ask(table, "ab").handle == number(4));
  CHECK(tool.told == std::vector<std::string>{"abc", "", "abcdef", "ab"});
  CHECK(table.size() == 4);
}

TEST_CASE("case-62 a name ends at its first NUL") {
  sg::name_table table;
  numbering tool;
  CHECK(tool.ask(table, std::string_view{"a\0b", 3}).handle == number(1));
  CHECK(tool.ask(table, "a").handle == number(1));
  CHECK(tool.ask(table, std::string_view{"\0", 1}).handle == number(2));
  CHECK(tool.ask(table, "").handle == number(2));
  CHECK(tool.told == std::vector<std::string>{"a", ""});
}

TEST_CASE("there is room for 1024 names; those that are known go on when it is full") {
  sg::name_table table;
  numbering tool;
  for (std::size_t i = 0; i < 1024; ++i) CHECK(tool.ask(table, "step " + std::to_string(i)).handle == number(i + 1));
  CHECK(table.size() == 1024);
  for (int i = 1024; i < 1030; ++i) {
    auto const refused = tool.ask(table, "step " + std::to_string(i));
    CHECK(refused.handle == nullptr);
    CHECK(std::string{refused.why_not} == "there are 1024 names already: give ranges that differ by a number one name");
  }
  for (std::size_t i = 0; i < 1024; ++i) CHECK(tool.ask(table, "step " + std::to_string(i)).handle == number(i + 1));
  CHECK(tool.told.size() == 1024);
  CHECK(tool.told.at(1023) == "step 1023");
}

TEST_CASE("a tool that gives no handle is asked once for each name") {
  sg::name_table table;
  numbering tool;
  tool.silent = true;
  for (int i = 0; i < 3; ++i) {
    auto const refused = tool.ask(table, "step");
    CHECK(refused.handle == nullptr);
    CHECK(std::string{refused.why_not} == "the tool registers no names, and without one nobody knows the range");
  }
  CHECK(tool.told.size() == 1);
}
