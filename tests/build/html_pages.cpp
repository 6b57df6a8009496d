// Pages for the checks of html_pages.py, one file each in the folder that is named: what people have, and what breaks pages.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/report/html.hpp>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

// Even noise in [-1, 1], the same in every run.
class noise {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<std::int64_t>(state_ >> 11U) % 2'000'001) / 1e6 - 1.0;
  }

 private:
  std::uint64_t state_ = 7;
};

nanoseconds of(double time) { return nanoseconds{static_cast<std::int64_t>(time)}; }

sg::environment h200() {
  sg::environment seen;
  seen.library_version = "0.1.0";
  seen.driver_version = 13000;
  seen.runtime_version = 13000;
  seen.time = "2026-11-30T16:02:11Z";
  seen.host = "node-17";
  sg::device_description device;
  device.name = "NVIDIA H200";
  device.event_floor = nanoseconds{1280};
  device.submit_floor = nanoseconds{2100};
  device.event_resolution = nanoseconds{32};
  seen.devices = {device};
  seen.host_floor = nanoseconds{34};
  return seen;
}

sg::series named(char const* phase) {
  sg::series made;
  made.phase = phase;
  return made;
}

// A training step of four parts on two streams of two devices, placed on the host's clock: `steps` of them, the first five
// warm-up. The forward part is steady, the backward part loses its clock in the middle, the copy drifts, the reduction has
// two ways to run; `slower` is what the forward part takes longer.
sg::recording training(std::size_t steps, double slower) {
  sg::recording made;
  made.environment = h200();
  made.environment.devices.push_back(made.environment.devices[0]);
  made.environment.devices[1].ordinal = 1;
  made.streams = {{0, 0x51, sg::stream_kind::made}, {0, 0x52, sg::stream_kind::made}, {1, 0x61, sg::stream_kind::made}};
  for (int device = 0; device < 2; ++device) {
    sg::placed_clock clock;
    clock.device = device;
    clock.anchors = 64;
    made.clocks.push_back(clock);
  }
  made.all = {named("step"), named("upload"), named("forward"), named("backward"), named("reduce"), named("validate")};
  made.all[1].kind = sg::work_kind::transfer;
  made.all[2].kind = sg::work_kind::compute;
  made.all[2].conditions = {{"batch", "256"}, {"dtype", "bf16"}};
  made.all[3].kind = sg::work_kind::compute;
  made.all[4].kind = sg::work_kind::communication;
  noise any;
  double now = 5e6;
  for (std::size_t i = 0; i < steps; ++i) {
    double const share = static_cast<double>(i) / static_cast<double>(steps);
    double const first = i == 0 ? 9.0 : i < 5 ? 1.4 : 1.0;
    double const forward = (1.21e6 + slower + 6e3 * any.next()) * (i == 0 ? 4.0 : 1.0);
    double const backward = (share < 0.62 ? 2.05e6 : 2.31e6) + 12e3 * any.next();
    double const upload = 3.1e5 * (1.0 + 0.25 * share) + 5e3 * any.next();
    double const reduce = (any.next() > 0.3 ? 7.2e5 : 9.8e5) + 4e3 * any.next();
    auto const add = [&](std::size_t series, double entered, double submit, double queue, double device, std::uint32_t stream) {
      sg::sample one;
      one.entered = of(entered);
      one.submit = of(submit * first);
      one.device = of(device);
      one.queue = of(queue);
      one.bound = nanoseconds{1800};
      one.stream = stream;
      one.warmup = i < 5;
      if (series != 0) one.parent = 0;
      made.all[series].samples.push_back(one);
    };
    add(1, now + 2e3, 6e3, 9e3, upload, 1);
    add(2, now + 12e3, 4.4e4, upload, forward, 1);
    add(3, now + 60e3, 8.1e4, upload + forward - 4e4, backward, 1);
    add(4, now + 150e3, 9e3, upload + forward, reduce, i % 2 == 0 ? 2U : 3U);
    double const device = upload + forward + backward + 3e3;
    add(0, now, 1.6e5, 7e3, device, 1);
    auto& step = made.all[0].samples.back();
    step.waited = sg::wait_policy::block;
    step.completion = of(device + 3.4e4 + 6e3 * any.next());
    step.records_inside = 8;
    now += device + 1.2e5 + (i % 40 == 39 ? 2.5e6 : 0.0);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    sg::sample one;
    one.entered = of(now + 1e6 * static_cast<double>(i));
    one.submit = of(4e5);
    one.device = sg::absence::pool_full;
    made.all[5].samples.push_back(one);
  }
  made.problems.push_back({"validate", "every event of the pool was waiting: give the recorder more", 0, 3});
  return made;
}

