// Uses everything that marking offers, once. Included by units that compile it in different ways, into a function each.
#include <streamgauge/mark/range.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace units {

struct in_unit {
  static constexpr char const* name = "in_unit";
};

// The same declaration in every unit: units that have other classes under these names must not meet here.
void take(streamgauge::scoped_range const& range);

namespace {  // a copy for each unit: one inline function over all of them would have several bodies

inline int use_everything() {
  namespace sg = streamgauge;
  static sg::registered_name_in<in_unit> const step{"step"};
  static sg::named_category_in<in_unit> const io{"io"};
  static sg::named_category const compute{sg::category{4}, "compute"};
  int called = 0;
  std::string const text = "text";
  {
    sg::scoped_range a{"a"};
    take(a);
    sg::scoped_range b{text, sg::color{0xff76b900}, compute, sg::payload{1.5}};
    sg::scoped_range_in<in_unit> c{step, io, sg::payload{text.size()}};
    sg::scoped_range d{std::string_view{text}.substr(1)};
    sg::scoped_range e{[&] { return ++called, "made"; }};
    sg::scoped_range f{nullptr, sg::category{3}};
  }
  auto open = sg::range{"request"};
  auto moved = std::move(open);
  sg::range_in<in_unit> other{step};
  called += open.is_open() ? 100 : 0;
  called += moved.is_open() ? 0 : 100;
  moved.end();
  moved.end();
  sg::mark("epoch");
  sg::mark_in<in_unit>("epoch", sg::payload{7});
  sg::mark_in<in_unit>([&] { return ++called, "made"; });
#if !defined(STREAMGAUGE_DISABLE)
  sg::range_label const label{"label", 0xff123456, sg::range_calls_in<in_unit>()};
  std::atomic<std::uint64_t> numbers{0};
  static_cast<void>(label.pop(label.push(numbers)));
  label.end(label.start(numbers));
#endif
  static_cast<void>(sg::unbalanced_ranges());
  return called + static_cast<int>(sg::misplaced_pops()) + (sg::tool_attached() ? 1000 : 0);
}

}  // namespace

}  // namespace units
