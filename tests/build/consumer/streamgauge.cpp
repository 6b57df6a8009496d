// The whole library: marks, asks CUDA for something, and prints the version.
#include <cstdio>

#include <streamgauge/streamgauge.hpp>

int main() {
  streamgauge::scoped_range const range{"consumer"};
  int version = 0;
  streamgauge::check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  std::puts(streamgauge::version_string);
  return version >= 12000 ? 0 : 1;
}
