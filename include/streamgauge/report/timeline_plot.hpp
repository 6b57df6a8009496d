#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/html_names.hpp>

namespace streamgauge::report {

/// What ran when: a lane for each host thread and each stream, phases in it by how deep they are nested.
/// Why: everything is on the host's clock, so one axis serves all.
/// Requires: the recording outlives it, and is not merged of several runs, which have no origin in common.
/// A template, so that only a unit that draws compiles its bodies.
template <class Recording>
class timeline_plot {
 public:
  timeline_plot(Recording const& of, recording_summary const& rows) : of_{of} {
    depth_.resize(of.all.size(), 0);
    for (auto const& row : rows.rows) depth_[row.index] = (std::min)(row.depth, deepest);
    for (std::size_t i = 0; i < of.all.size(); ++i)
      for (auto const& one : of.all[i].samples) place(i, one);
    choose_close_up(rows);
  }

  [[nodiscard]] bool empty() const noexcept { return lanes_.empty(); }

  /// All of it, and three executions of the longest phase from the middle of the run.
  [[nodiscard]] std::string text(phase_colors<>& colors) const {
    std::string text = figure(begin_, end_, "The whole recording", colors);
    if (close_up_)
      text += figure(close_up_->first, close_up_->second, "Three executions from the middle of it", colors);
    return text;
  }

  /// The phases in it with their colours.
  [[nodiscard]] std::string legend(phase_colors<>& colors) const {
    std::string text = "<ul class=\"legend\">";
    for (std::size_t i = 0; i < of_.all.size() && i < most_named; ++i)
      if (!of_.all[i].samples.empty())
        text.append("<li>").append(chip_and_name(colors.of(of_.all[i].phase), name_of(i))).append("</li>");
    svg<> patch{24, 12, "patch", "waiting"};
    patch.rectangle(0, 0, 24, 12, "wait");
    text.append("<li>").append(std::move(patch).finished());
    return text.append("the host waits for the device</li></ul>\n");
  }

  /// What the lanes hold, in numbers.
  [[nodiscard]] std::string numbers() const {
    std::string text = "<table><thead><tr><th scope=\"col\">lane</th><th scope=\"col\">phase</th><th scope=\"col\">executions</th>"
                       "<th scope=\"col\">in all</th></tr></thead><tbody>\n";
    std::size_t rows = 0;
    for (auto const& [key, each] : lanes_) {
      std::map<std::size_t, std::pair<std::uint64_t, double>> by_series;
      for (auto const& row : each.rows)
        for (auto const& bar : row)
          if (!bar.waits) {
            ++by_series[bar.series].first;
            by_series[bar.series].second += bar.end - bar.begin;
          }
      for (auto const& [series, sum] : by_series) {
        if (++rows > 200) continue;
        text.append("<tr><th scope=\"row\">").append(html_text(label_of(key))).append("</th><td class=\"words\">");
        text.append(html_name(name_of(series))).append("</td><td>").append(digits(sum.first)).append("</td><td>");
        text.append(with_unit(fractional_nanoseconds{sum.second})).append("</td></tr>\n");
      }
    }
    if (rows > 200)
      text.append("<tr><th scope=\"row\">and ").append(digits(rows - 200)).append(" more</th><td></td><td></td><td></td></tr>\n");
    return text.append("</tbody></table>\n");
  }

 private:
  static constexpr std::size_t deepest = 4;
  static constexpr std::size_t most_named = 40;
  static constexpr std::size_t most_lanes = 32;  // of threads, and of streams: servers have thousands
  static constexpr std::size_t most_bars = 1200;
  static constexpr int unknown_device = (std::numeric_limits<int>::max)();
  static constexpr std::size_t columns = 240;
  static constexpr double width = 960;
  static constexpr double row_height = 14;

  struct drawn {
    double begin;
    double end;
    std::size_t series;
    bool waits;
  };
  struct lane {
    std::vector<drawn> rows[deepest + 1];
  };
  struct lane_key {
    int device;  // -1: the host
    std::uint32_t number;
    bool operator<(lane_key const& other) const noexcept {
      return device != other.device ? device < other.device : number < other.number;
    }
  };

