// Loads the plug-in named by its argument twice, runs it, unloads it, and marks before, between and after.
// Exit codes: 0 fine, 2 not loaded, 3 not unloaded.
#include <streamgauge/mark/range.hpp>

#include <cstring>

#include <dlfcn.h>

namespace sg = streamgauge;

int main(int, char** argv) {
  struct run {
    static bool of(char const* path) {
      void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      void* const symbol = library != nullptr ? dlsym(library, "plugin_run") : nullptr;
      if (symbol == nullptr) return false;
      void (*function)() = nullptr;
      std::memcpy(&function, &symbol, sizeof function);
      function();
      return dlclose(library) == 0;
    }
  };
  sg::scoped_range around{"host"};
  for (int i = 0; i < 2; ++i) {
    sg::scoped_range load{"plug-in"};
    if (!run::of(argv[1])) return 2;
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) return 3;
  }
  return 0;
}
