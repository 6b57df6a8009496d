#pragma once

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

enum class ability { full, registers_nothing, makes_no_domains };
void become(ability able);

// Sends NVTX of this process to the library: by its path, or where it is linked in, by the pointer that NVTX looks at.
void attach();

}  // namespace injection
