#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/html_names.hpp>

namespace streamgauge::report {

/// One phase from entering to done as a stacked bar: waiting for the device, the device, until it was noticed; below it
/// what the host spent submitting. Stretched to its own length.
/// Requires: it was placed. A template, so that only a unit that draws compiles it.
template <class = void>
[[nodiscard, gnu::cold]] std::string latency_bar(latency_split const& of, std::string_view color) {
  auto const time = [](std::optional<fractional_nanoseconds> const& value) { return value ? value->count() : 0.0; };
  double const submit = time(of.submit);
  double const queue = time(of.queue);
  double const end = queue + time(of.device);
  double const seen = end + time(of.notice);
  double const all = (std::max)({submit, seen, 1.0});
  auto const x = [all](double at) { return 1000.0 * at / all; };
  auto const said = [](char const* what, double takes) {
    return std::string{what}.append(" ").append(with_unit(fractional_nanoseconds{takes}));
  };
  std::string const fill = std::string{"fill "}.append(color);
  svg<> picture{1000, 30, "flat tall", said("queue", queue) + ", " + said("device", end - queue) + ", " +
                                           said("notice", seen - end) + ", " + said("submit", submit), "none"};
  picture.rectangle(0, 0, 1000, 19, "back");
  picture.rectangle(0, 0, x(queue), 19, "wait", said("queue", queue));
  picture.rectangle(x(queue), 0, x(end) - x(queue), 19, fill, said("device", end - queue));
  if (seen > end) picture.rectangle(x(end), 0, x(seen) - x(end), 19, "after", said("notice", seen - end));
  picture.rectangle(0, 22, x(submit), 8, "host", said("submit", submit));
  return std::move(picture).finished();
}

/// What the parts of such bars mean.
template <class = void>
[[nodiscard, gnu::cold]] std::string latency_legend() {
  auto const item = [](char const* look, char const* what) {
    svg<> patch{24, 12, "patch", what};
    patch.rectangle(0, 0, 24, 12, look);
    return std::string{"<li>"}.append(std::move(patch).finished()).append(html_text(what)).append("</li>");
  };
  return "<ul class=\"legend\">" + item("wait", "queue: entered, the device has not begun") +
         item("fill c0", "device: from its start to its stop, in the phase's colour") +
         item("after", "notice: done, until a wait saw it") + item("host", "submit, below: the host submits") + "</ul>\n";
}

}  // namespace streamgauge::report