sg::series plain(std::string phase, std::vector<std::int64_t> const& device) {
  sg::series made;
  made.phase = std::move(phase);
  for (auto const each : device) {
    sg::sample one;
    one.submit = nanoseconds{each / 2};
    one.device = nanoseconds{each};
    made.samples.push_back(one);
  }
  return made;
}

// Names that mean something to a browser, a terminal or an eye, and times at the ends of what can be said.
sg::recording hostile() {
  sg::recording made;
  made.environment = h200();
  made.environment.devices[0].name = "</title><script>alert('device')</script>";
  constexpr std::int64_t most = INT64_MAX;
  std::vector<std::int64_t> const usual{100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
  made.all.push_back(plain("<script>alert(1)</script>", usual));
  made.all.push_back(plain("\"><img src=x onerror=alert(2)>", usual));
  made.all.push_back(plain("]]>--><!-- &amp; &lt; ' onload='alert(3)", usual));
  made.all.push_back(plain("", usual));
  made.all.push_back(plain(std::string{"zero \0 byte", 11}, usual));
  made.all.push_back(plain("\x01\x02\x1b[31m\x7f\n\t\r \x1f", usual));
  made.all.push_back(plain("bad \xff\xc0\x80\xed\xa0\x80 utf-8", usual));
  made.all.push_back(plain("turned \xe2\x80\xae txet \xe2\x81\xa6 and \xd8\x9c", usual));
  made.all.push_back(plain("none \xef\xbf\xbf \xef\xbf\xbe \xf0\x9f\xbf\xbf", usual));
  made.all.push_back(plain("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x9a\x80", usual));
  made.all.push_back(plain(std::string(5000, 'w'), usual));
  made.all.push_back(plain("zeros", std::vector<std::int64_t>(20, 0)));
  made.all.push_back(plain("huge", {most, most, most - 1, most, most, most, most, most}));
  made.all.push_back(plain("tiny and huge", {0, 1, most, 1, 0, 1, 1, 1, most}));
  made.all.push_back(plain("one", {5120}));
  made.all.push_back(plain("two", {5120, 5121}));
  made.all.push_back(plain("never entered", {}));
  made.all[0].conditions = {{"<b>key</b>", "\"value\" & 'more'"}, {"", ""}};
  made.all[1].samples[3].device = sg::absence::still_open;
  made.problems.push_back({"<i>phase</i>", "<script>alert('problem')</script>\x1b[2J", -1, 2});
  for (auto& each : made.all) each.work = sg::declared_work{1e3, 1e2, 1e2};
  made.all[2].work = sg::declared_work{1e29, 1e-290, 0.0};
  made.all[3].work = sg::declared_work{-1.0, 1e-290, 0.0};
  made.environment.tool = "<svg onload=alert(4)>";
  made.environment.tool_sign = "'\"";
  return made;
}

sg::recording many(std::size_t phases) {
  sg::recording made;
  made.environment = h200();
  for (std::size_t i = 0; i < phases; ++i)
    made.all.push_back(plain("phase " + std::to_string(i), {static_cast<std::int64_t>(1000 + i), static_cast<std::int64_t>(1001 + i)}));
  return made;
}

// One that kept a choice of its samples, with totals of all.
sg::recording thinned() {
  sg::recording made;
  made.environment = h200();
  made.all.push_back(named("long"));
  auto& from = made.all[0];
  from.kept_one_in = 8;
  from.totals.emplace();
  noise any;
  for (std::size_t i = 0; i < 200'000; ++i) {
    sg::sample one;
    one.entered = nanoseconds{static_cast<std::int64_t>(i) * 20'000};
    one.submit = of(4e3 + 2e2 * any.next());
    one.device = of(12e3 + 3e2 * any.next() + (i % 1000 == 0 ? 9e4 : 0.0));
    if (!from.totals->add(one)) std::printf("no memory\n");
    if (i < sg::samples_at_head || sg::stays_at(8, one)) from.samples.push_back(one);
  }
  return made;
}

// Phases that declare work, on all sides of a roofline: near both roofs and far below, above one, several of one name, too
// many in one place for all names, without operations, without bytes, without a declaration of one of them.
sg::recording with_work() {
  sg::recording made;
  made.environment = h200();
  auto& device = made.environment.devices[0];
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.most_sm_mhz = 1980;
  device.most_memory_mhz = 3201;
  device.memory_bus_bits = 6144;
  auto const add = [&](char const* phase, std::vector<sg::condition> conditions, std::int64_t time, sg::declared_work work) {
    made.all.push_back(plain(phase, std::vector<std::int64_t>(60, time)));
    made.all.back().conditions = std::move(conditions);
    made.all.back().work = work;
  };
  add("vector_add", {}, 90'000, {33.5e6, 268e6, 134e6});
  add("layer_norm", {}, 61'000, {8.4e8, 67e6, 67e6});
  add("softmax", {}, 140'000, {3.2e8, 134e6, 134e6});
  add("gemm", {{"rows", "128"}}, 21'000, {4.3e9 / 8, 35e6, 1e6});
  add("gemm", {{"rows", "1024"}}, 180'000, {8.6e9, 42e6, 8e6});
  add("gemm", {{"rows", "8192"}}, 1'240'000, {6.9e10, 101e6, 67e6});
  add("attention", {{"heads", "32"}}, 910'000, {3.4e10, 50e6, 17e6});
  add("gemm_bf16", {}, 2'000'000, {1.1e12, 268e6, 134e6});
  for (char const* part : {"tail 1 of a step", "tail 2 of a step", "tail 3 of a step", "tail 4 of a step", "tail 5 of a step"})
    add(part, {}, 50'000, {1.1e7, 4.1e6, 4.1e6});
  add("copy", {}, 60'000, {0.0, 134e6, 134e6});
  add("spin", {}, 60'000, {1e9, 0.0, 0.0});
  add("reads only", {}, 60'000, {1e9, 1e6, std::nullopt});
  made.all.push_back(plain("no work", std::vector<std::int64_t>(60, 1000)));
  return made;
}

template <class... Recordings>
void write(std::string const& folder, char const* name, Recordings const&... of) {
  std::ofstream out{folder + "/" + name + ".html", std::ios::binary};
  sg::report::html(out, of...);
  std::printf("%s\n", name);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  std::string const folder = arguments[1];
  write(folder, "training", training(400, 0.0));
  write(folder, "short", training(12, 0.0));
  write(folder, "comparison", training(300, 0.0), training(300, 4e4));
  write(folder, "hostile", hostile());
  write(folder, "hostile_comparison", hostile(), hostile());
  write(folder, "many", many(10'000));
  write(folder, "thinned", thinned());
  write(folder, "roofline", with_work());
  sg::recording unknown = with_work();
  unknown.environment.devices.clear();
  unknown.environment.why_no_device = "no driver <here>";
  write(folder, "roofline_no_device", unknown);
  sg::device_roofs roofs = sg::roofs_of(with_work().environment);
  roofs.flops = sg::given_roof(989e12, "the <data sheet>: bf16 on tensor cores");
  write(folder, "roofline_given", with_work(), roofs);
  write(folder, "roofline_counted", with_work(), roofs,
        std::vector<sg::measured_bytes>{{"vector_add", {}, 396e6, sg::cache_state::warm},
                                        {"softmax", {}, 1e6, sg::cache_state::cold}});
  sg::device_roofs tuned = roofs;
  tuned.flops = sg::given_roof(840e12, "what a <tuned> product reaches");
  write(folder, "roofline_comparison", with_work(), with_work(), roofs, tuned);
  write(folder, "empty", sg::recording{});
  sg::recording off;
  off.recorded = sg::mode::off;
  off.why_not_measured = "off by STREAMGAUGE=<off>";
  write(folder, "off", off);
  sg::recording marked = training(12, 0.0);
  marked.recorded = sg::mode::mark;
  for (auto& each : marked.all) each.samples.clear();
  write(folder, "marked", marked);
  write(folder, "nothing_common", many(2), training(12, 0.0));
}
