#pragma once

namespace streamgauge {

/// The library's version. Written here and nowhere else: the build reads this line.
inline constexpr char version_string[] = "0.1.0";

/// One number of the version string: place 0 is the major one, 1 the minor, 2 the patch.
[[nodiscard]] constexpr int version_number(int place) noexcept {
  int number = 0;
  for (char const digit : version_string) {
    if (digit == '\0' || (digit == '.' && place == 0)) break;
    if (digit == '.') {
      --place;
      number = 0;
    } else {
      number = number * 10 + (digit - '0');
    }
  }
  return number;
}

inline constexpr int version_major = version_number(0);
inline constexpr int version_minor = version_number(1);
inline constexpr int version_patch = version_number(2);

}  // namespace streamgauge
