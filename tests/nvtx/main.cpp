#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

#if !defined(WITHOUT_TOOL)
#include "injection.hpp"
#endif

int main(int argc, char** argv) {
#if defined(WITHOUT_TOOL)
  unsetenv("NVTX_INJECTION64_PATH");
#else
  // A call before this would have missed the tool and would be a call of a static initialiser.
  injection::attach();
#endif
  doctest::Context context{argc, argv};
  return context.run();
}
