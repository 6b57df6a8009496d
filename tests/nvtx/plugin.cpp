// A shared library that marks, to be loaded and unloaded.
#include <streamgauge/mark/range.hpp>

namespace sg = streamgauge;

// Outside the unnamed namespace on purpose: what belongs to a domain of external linkage must not keep the library
// loaded.
struct plugin {
  static constexpr char const* name = "plugin";
};

namespace {

struct marks_when_it_dies {
  ~marks_when_it_dies() { sg::scoped_range_in<plugin> range{"unloading"}; }
};

marks_when_it_dies const dies_with_the_library;

}  // namespace

extern "C" [[gnu::visibility("default")]] void plugin_run() {
  static sg::registered_name_in<plugin> const step{"step"};
  static sg::named_category_in<plugin> const io{"io"};
  static std::atomic<std::uint64_t> numbers{0};
  static sg::range_label const label{"label", 0xff123456, sg::range_calls_in<plugin>()};
  sg::scoped_range_in<plugin> range{step, io};
  sg::scoped_range lazy{[] { return "lazy"; }};
  static_cast<void>(label.pop(label.push(numbers)));
  sg::mark("mark");
}
