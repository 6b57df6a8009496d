#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/distribution.hpp>
#include <streamgauge/analyze/span_summary.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/notes.hpp>

namespace streamgauge::report {

/// The numbers of a recording: a tree of phases beside one block of columns for each observable.
/// A template, so that only a unit that prints compiles its bodies.
template <class Summary>
class number_table {
 public:
  explicit number_table(Summary const& of) : of_{of} {
    add_lines();
    add_block({"submit", "host, until left", submit_of});
    add_block({"device interval", "event to event", device_of});
    add_spans();
    add_completion();
    add_intervals();
  }

  [[nodiscard]] std::string text() { return grid_.text(); }
  [[nodiscard]] grid<> const& cells() const noexcept { return grid_; }

 private:
  // The lines of a row, in this order: always the steady one, the others where there was warm-up.
  enum class kind : std::uint8_t { steady, warmup, first };

  static std::uint64_t lines_of(summary const& row) {
    std::uint64_t warmup = row.submit.values.warmup.count;
    if (row.device.values.warmup.count > warmup) warmup = row.device.values.warmup.count;
    for (auto const& values : row.completion.by_policy)
      if (values.warmup.count > warmup) warmup = values.warmup.count;
    return warmup > 1 ? 3 : 1 + warmup;
  }

  // What a block shows of a row.
  struct part {
    account const& samples;
    distribution const& values;
  };

  struct observable {
    char const* title;
    char const* subtitle;
    part (*of)(summary const&);
  };

  static part submit_of(summary const& row) { return {row.submit.samples, row.submit.values}; }
  static part device_of(summary const& row) { return {row.device.samples, row.device.values}; }
  template <wait_policy policy>
  static part completion_of(summary const& row) {
    return {row.completion.samples, row.completion.by(policy)};
  }

  [[gnu::cold]] void add_lines() {
    for (auto const& row : of_.rows) {
      std::string const indent(2 * row.depth, ' ');
      auto const lines = lines_of(row.what);
      auto label = indent;
      label.append(identity_of(row.what.phase, row.what.conditions));
      grid_.add_line(label, beside(indent, " (steady)"));
      if (lines > 1) grid_.add_line(beside(indent, " (warm-up)"), "");
      if (lines > 2) grid_.add_line(beside(indent, " (its first)"), "");
    }
  }

  static std::string beside(std::string indent, char const* stage) { return indent.append(stage); }

  [[gnu::cold]] void add_completion() {
    bool entered = false;
    bool kept = false;
    bool by[3] = {};
    for (auto const& row : of_.rows) {
      auto const& completion = row.what.completion;
      entered = entered || completion.samples.entered > 0;
      kept = kept || completion.samples.kept > 0;
      for (std::size_t i = 0; i < 3; ++i) {
        auto const& values = completion.by_policy[i];
        by[i] = by[i] || values.steady.count + values.warmup.count > 0;
      }
    }
    if (by[1]) add_block({"completion by spin", "host, until waited", completion_of<wait_policy::spin>});
    if (by[2]) add_block({"completion by block", "host, until waited", completion_of<wait_policy::block>});
    if (by[0] || (entered && !kept)) add_block({"completion", "host", completion_of<wait_policy::none>});
  }

  // The unit of the largest median, unless the smallest would begin with zeros in it.
  struct unit_choice {
    double least = 0.0;
    double most = -1.0;

    void consider(stage_statistics const& stage) noexcept {
      if (!stage.median) return;
      auto const median = stage.median->count();
      if (most < 0.0 || median < least) least = median;
      if (median > most) most = median;
    }

    [[nodiscard]] bool any() const noexcept { return most >= 0.0; }
    [[nodiscard]] unit made() const noexcept {
      if (!any()) return unit::ns;
      auto const in = natural_unit(fractional_nanoseconds{most});
      auto const finest = natural_unit(fractional_nanoseconds{10.0 * least});
      return finest < in ? finest : in;
    }
  };

  [[gnu::cold]] void add_block(observable const& which) {
    bool entered = false;
    bool any_inside = false;
    for (auto const& row : of_.rows) {
      entered = entered || which.of(row.what).samples.entered > 0;
      any_inside = any_inside || (which.of == device_of && row.what.most_records_inside > 0);
    }
    if (!entered) return;
    auto& added = grid_.next_block();
    auto& cells = added.cells;
    added.title = which.title;
    added.subtitle = which.subtitle;
    unit_choice units;
    for (auto const& row : of_.rows) {
      auto const& values = which.of(row.what).values;
      units.consider(values.steady);
      units.consider(values.warmup);
    }
    unit const in = units.made();
    if (units.any()) added.subtitle.append(", ").append(name_of(in));
    if (any_inside) added.corner = "records";
    added.columns = any_inside ? 5 : 4;
    for (auto const* heading : {"count", "median", "min", "max"}) cells.emplace_back(heading);
    if (any_inside) cells.emplace_back("inside");
    for (auto const& row : of_.rows) {
      auto const lines = lines_of(row.what);
      for (std::uint8_t stage = 0; stage < lines; ++stage) {
        add_cells(cells, which.of(row.what), static_cast<kind>(stage), in);
        if (any_inside) cells.push_back(stage == 0 ? records_inside(row.what) : std::string{});
      }
    }
    grid_.measure(added);
  }

