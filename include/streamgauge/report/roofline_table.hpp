#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/quantity.hpp>

namespace streamgauge::report {

/// The lines under a table of rooflines: what its columns mean, where the roofs come from, what cannot be right.
/// A template, so that only a unit that prints compiles its bodies.
template <class Roofline>
class roofline_notes : public note_lines<> {
 public:
  explicit roofline_notes(Roofline const& of) : of_{of} {}

  [[gnu::cold]] void add_legend() {
    add("rates",
        "work over the median of device, gaps included; work is declared by the program unless a line below "
        "says that it was counted");
    add("B/s", "bytes read and written");
    add("flop/B", "the intensity: operations for each byte");
    add("limit", "which roof is the lower one at that intensity, and the share of it");
    add("*", "no steady level was seen, and the median is of everything behind the fixed warm-up");
  }

  /// The roofs with their sources, and where they meet.
  [[gnu::cold]] void add_roofs() {
    add_roof("arithmetic", "flop/s", of_.roofs.flops);
    add_roof("memory", "B/s", of_.roofs.bytes);
    if (!of_.roofs.flops.per_second || !of_.roofs.bytes.per_second) return;
    double const ridge = *of_.roofs.flops.per_second / *of_.roofs.bytes.per_second;
    say("at " + unbroken(four_digits(ridge) + " flop/B") + " the roofs meet: below it the memory is the lower one");
    end("ridge");
  }

  /// Counted bytes whose phase, by its name and conditions, is not in the recording.
  [[gnu::cold]] void add_counted_nowhere() {
    for (std::string const& each : of_.counted_nowhere)
      add("unmatched", "bytes were counted of " + unbroken(identity_of(each, {})) + ", and no phase here has that name and conditions");
  }

  [[gnu::cold]] void add_row(roofline_row const& row) {
    std::string const name = unbroken(identity_of(row.phase, row.conditions));
    if (row.bytes_source != "declared") {
      say(name + ": bytes counted by " + escaped(row.bytes_source));
      end("counted");
    }
    if (!row.why_not_measured.empty()) {
      say(name + ": counted bytes were left aside: " + row.why_not_measured);
      end("declared");
    }
    if (!row.why_not.empty()) {
      say(name + ": " + row.why_not);
      end("absent");
      return;
    }
    // What the roofs lack is said once, in their own lines.
    for (std::string const& each : row.point.missing) {
      if (each.compare(0, 11, "no roof of ") == 0) continue;
      say(name + ": " + each);
      end("absent");
    }
    bool const cores_alone = of_.roofs.flops.origin == roof_origin::attributes;
    add_above(name, row.point.above_flops, of_.roofs.flops, row.point.share_of_flops, "arithmetic",
              cores_alone ? "; or it ran on tensor cores, which have a roof of their own" : "");
    add_above(name, row.point.above_bytes, of_.roofs.bytes, row.point.share_of_bytes, "memory",
              "; or bytes came from a cache, which are none of the memory's");
  }

 private:
  [[gnu::cold]] void add_roof(char const* label, char const* unit, roof const& of) {
    std::string const source = escaped(of.source);
    if (of.per_second)
      say(unbroken(with_prefix(*of.per_second, unit)) + ", " + source);
    else
      say("absent: " + escaped(of.why_not) + (source.empty() ? source : " (" + source + ")"));
    end(label);
  }

  template <class Flag>
  [[gnu::cold]] void add_above(std::string const& name, Flag above, roof const& of, std::optional<double> const& share,
                               char const* what, char const* otherwise) {
    if (!above || !share) return;
    say(name + ": " + unbroken(in_percent(*share)) + " of the roof of the " + what + ": ");
    if (of.origin == roof_origin::measured)
      say("more than was measured there: the declared work is wrong, or the time, or the roof was measured too low");
    else
      say("more than the device can do: the declared work is wrong, or the time");
    say(otherwise);
    end("wrong");
  }

  Roofline const& of_;
};

/// The table of rooflines and the lines under it, apart. A template, so that only a unit that prints compiles its bodies.
template <class Roofline>
class roofline_lines {
 public:
  explicit roofline_lines(Roofline const& of) : under_{of} {
    if (of.rows.empty() && !of.why_not_measured.empty()) {
      why_none_ = "not measured: " + escaped(of.why_not_measured);
      return;
    }
    if (of.rows.empty()) {
      why_none_ = "no phase declares its work: sg::phase{recorder, name, sg::work{}.flops(f).reads(r).writes(w)}";
      return;
    }
    auto& rates = table_.next_block();
    rates.title = "device, and work over it";
    rates.subtitle = "median of steady ones";
    rates.columns = 5;
    for (char const* heading : {"n", "median", "flop/s", "B/s", "flop/B"}) rates.cells.emplace_back(heading);
    auto& shares = table_.next_block();
    shares.title = "share of the roof";
    shares.columns = 4;
    for (char const* heading : {"arithmetic", "memory", "limit", "of it"}) shares.cells.emplace_back(heading);
    under_.add_legend();
    under_.add_roofs();
    for (roofline_row const& row : of.rows) add(row);
    under_.add_counted_nowhere();
    table_.measure(rates);
    table_.measure(shares);
  }

  /// Why there is no table; empty where there is one.
  [[nodiscard]] std::string const& why_none() const noexcept { return why_none_; }
  [[nodiscard]] grid<> const& cells() const noexcept { return table_; }
  [[nodiscard]] roofline_notes<Roofline> const& under() const noexcept { return under_; }

  [[nodiscard]] std::string text() {
    if (!why_none_.empty()) return why_none_ + "\n";
    return table_.text().append("\n").append(under_.text());
  }

 private:
  [[gnu::cold]] void add(roofline_row const& row) {
    auto const shown = [](std::optional<double> const& number, std::string (*as)(double)) {
      return number ? as(*number) : std::string{"-"};
    };
    auto const rate = [&](std::optional<double> const& number) {
      return shown(number, [](double each) { return with_prefix(each); });
    };
    roofline_point const& at = row.point;
    table_.add_line(identity_of(row.phase, row.conditions), "");
    auto& rates = table_.block_at(0).cells;
    rates.push_back(digits(row.count));
    rates.push_back(row.time ? with_unit(*row.time) + (row.steady ? "" : "*") : std::string{"-"});
    rates.push_back(rate(at.flops_per_second));
    rates.push_back(rate(at.bytes_per_second));
    rates.push_back(shown(at.intensity, four_digits));
    auto& shares = table_.block_at(1).cells;
    shares.push_back(shown(at.share_of_flops, in_percent));
    shares.push_back(shown(at.share_of_bytes, in_percent));
    shares.emplace_back(at.limit == limiting_roof::memory       ? "memory"
                        : at.limit == limiting_roof::arithmetic ? "arithmetic"
                                                                : "-");
    shares.push_back(shown(at.share, in_percent));
    under_.add_row(row);
  }

  grid<> table_;
  roofline_notes<Roofline> under_;
  std::string why_none_;
};

/// Phases under the roofs of their device, as a table for people: a line for each phase that declares its work.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
/// Example: `sg::report::roofline_table(std::cout, sg::roofline_of(taken, roofs));`
template <class Ostream>
[[gnu::cold]] void roofline_table(Ostream& out, roofline const& of) {
  std::string const text = roofline_lines<roofline>{of}.text();
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
