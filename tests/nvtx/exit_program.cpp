// Marks from main, from a thread-local's destructor and from static destructors.
#include <streamgauge/mark/range.hpp>

#include <thread>

namespace sg = streamgauge;

namespace {

struct at_exit {
  static constexpr char const* name = "at_exit";
};

sg::registered_name_in<at_exit> const last{"last"};

struct marks_when_it_dies {
  ~marks_when_it_dies() {
    sg::scoped_range_in<at_exit> range{last};
    sg::scoped_range plain{[] { return "dying"; }};
  }
};

marks_when_it_dies const dies_late;

}  // namespace

int main() {
  static sg::range_in<at_exit> open_until_exit{"open until exit"};
  std::thread{[] {
    thread_local marks_when_it_dies const dies;
    static_cast<void>(&dies);
  }}.join();
  return 0;
}