  [[gnu::cold]] static void add_cells(std::vector<std::string>& cells, part const& of, kind stage, unit in) {
    auto const& values = of.values;
    auto const& shown = stage == kind::steady ? values.steady : values.warmup;
    auto const at = cells.size();
    cells.resize(at + 4);
    bool const waited_otherwise = values.steady.count + values.warmup.count == 0 && of.samples.kept > 0;
    if (of.samples.entered == 0 || waited_otherwise) {
      for (std::size_t i = 0; i < 4 && stage == kind::steady; ++i) cells[at + i] = "-";
      return;
    }
    if (stage == kind::first) {
      if (values.first.known() && values.warmup.count > 1) cells[at + 1] = in_unit(*values.first.value(), in);
      return;
    }
    cells[at] = digits(shown.count);
    cells[at + 1] = shown.median ? in_unit(*shown.median, in) : "-";
    cells[at + 2] = shown.minimum ? in_unit(*shown.minimum, in) : "-";
    cells[at + 3] = shown.maximum ? in_unit(*shown.maximum, in) : "-";
  }

  // What the branches of a span amount to. An overlap is often nothing, so it has no say in the unit.
  [[gnu::cold]] void add_spans() {
    bool any = false;
    unit_choice units;
    for (auto const& row : of_.rows) {
      if (!notes<Summary>::has_branches(row.what)) continue;
      any = true;
      for (auto const* times : {&row.what.span->busy_sum, &row.what.span->busy_union}) {
        units.consider(times->steady);
        units.consider(times->warmup);
      }
    }
    if (!any) return;
    auto& added = grid_.next_block();
    added.title = "span";
    added.subtitle = "branches, median";
    unit const in = units.made();
    if (units.any()) added.subtitle.append(", ").append(name_of(in));
    added.columns = 3;
    for (auto const* heading : {"busy sum", "union", "overlap"}) added.cells.emplace_back(heading);
    for (auto const& row : of_.rows) {
      auto const lines = lines_of(row.what);
      for (std::uint8_t stage = 0; stage < lines; ++stage)
        add_span_cells(added.cells, row.what, static_cast<kind>(stage), in);
    }
    grid_.measure(added);
  }

  [[gnu::cold]] static void add_span_cells(std::vector<std::string>& cells, summary const& of, kind stage, unit in) {
    bool const has_branches = notes<Summary>::has_branches(of);
    auto const at = cells.size();
    cells.resize(at + 3, stage == kind::steady || (has_branches && stage == kind::warmup) ? "-" : "");
    if (!has_branches || stage == kind::first) return;
    auto const add = [&](std::size_t column, staged_statistics const& times) {
      auto const& median = (stage == kind::steady ? times.steady : times.warmup).median;
      if (median) cells[at + column] = in_unit(*median, in);
    };
    add(0, of.span->busy_sum);
    add(1, of.span->busy_union);
    add(2, of.span->overlap);
  }

  // How far the medians hold: the ends of their confidence intervals, in per cent of them.
  [[gnu::cold]] void add_intervals() {
    bool any[3] = {};
    for (auto const& row : of_.rows)
      for (std::size_t i = 0; i < 3; ++i) any[i] = any[i] || values_of(row.what, i).steady.confidence;
    if (!any[0] && !any[1] && !any[2]) return;
    auto& added = grid_.next_block();
    added.title = "95 % interval of the median";
    added.subtitle = "% of it, * not seen steady";
    char const* const headings[] = {"submit", "device", "completion"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!any[i]) continue;
      ++added.columns;
      added.cells.emplace_back(headings[i]);
    }
    for (auto const& row : of_.rows) {
      auto const lines = lines_of(row.what);
      for (std::uint8_t stage = 0; stage < lines; ++stage)
        for (std::size_t i = 0; i < 3; ++i)
          if (any[i]) added.cells.push_back(stage == 0 ? interval_of(values_of(row.what, i)) : std::string{});
    }
    grid_.measure(added);
  }

  // Of several ways of waiting the one that was used most.
  static distribution const& values_of(summary const& of, std::size_t which) {
    if (which < 2) return which == 0 ? of.submit.values : of.device.values;
    auto const* most = &of.completion.by_policy[0];
    for (auto const& each : of.completion.by_policy)
      if (each.steady.count > most->steady.count) most = &each;
    return *most;
  }

  [[gnu::cold]] static std::string interval_of(distribution const& of) {
    auto const& steady = of.steady;
    if (!steady.confidence || !steady.median || !(steady.median->count() > 0.0)) return "-";
    auto const middle = steady.median->count();
    auto const share = [&](nanoseconds end) {
      double const off = (static_cast<double>(end.count()) - middle) / middle;
      std::string text{off < 0.0 ? "-" : "+"};
      double const hundredths = (off < 0.0 ? -off : off) * 100.0;
      return text.append(decimal(hundredths, hundredths < 10.0 ? 2 : 1));
    };
    return share(steady.confidence->low).append(" ").append(share(steady.confidence->high)).append(of.is_steady() ? "" : "*");
  }

  static std::string records_inside(summary const& of) {
    if (of.most_records_inside == 0) return "";
    auto text = digits(of.fewest_records_inside);
    if (of.fewest_records_inside < of.most_records_inside) text.append("-").append(digits(of.most_records_inside));
    return text;
  }

  Summary const& of_;
  grid<> grid_;
};

}  // namespace streamgauge::report