  [[nodiscard]] std::string name_of(std::size_t series) const {
    return identity_of(of_.all[series].phase, of_.all[series].conditions);
  }
  [[nodiscard]] std::string label_of(lane_key key) const {
    if (key.device < 0) return "host thread " + digits(key.number);
    if (key.device == unknown_device) return "device not known, stream " + digits(key.number);
    std::string text = "device " + digits(static_cast<std::uint64_t>(key.device)) + ", stream ";
    return text.append(digits(key.number));
  }

  void place(std::size_t series, sample const& one) {
    auto const entered = static_cast<double>(one.entered.count());
    auto const count = [](observation seen) { return static_cast<double>(seen.value()->count()); };
    if (one.submit.known()) {
      add({-1, one.thread}, {entered, entered + count(one.submit), series, false});
      if (one.completion.known() && count(one.completion) > count(one.submit))
        add({-1, one.thread}, {entered + count(one.submit), entered + count(one.completion), series, true});
    }
    auto const end = device_end(one);
    if (!end || one.part == span_part::whole || one.stream == 0 || one.stream > of_.streams.size()) return;
    int const device = of_.streams[one.stream - 1].device;
    add({device < 0 ? unknown_device : device, one.stream},
        {entered + count(one.queue), entered + static_cast<double>(end->count()), series, false});
  }
  void add(lane_key where, drawn const& what) {
    if (lanes_.empty()) begin_ = what.begin;
    begin_ = (std::min)(begin_, what.begin);
    end_ = (std::max)(end_, what.end);
    lanes_[where].rows[depth_[what.series]].push_back(what);
  }

  void choose_close_up(recording_summary const& rows) {
    summary_row const* longest = nullptr;
    double most = 0.0;
    for (auto const& row : rows.rows) {
      double const total = total_of(chief_of(row.what).values);
      if (row.depth > 0 || of_.all[row.index].samples.size() < 8 || total <= most) continue;
      longest = &row;
      most = total;
    }
    if (!longest) return;
    auto const& samples = of_.all[longest->index].samples;
    auto const first = samples.size() / 2;
    auto const begin = static_cast<double>(samples[first].entered.count());
    double end = begin;
    for (std::size_t i = first; i < first + 3; ++i) {
      auto const& one = samples[i];
      double last = static_cast<double>(one.entered.count());
      if (one.submit.known()) end = (std::max)(end, last + static_cast<double>(one.submit.value()->count()));
      if (one.completion.known()) end = (std::max)(end, last + static_cast<double>(one.completion.value()->count()));
      if (auto const done = device_end(one)) end = (std::max)(end, last + static_cast<double>(done->count()));
    }
    double const room = 0.02 * (end - begin);
    if (end > begin && end - begin < 0.7 * (end_ - begin_)) close_up_ = {begin - room, end + room};
  }

  [[nodiscard]] std::string figure(double from, double to, char const* title, phase_colors<>& colors) const {
    std::string text = "<figure class=\"panel\"><h3>";
    text.append(title).append("</h3>\n");
    std::size_t threads = 0;
    std::size_t streams = 0;
    for (auto const& [key, each] : lanes_) {
      if (++(key.device < 0 ? threads : streams) > most_lanes) continue;
      std::size_t rows = 0;
      for (auto const& row : each.rows) rows += row.empty() ? 0U : 1U;
      text.append("<div class=\"lane\"><p class=\"quiet\">").append(html_text(label_of(key))).append("</p><div style=\"height:");
      text.append(digits(16 * rows)).append("px\">");
      svg<> picture{width, row_height * static_cast<double>(rows), "flat full", label_of(key) + ": what ran when", "none"};
      double y = 0.0;
      for (auto const& row : each.rows) {
        if (row.empty()) continue;
        picture.rectangle(0, y, width, row_height - 2, "back");
        draw(picture, row, y, from, to, colors);
        y += row_height;
      }
      text.append(std::move(picture).finished()).append("</div></div>\n");
    }
    text.append("<div class=\"ticks\">");
    for (int i = 0; i <= 4; ++i)
      text.append("<span>").append(with_unit(fractional_nanoseconds{(to - from) * i / 4.0})).append("</span>");
    text.append("</div><figcaption>From ").append(with_unit(fractional_nanoseconds{(std::max)(0.0, from)}));
    text.append(" after the recording's origin on. Phases that lie in others stand below them; what is shorter than a pixel is "
                "drawn as one.");
    if (threads > most_lanes) text.append(" Of " + digits(threads) + " threads the first " + digits(most_lanes) + " are drawn.");
    if (streams > most_lanes) text.append(" Of " + digits(streams) + " streams the first " + digits(most_lanes) + " are drawn.");
    return text.append(draws_shares(from, to) ? " A lane with more than 1200 of them shows, for each of 240 stretches, how "
                                                "much of it they filled.</figcaption></figure>\n"
                                              : "</figcaption></figure>\n");
  }

