#pragma once

#include <cstdint>
#include <string>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/trust_notes.hpp>

namespace streamgauge::report {

/// The lines about a whole run: what went wrong, who watched, what it was measured with.
/// A template, so that only a unit that prints compiles its bodies.
template <class Summary>
class run_notes : public trust_notes<> {
 public:
  explicit run_notes(Summary const& of) : trust_notes<>{of.rows}, of_{of} {}

  /// What went wrong while measuring, the first one first.
  [[gnu::cold]] void add_problems() {
    for (auto const& one : of_.problems) {
      if (!one.phase.empty()) say(unbroken(identity_of(one.phase, {})) + ": ");
      say(escaped(one.text));
      if (one.status != 0) {
        say(" (CUDA status ");
        say_signed(one.status);
        say(")");
      }
      if (one.count > 1) say(", " + digits(one.count) + " times");
      end("problem");
    }
  }

  /// Who watched meanwhile.
  [[gnu::cold]] void add_tool() {
    auto const& tool = of_.environment.tool;
    std::uint64_t watched = 0;
    for (auto const& row : of_.rows) watched += row.what.watched;
    if (tool.empty() && watched == 0) return;
    if (!tool.empty()) say(escaped(tool) + " was attached (" + escaped(of_.environment.tool_sign) + ")");
    if (!tool.empty() && watched > 0) say(": ");
    if (watched > 0) say(digits(watched) + (watched == 1 ? " sample was taken " : " samples were taken "));
    if (watched > 0) say(tool.empty() ? "while a capture was open" : "under it");
    end("tool");
  }

  /// What it was measured with.
  [[gnu::cold]] void add_environment() {
    auto const& from = of_.environment;
    auto const next = [&](char const* what) {
      if (!line_.empty()) say(", ");
      say(what);
    };
    if (!from.library_version.empty()) {
      next("streamgauge ");
      say(escaped(from.library_version));
    }
    for (auto const& device : from.devices) {
      next("");
      say_device(device);
    }
    if (from.driver_version) {
      next("driver ");
      say_version(*from.driver_version);
    }
    if (from.runtime_version) {
      next("runtime ");
      say_version(*from.runtime_version);
    }
    if (from.compiled_runtime_version && from.compiled_runtime_version != from.runtime_version) {
      next("compiled with ");
      say_version(*from.compiled_runtime_version);
    }
    // It decides whether a kernel's code is loaded at the start or in its first launch.
    if (std::string const* const loading = from.variable("CUDA_MODULE_LOADING")) {
      next("CUDA_MODULE_LOADING=");
      say(escaped(*loading));
    }
    if (!from.why_no_device.empty()) {
      next("no device: ");
      say(escaped(from.why_no_device));
    }
    if (!line_.empty()) end("environment");
    for (condition const& each : from.given) {
      next("");
      say(unbroken(escaped(each.key) + "=" + escaped(each.value)));
    }
    if (!line_.empty()) end("given");
    if (of_.runs <= 1) return;
    say(digits(of_.runs) + " recordings were merged: the samples of each stand behind those of the one before");
    end("runs");
  }

 protected:
  [[gnu::noinline, gnu::cold]] void say_device(device_description const& device) {
    say("device ");
    say_signed(device.ordinal);
    say(" (");
    say(escaped(device.name));
    say(")");
  }

 private:
  // CUDA counts 13000 for 13.0 and 12040 for 12.4.
  [[gnu::noinline, gnu::cold]] void say_version(int number) {
    say_signed(number / 1000);
    say(".");
    say_signed(number % 1000 / 10);
  }

  Summary const& of_;
};

}  // namespace streamgauge::report
