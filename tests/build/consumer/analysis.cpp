// The analysis wing needs no CUDA: this file is built with none.
#include <cstdio>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/version.hpp>

int main() {
  std::puts(streamgauge::version_string);
  return streamgauge::version_major < 0 ? 1 : 0;
}
