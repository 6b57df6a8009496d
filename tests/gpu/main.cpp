// What all programs of GPU tests have in common and is compiled once: doctest itself, and their main.

#define DOCTEST_CONFIG_IMPLEMENT
#include "program.hpp"

std::vector<child>& children() {
  static std::vector<child> all;
  return all;
}

int run_program(int argc, char** argv, int devices_needed) {
  std::string_view const first = argc > 1 ? argv[1] : "";
  if (first.substr(0, 8) == "--child=") {
    alarm(120);  // a child that hangs fails
    for (child const& each : children())
      if (first.substr(8) == each.name) return each.run();
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  if (devices < devices_needed) {
    std::printf("skipped: %d CUDA device%s needed, %d here\n", devices_needed, devices_needed == 1 ? "" : "s", devices);
    return 77;
  }
  return doctest::Context{argc, argv}.run();
}
