// Without these: a member that neither the document nor the comparison has, so that nobody sees that it is lost.

#include <streamgauge/report/read_recording.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/report/same_recording.hpp>

namespace sg = streamgauge;

namespace {

// One of everything.
sg::recording whole() {
  sg::recording made;
  made.environment.devices.resize(1);
  made.environment.devices[0].readings.resize(1);
  made.environment.variables.resize(1);
  made.environment.given.resize(1);
  made.environment.command.emplace(1, "app");
  made.all.resize(1);
  made.all[0].conditions.resize(1);
  made.all[0].samples.resize(1);
  made.all[0].samples[0].submit = sg::nanoseconds{5};
  made.all[0].work.emplace();
  sg::thin_to(2, made.all[0]);
  made.problems.resize(1);
  made.clocks.resize(1);
  made.streams.resize(1);
  return made;
}

struct one_change {
  std::string place;
  std::function<void(sg::recording&)> make;
};

void add_environment(std::vector<one_change>& all) {
  auto const environment = [&](std::string const& key, auto member, auto value) {
    all.push_back({"/environment/" + key, [=](sg::recording& r) { r.environment.*member = value; }});
  };
  using e = sg::environment;
  environment("library_version", &e::library_version, "1");
  environment("driver_version", &e::driver_version, 1);
  environment("runtime_version", &e::runtime_version, 1);
  environment("compiled_runtime_version", &e::compiled_runtime_version, 1);
  environment("why_no_device", &e::why_no_device, "1");
  environment("tool", &e::tool, "1");
  environment("tool_sign", &e::tool_sign, "1");
  environment("host_floor_ns", &e::host_floor, sg::nanoseconds{1});
  environment("host", &e::host, "1");
  environment("cpu", &e::cpu, "1");
  environment("compiler", &e::compiler, "1");
  environment("compiled_as", &e::compiled_as, "1");
  environment("time", &e::time, "1");
  environment("command", &e::command, std::nullopt);
  environment("why_no_command", &e::why_no_command, "1");
  all.push_back({"/environment/command/0", [](sg::recording& r) { r.environment.command->at(0) = "b"; }});
  all.push_back({"/environment/variables/0/key", [](sg::recording& r) { r.environment.variables[0].key = "b"; }});
  all.push_back({"/environment/given/0/value", [](sg::recording& r) { r.environment.given[0].value = "b"; }});
  auto const device = [&](std::string const& key, auto member, auto value) {
    all.push_back({"/environment/devices/0/" + key, [=](sg::recording& r) { r.environment.devices[0].*member = value; }});
  };
  using d = sg::device_description;
  device("ordinal", &d::ordinal, 1);
  device("name", &d::name, "1");
  device("event_floor_ns", &d::event_floor, sg::nanoseconds{1});
  device("submit_floor_ns", &d::submit_floor, sg::nanoseconds{1});
  device("event_resolution_ns", &d::event_resolution, sg::nanoseconds{1});
  device("why_no_floor", &d::why_no_floor, "1");
  device("kernel_floor_ns", &d::kernel_floor, sg::nanoseconds{1});
  device("why_no_kernel_floor", &d::why_no_kernel_floor, "1");
  device("uuid", &d::uuid, "1");
  device("compute_capability", &d::compute_capability, 1);
  device("multiprocessors", &d::multiprocessors, 1);
  device("memory_bytes", &d::memory_bytes, 1U);
  device("l2_bytes", &d::l2_bytes, 1U);
  device("memory_bus_bits", &d::memory_bus_bits, 1U);
  device("most_sm_mhz", &d::most_sm_mhz, 1U);
  device("most_memory_mhz", &d::most_memory_mhz, 1U);
  device("ecc", &d::ecc, false);
  device("power_limit_mw", &d::power_limit_mw, 1U);
  device("why_no_readings", &d::why_no_readings, "1");
  auto const reading = [&](std::string const& key, auto member, auto value) {
    all.push_back({"/environment/devices/0/readings/0/" + key,
                   [=](sg::recording& r) { r.environment.devices[0].readings[0].*member = value; }});
  };
  using g = sg::device_reading;
  reading("at_ns", &g::at, sg::nanoseconds{1});
  reading("sm_mhz", &g::sm_mhz, 1U);
  reading("memory_mhz", &g::memory_mhz, 1U);
  reading("slowed_by", &g::slowed_by, 1U);
  reading("temperature", &g::temperature, 1U);
  reading("power_mw", &g::power_mw, 1U);
}

void add_series(std::vector<one_change>& all) {
  auto const series = [&](std::string const& key, auto member, auto value) {
    all.push_back({"/all/0/" + key, [=](sg::recording& r) { r.all[0].*member = value; }});
  };
  using s = sg::series;
  series("phase", &s::phase, "1");
  series("conditions/0", &s::conditions, std::vector<sg::condition>{});
  series("kind", &s::kind, sg::work_kind::wait);
  series("domain", &s::domain, "1");
  series("warmup", &s::warmup, 1U);
  series("work", &s::work, std::nullopt);
  series("runs", &s::runs, 2U);
  series("lost", &s::lost, 1U);
  series("kept_one_in", &s::kept_one_in, 4U);
  series("totals", &s::totals, sg::boxed<sg::series_totals>{});
  series("samples/0", &s::samples, std::vector<sg::sample>{});
  all.push_back({"/all/0/work/flops", [](sg::recording& r) { r.all[0].work->flops = 1.0; }});
  all.push_back({"/all/0/work/bytes_read", [](sg::recording& r) { r.all[0].work->bytes_read = 1.0; }});
  all.push_back({"/all/0/work/bytes_written", [](sg::recording& r) { r.all[0].work->bytes_written = 1.0; }});
  auto const sample = [&](std::string const& key, auto member, auto value) {
    all.push_back({"/all/0/samples/0/" + key, [=](sg::recording& r) { r.all[0].samples[0].*member = value; }});
  };
  using p = sg::sample;
  sample("entered_ns", &p::entered, sg::nanoseconds{1});
  sample("submit", &p::submit, sg::absence::forked);
  sample("device", &p::device, sg::nanoseconds{1});
  sample("completion", &p::completion, sg::nanoseconds{1});
  sample("queue", &p::queue, sg::nanoseconds{1});
  sample("begins", &p::begins, sg::nanoseconds{1});
  sample("parent", &p::parent, 1U);
  sample("thread", &p::thread, 1U);
  sample("records_inside", &p::records_inside, 1U);
  sample("span", &p::span, 1U);
  sample("stream", &p::stream, 1U);
  sample("part", &p::part, sg::span_part::branch);
  sample("waited", &p::waited, sg::wait_policy::block);
  sample("warmup", &p::warmup, true);
  sample("watched", &p::watched, true);
  sample("bound_ns", &p::bound, sg::nanoseconds{1});
  auto const totals = [&](std::string const& key, std::function<void(sg::series_totals&)> change) {
    all.push_back({"/all/0/totals/" + key, [=](sg::recording& r) { change(*r.all[0].totals); }});
  };
  totals("count", [](auto& t) { t.count = 7; });
  totals("watched", [](auto& t) { t.watched = 7; });
  totals("submit/warmup/values", [](auto& t) { CHECK(t.submit.warmup.values.add(3)); });
  totals("submit/steady/values", [](auto& t) { CHECK(t.submit.steady.values.add(5)); });
  totals("submit/steady/sum_ns/high", [](auto& t) { t.submit.steady.sum.high = 1; });
  totals("submit/steady/sum_ns/low", [](auto& t) { t.submit.steady.sum.low = 1; });
  totals("submit/steady/mean_ns", [](auto& t) { t.submit.steady.mean = 1.5; });
  totals("submit/steady/squared_deviations", [](auto& t) { t.submit.steady.squared_deviations = 1.5; });
  totals("device/absent/27", [](auto& t) { t.device.absent[27] = 1; });
  totals("completion/2/absent/1", [](auto& t) { t.completion[2].absent[1] = 9; });
  totals("fewest_records_inside", [](auto& t) { t.fewest_records_inside = 1; });
  totals("most_records_inside", [](auto& t) { t.most_records_inside = 1; });
  totals("parts/2", [](auto& t) { t.parts[2] = true; });
}

void add_others(std::vector<one_change>& all) {
  all.push_back({"/recorded", [](sg::recording& r) { r.recorded = sg::mode::mark; }});
  all.push_back({"/why_not_measured", [](sg::recording& r) { r.why_not_measured = "1"; }});
  all.push_back({"/why_not_placed", [](sg::recording& r) { r.why_not_placed = "1"; }});
  all.push_back({"/problems/0/phase", [](sg::recording& r) { r.problems[0].phase = "1"; }});
  all.push_back({"/problems/0/text", [](sg::recording& r) { r.problems[0].text = "1"; }});
  all.push_back({"/problems/0/status", [](sg::recording& r) { r.problems[0].status = -1; }});
  all.push_back({"/problems/0/count", [](sg::recording& r) { r.problems[0].count = 2; }});
  all.push_back({"/clocks/0/device", [](sg::recording& r) { r.clocks[0].device = 0; }});
  all.push_back({"/clocks/0/anchors", [](sg::recording& r) { r.clocks[0].anchors = 1; }});
  all.push_back({"/clocks/0/thrown_away", [](sg::recording& r) { r.clocks[0].thrown_away = 1; }});
  all.push_back({"/clocks/0/drift", [](sg::recording& r) { r.clocks[0].drift = 0.0; }});
  all.push_back({"/clocks/0/drift_bound", [](sg::recording& r) { r.clocks[0].drift_bound = 0.0; }});
  all.push_back({"/clocks/0/limits/drift", [](sg::recording& r) { r.clocks[0].limits.drift = 1.0; }});
  all.push_back({"/clocks/0/limits/change_of_drift", [](sg::recording& r) { r.clocks[0].limits.change_of_drift = 1.0; }});
  all.push_back(
      {"/clocks/0/limits/resolution_ns", [](sg::recording& r) { r.clocks[0].limits.resolution = sg::nanoseconds{1}; }});
  all.push_back({"/clocks/0/why_not", [](sg::recording& r) { r.clocks[0].why_not = "1"; }});
  all.push_back({"/streams/0/device", [](sg::recording& r) { r.streams[0].device = 0; }});
  all.push_back({"/streams/0/handle", [](sg::recording& r) { r.streams[0].handle = 1; }});
  all.push_back({"/streams/0/kind", [](sg::recording& r) { r.streams[0].kind = sg::stream_kind::per_thread; }});
}

}  // namespace

TEST_CASE("each member is compared by its place, and comes back from a document") {
  std::vector<one_change> all;
  add_environment(all);
  add_series(all);
  add_others(all);
  sg::recording const before = whole();
  CHECK(sg::report::same(before, whole()));
  for (one_change const& each : all) {
    sg::recording changed = whole();
    each.make(changed);
    CHECK(sg::report::difference(before, changed) == each.place);
    CHECK(sg::report::difference(changed, before) == each.place);
    CHECK_FALSE(sg::report::same(before, changed));
    auto const read = sg::report::read_recording(sg::report::json_of(changed));
    // What was changed alone may contradict the rest, and is refused for it.
    std::string const totals = "/all/0/totals";
    bool const contradicts = each.place.compare(0, totals.size(), totals) == 0 && read.why_not.compare(0, 6, "/all/0") == 0;
    CHECK_MESSAGE((contradicts || read.why_not.empty()), read.why_not);
    if (read) CHECK(sg::report::difference(changed, *read.taken) == "");
  }
}
