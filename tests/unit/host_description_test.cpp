// Without these: two recordings of two machines would look like those of one, or the time of a recording could not be told.

#include <streamgauge/measure/host_description.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include <unistd.h>

namespace sg = streamgauge;

namespace {

/// A file with that text, for a scope.
class written {
 public:
  explicit written(std::string const& text) {
    int const file = mkstemp(name_);
    REQUIRE(file >= 0);
    REQUIRE(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(file);
  }
  ~written() { unlink(name_); }
  written(written const&) = delete;
  written& operator=(written const&) = delete;

  [[nodiscard]] char const* name() const { return name_; }

 private:
  char name_[40] = "/tmp/streamgauge_processor_XXXXXX";
};

std::string name_in(std::string const& text) { return sg::processor_name(written{text}.name()); }

}  // namespace

TEST_CASE("a processor's name is the first model name that the kernel lists") {
  CHECK(name_in("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) Platinum 8480+\n"
                "stepping\t: 8\nprocessor\t: 1\nmodel name\t: another\n") == "Intel(R) Xeon(R) Platinum 8480+");
}

TEST_CASE("a list without a model name, a cut one, an empty one and none at all have no processor's name") {
  CHECK(name_in("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n").empty());
  CHECK(name_in("model name\t: cut in the mid").empty());
  CHECK(name_in("model name\n").empty());
  CHECK(name_in("model name\t:\n").empty());
  CHECK(name_in("").empty());
  CHECK(sg::processor_name("/nowhere/cpuinfo").empty());
}

TEST_CASE("the machine's name is what the system says, and the hour is UTC, to the second") {
  setenv("TZ", "XYZ-9", 1);  // a zone nine hours ahead
  tzset();
  sg::environment found;
  std::time_t const before = std::time(nullptr);
  sg::describe_host(found);
  std::time_t const after = std::time(nullptr);
  unsetenv("TZ");
  tzset();
  char name[256] = {};
  REQUIRE(gethostname(name, sizeof name - 1) == 0);
  CHECK(found.host == name);
  std::tm parts{};
  REQUIRE(found.time.size() == 20);
  REQUIRE(strptime(found.time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == found.time.c_str() + 20);
  std::time_t const read = timegm(&parts);
  CHECK(read >= before);
  CHECK(read <= after);
  CHECK(found.cpu == sg::processor_name());
  for (sg::condition const& each : found.not_read) CHECK((each.key == "cpu" && found.cpu.empty()));
}

TEST_CASE("of several reasons why a figure was not read the first one stays") {
  std::vector<sg::condition> all;
  sg::note_not_read(all, "ecc", "first");
  sg::note_not_read(all, "uuid", "other");
  sg::note_not_read(all, "ecc", "second");
  CHECK(all == std::vector<sg::condition>{{"ecc", "first"}, {"uuid", "other"}});
}