  [[nodiscard]] static std::size_t count_within(std::vector<drawn> const& row, double from, double to) {
    std::size_t count = 0;
    for (auto const& each : row) count += each.end > from && each.begin < to ? 1U : 0U;
    return count;
  }
  [[nodiscard]] bool draws_shares(double from, double to) const {
    for (auto const& [key, each] : lanes_)
      for (auto const& row : each.rows)
        if (count_within(row, from, to) > most_bars) return true;
    return false;
  }

  void draw(svg<>& picture, std::vector<drawn> const& row, double y, double from, double to, phase_colors<>& colors) const {
    auto const count = count_within(row, from, to);
    auto const x_of = [&](double time) {
      return width * ((std::min)((std::max)(time, from), to) - from) / (to > from ? to - from : 1.0);
    };
    if (count > most_bars) return draw_shares(picture, row, y, from, to, colors);
    for (auto const& each : row) {
      if (each.end <= from || each.begin >= to) continue;
      double const x = x_of(each.begin);
      std::string look = "wait";
      if (!each.waits) look = "fill " + colors.of(of_.all[each.series].phase);
      std::string const says = count > 240 ? std::string{}
                                           : shortened(name_of(each.series), 60) + (each.waits ? ", waiting, " : ", ") +
                                                 with_unit(fractional_nanoseconds{each.end - each.begin});
      picture.rectangle(x, y, (std::max)(0.8, x_of(each.end) - x), row_height - 2, look, says);
    }
  }

  // For each column how much of it each series filled, one on the other.
  void draw_shares(svg<>& picture, std::vector<drawn> const& row, double y, double from, double to,
                   phase_colors<>& colors) const {
    std::map<std::pair<bool, std::size_t>, std::vector<double>> filled;
    double const column = (to - from) / static_cast<double>(columns);
    for (auto const& each : row) {
      if (each.end <= from || each.begin >= to) continue;
      auto& of = filled[{each.waits, each.series}];
      of.resize(columns, 0.0);
      double const begin = (std::max)(each.begin, from) - from;
      double const end = (std::min)(each.end, to) - from;
      auto const last = (std::min)(columns - 1, static_cast<std::size_t>(end / column));
      for (auto i = (std::min)(columns - 1, static_cast<std::size_t>(begin / column)); i <= last; ++i) {
        double const left = column * static_cast<double>(i);
        of[i] += (std::max)(0.0, (std::min)(end, left + column) - (std::max)(begin, left)) / column;
      }
    }
    std::vector<double> reached(columns, 0.0);
    for (auto const& [key, shares] : filled) {
      svg_path<> shape;
      for (std::size_t i = 0; i < columns; ++i) {
        double const low = reached[i];
        reached[i] = (std::min)(1.0, low + shares[i]);
        if (reached[i] - low < 0.005) continue;
        double const x = width * static_cast<double>(i) / static_cast<double>(columns);
        auto const at = [&](double share) { return y + (row_height - 2) * (1.0 - share); };
        shape.move_to(x, at(low)).vertical_to(at(reached[i])).horizontal_to(x + width / static_cast<double>(columns));
        shape.vertical_to(at(low)).close();
      }
      picture.path(shape, key.first ? "wait" : "fill " + colors.of(of_.all[key.second].phase), shortened(name_of(key.second), 60));
    }
  }

  Recording const& of_;
  std::vector<std::size_t> depth_;
  std::map<lane_key, lane> lanes_;
  double begin_ = 0.0;
  double end_ = 0.0;
  std::optional<std::pair<double, double>> close_up_;
};

}  // namespace streamgauge::report
