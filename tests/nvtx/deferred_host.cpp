// Submits a range after the fact, lets the plug-in named by its argument do so twice, unloading it each time, and submits
// once more.
// Exit codes: 0 fine, 2 not loaded, 3 not unloaded.
#include "deferred_submit.hpp"

#include <cstring>

#include <dlfcn.h>

int main(int, char** argv) {
  sg::deferred_ranges ranges;
  submit_one(ranges, "host", "of the host");
  for (int i = 0; i < 2; ++i) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* const symbol = library != nullptr ? dlsym(library, "plugin_run") : nullptr;
    if (symbol == nullptr) return 2;
    void (*function)() = nullptr;
    std::memcpy(&function, &symbol, sizeof function);
    function();
    if (dlclose(library) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) return 3;
  }
  submit_one(ranges, "host", "of the host");
  return 0;
}
