#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <streamgauge/analyze/histogram.hpp>
#include <streamgauge/report/recording_members.hpp>

namespace streamgauge::report {

/// A histogram as a file has it: lists of equal length, one place for each bucket that is not empty.
struct written_histogram {
  std::uint64_t count = 0;
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> width;
  std::vector<std::uint64_t> counts;
};

template <class Of, only<Of, written_histogram> = 0>
[[nodiscard]] auto members_of(Of& of) {
  auto& [count, minimum, maximum, first, width, counts] = of;
  return std::tuple{is("count", count), is("minimum", minimum), is("maximum", maximum),
                    is("first", first), is("width", width),     is("counts", counts)};
}

[[nodiscard]] inline written_histogram written(histogram const& values) {
  written_histogram made{values.count(), values.minimum(), values.maximum(), {}, {}, {}};
  values.visit([&](histogram::bucket const& each) {
    made.first.push_back(each.first);
    made.width.push_back(each.width);
    made.counts.push_back(each.count);
  });
  return made;
}

[[nodiscard]] inline bool operator==(written_histogram const& a, written_histogram const& b) {
  return a.count == b.count && a.minimum == b.minimum && a.maximum == b.maximum && a.first == b.first &&
         a.width == b.width && a.counts == b.counts;
}

/// The histogram that was written so. Absent where there is none: it is made from what the buckets say, and then it must
/// say the same.
[[nodiscard]] inline std::optional<histogram> rebuilt(written_histogram const& from) {
  histogram made;
  std::size_t const size = from.counts.size();
  if (from.first.size() != size || (size > 0 && (!from.minimum || !from.maximum))) return std::nullopt;
  std::uint64_t left = (std::numeric_limits<std::uint64_t>::max)();
  for (std::size_t i = 0; i < size; ++i) {
    std::uint64_t const times = from.counts[i];
    if (times > left) return std::nullopt;
    left -= times;
    bool const is_last = i + 1 == size;
    bool added = true;
    if (i > 0)
      added = made.add(is_last ? *from.maximum : from.first[i], times);
    else if (!is_last)
      added = made.add(*from.minimum, times);
    else if (times > 0)
      added = made.add(*from.minimum, times - 1) && made.add(*from.maximum, std::uint64_t{1});
    if (!added) return std::nullopt;
  }
  if (!(written(made) == from)) return std::nullopt;
  return made;
}

}  // namespace streamgauge::report
