#pragma once

#include <cstdint>
#include <string>

namespace streamgauge {

/// What holds the clocks of a device back, in words: NVML's bits of clock event reasons, which it called throttle reasons
/// before. `nothing` where no bit is set; a bit without a word as a number.
/// Example: `describe_clock_event_reasons(0x24)` is "software power cap, software thermal slowdown"
template <class Text = std::string>
[[nodiscard, gnu::cold]] Text describe_clock_event_reasons(std::uint64_t bits) {
  constexpr char const* words[] = {"idle",
                                   "applications clocks setting",
                                   "software power cap",
                                   "hardware slowdown",
                                   "sync boost",
                                   "software thermal slowdown",
                                   "hardware thermal slowdown",
                                   "hardware power brake slowdown",
                                   "display clock setting"};
  if (bits == 0) return "nothing";
  Text text;
  for (unsigned int i = 0; i < sizeof words / sizeof *words; ++i) {
    if ((bits >> i & 1U) == 0) continue;
    if (!text.empty()) text.append(", ");
    text.append(words[i]);
  }
  std::uint64_t const unknown = bits >> 9 << 9;
  if (unknown == 0) return text;
  if (!text.empty()) text.append(", ");
  text.append("0x");
  int shift = 60;
  while ((unknown >> shift & 0xfU) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[unknown >> shift & 0xfU]);
  return text;
}

}  // namespace streamgauge
