#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a tool sees: an NVTX injection library that writes down every call as one line.
//   T0 push my_library:step registered color=ff76b900 category=3 payload=uint64:42
// The thread is counted from 0 in the order in which the threads show, the domain stands before the colon and is empty
// for the default one. Ranges that start carry their number (`#1`), and so do their ends.
namespace injection {

// The lines since the last call of this, and threads counted anew.
std::vector<std::string> take_calls();

// What push answers. Tools differ there, and none of it says that the push failed.
void answer_pushes_with(int level);

enum class ability { full, registers_nothing, makes_no_domains, takes_no_schemas, wants_no_domain };
void become(ability able);

// A range that was submitted after the fact, in stamps of the tool's clock. Its line is `deferred`, with the name only:
//   T0 deferred my_library:step registered
// A schema that is registered is written down with every number in it:
//   T0 schema my_library:name fields=7e type=1 flags=18 size=24 [begin type=17 flags=1800 at=0 time=1] ...
struct deferred {
  std::string name;  // as it stands in its line
  std::int64_t begin;
  std::int64_t end;
};

// Those since the last call of this.
std::vector<deferred> take_deferred();

// The tool's clock: it reads `first` at the host clock's zero, and `ticks` more after each so many nanoseconds.
struct clock {
  std::int64_t first;
  std::int64_t ticks;
  std::int64_t nanoseconds;

  // What it reads at a moment of the host clock.
  std::int64_t at(std::int64_t moment) const;
};
void tick_as(clock of);

// How often the clock was read since the last call of this.
std::uint64_t take_clock_readings();

// Sends NVTX of this process to the library: by its path, or where it is linked in, by the pointer that NVTX looks at.
void attach();

}  // namespace injection
