#pragma once

#include <string>

// Units of one program that include NVTX in different ways, or not at all.
namespace units {

void nvtx3_first();  // nvtx3.hpp, then ours; one range of each, ours inside
void nvtx3_last();   // ours, then nvtx3.hpp
// Each uses everything that marking offers. They return how many callables they called to make a name.
int nvtx_disable();    // NVTX_DISABLE
int without_header();  // no NVTX header to be found
int version2_first();  // NVTX version 2 was included before
int compiled_out();    // STREAMGAUGE_DISABLE

// Each submits ranges after the fact, and says why that did not go; empty where it did.
std::string nvtx3_first_deferred();
std::string nvtx3_last_deferred();
std::string nvtx_disable_deferred();
std::string without_header_deferred();
std::string version2_first_deferred();
std::string compiled_out_deferred();

}  // namespace units
