#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

using lines = std::vector<std::string>;

// So that a failed comparison shows the calls.
template <>
struct doctest::StringMaker<lines> {
  static doctest::String convert(lines const& all) {
    std::string text = "{";
    for (auto const& line : all) text += "\n    \"" + line + "\"";
    return (text + "}").c_str();
  }
};
