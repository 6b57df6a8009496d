// Work and time on the device.

#include "device.hpp"

#include <algorithm>

#include <unistd.h>

#include "clock.hpp"
#include "contexts.hpp"

namespace simulated::inside {
namespace {

// How much fits into a stream behind a wait for a word, as on an H200; the next piece of work waits for its place.
constexpr std::size_t room_behind_words = 1020;

/// Gives the operation its end if everything it waits for has one.
void settle(operation& work) {
  auto waiting = work.after.begin();
  for (auto& earlier : work.after) {
    if (earlier->end)
      work.submitted = std::max(work.submitted, *earlier->end);
    else
      *waiting++ = earlier;
  }
  work.after.erase(waiting, work.after.end());
  if (!work.after.empty() || work.closed_gate || work.word) return;
  if (work.fault != 0)
    work.fault_at = work.submitted + work.duration;
  else
    work.end = work.submitted + work.duration;
}

void settle_all(machine& m) {
  // In the order of submission, so one pass is enough: nothing waits for something submitted later.
  for (auto& work : m.unresolved) settle(*work);
  m.unresolved.erase(
      std::remove_if(m.unresolved.begin(), m.unresolved.end(), [](auto const& work) { return work->end.has_value(); }),
      m.unresolved.end());
}

operation_ref submit(machine& m, operation&& description) {
  auto work = std::make_shared<operation>(std::move(description));
  work->submitted = host_clock();
  settle(*work);
  if (!work->end) m.unresolved.push_back(work);
  return work;
}

/// Leaves the machine to other threads until `done` says so. False after some ten seconds: nobody will do it.
template <class Done>
bool really_wait(machine& m, Done done) {
  for (int looks = 0; looks < 100'000; ++looks) {
    look_at_words(m);
    if (done()) return true;
    m.lock.unlock();
    usleep(100);
    m.lock.lock();
  }
  return false;
}

/// Waits for a place in a stream that is held by a word.
void wait_for_room(machine& m, stream& s) {
  auto const is_open = [&s] {
    s.word_waits.erase(
        std::remove_if(s.word_waits.begin(), s.word_waits.end(), [](auto const& wait) { return !wait->word; }),
        s.word_waits.end());
    if (s.word_waits.empty()) s.behind_words = 0;
    return s.word_waits.empty();
  };
  if (s.word_waits.empty() || is_open() || ++s.behind_words <= room_behind_words) return;
  if (!really_wait(m, is_open)) misuse(m, "work waits for ever for a place behind a wait for a word");
}

void add(std::vector<operation_ref>& list, operation_ref const& work) {
  if (work) list.push_back(work);
}

/// What the streams that a default stream is ordered with have enqueued.
void add_barrier(machine& m, std::vector<operation_ref>& list, stream const& s) {
  auto& home = *s.home;
  if (!s.blocking || !home.legacy) return;
  if (&s != home.legacy.get()) {
    add(list, home.legacy->last);
    return;
  }
  for (auto& other : m.streams)
    if (other.second->home == &home && other.second->home_id == home.id && other.second->blocking)
      add(list, other.second->last);
  for (auto& other : home.per_thread) add(list, other.second->last);
}

operation_ref enqueue_described(machine& m, stream& s, operation&& description) {
  wait_for_room(m, s);
  add(description.after, s.last);
  add_barrier(m, description.after, s);
  s.last = submit(m, std::move(description));
  return s.last;
}

}  // namespace

operation_ref enqueue(machine& m, stream& s, nanos duration, std::vector<operation_ref> const& also_after, int fault) {
  operation description;
  description.duration = duration;
  description.fault = fault;
  for (auto const& earlier : also_after) add(description.after, earlier);
  auto work = enqueue_described(m, s, std::move(description));
  if (fault != 0) s.home->faults_ahead.push_back(work);
  return work;
}

operation_ref enqueue_unordered(machine& m, nanos duration, std::vector<operation_ref> const& after, int fault) {
  operation description;
  description.duration = duration;
  description.after = after;
  description.fault = fault;
  return submit(m, std::move(description));
}

void enqueue_word_wait(machine& m, stream& s, word_wait until) {
  operation description;
  description.word = until;
  auto const work = enqueue_described(m, s, std::move(description));
  s.word_waits.push_back(work);
  m.word_waits.push_back(work);
  m.word_waits_closed = m.word_waits.size();
  look_at_words(m);
}

void look_at_words(machine& m) {
  if (m.word_waits.empty()) return;
  auto const before = m.word_waits.size();
  auto const is_satisfied = [](operation_ref const& work) {
    auto const now = __atomic_load_n(work->word->word, __ATOMIC_ACQUIRE);
    if (static_cast<std::int32_t>(now - work->word->value) < 0) return false;
    work->word.reset();
    work->submitted = std::max(work->submitted, host_clock());
    return true;
  };
  m.word_waits.erase(std::remove_if(m.word_waits.begin(), m.word_waits.end(), is_satisfied), m.word_waits.end());
  m.word_waits_closed = m.word_waits.size();
  if (m.word_waits.size() != before) settle_all(m);
}

void look_at_words() {
  if (the_machine().word_waits_closed == 0) return;
  at_work at;
  look_at_words(at.m);
}

bool is_done(operation_ref const& work) { return !work || (work->end && *work->end <= host_clock()); }

outlook outlook_of(context const& home, operation_ref const& work) {
  if (!work || work->end || !the_machine().word_waits.empty()) return outlook::will_finish;
  for (auto const& failing_work : home.faults_ahead)
    if (failing_work->fault_at) return outlook::will_finish;
  return outlook::endless;
}

int wait_for(call_in_progress& c, operation_ref const& awaited, context& home) {
  operation_ref const work = awaited;  // where it was may change while the machine is left to others
  auto const will_end = [&] {
    bool failed = false;
    for (auto const& failing_work : home.faults_ahead) failed = failed || failing_work->fault_at;
    return !work || work->end || failed || c.m.word_waits.empty();
  };
  if (!will_end()) static_cast<void>(really_wait(c.m, will_end));
  if (work && work->end) {
    host_clock_reach(*work->end);
  } else if (work) {
    operation const* first = nullptr;
    for (auto const& failing_work : home.faults_ahead)
      if (failing_work->fault_at && (!first || *failing_work->fault_at < *first->fault_at)) first = failing_work.get();
    if (!first) {
      misuse(c.m, std::string(c.name) + " waits for ever: the work is held");
      return cudaErrorUnknown;
    }
    host_clock_reach(*first->fault_at);
  }
  notice_faults(c.m);
  return home.fault;
}

std::vector<operation_ref> all_work(machine& m, context& home) {
  std::vector<operation_ref> list;
  for (auto& s : m.streams)
    if (s.second->home == &home && s.second->home_id == home.id) add(list, s.second->last);
  for (auto& s : home.per_thread) add(list, s.second->last);
  if (home.legacy) add(list, home.legacy->last);
  return list;
}

void notice_faults(machine& m) {
  auto const now = host_clock();
  for (auto& home : m.contexts)
    for (auto const& work : home.faults_ahead)
      if (home.fault == 0 && work->fault_at && *work->fault_at <= now) home.fault = work->fault;
}

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

void set_record_duration(nanoseconds duration) {
  at_work at;
  at.m.record_duration = duration.count();
}

void set_device_clock(int device, device_clock const& runs) {
  at_work at;
  at.m.clocks[device] = runs;
}

void hold(cudaStream_t handle) {
  at_work at;
  auto* s = inside::stream_for_test(at.m, handle);
  if (!s) return inside::misuse(at.m, "simulated::hold: no such stream");
  inside::operation gate;
  gate.closed_gate = true;
  s->gates.push_back(inside::enqueue_described(at.m, *s, std::move(gate)));
}

void release(cudaStream_t handle) {
  at_work at;
  auto* s = inside::stream_for_test(at.m, handle);
  if (!s) return inside::misuse(at.m, "simulated::release: no such stream");
  for (auto& gate : s->gates) {
    gate->closed_gate = false;
    gate->submitted = std::max(gate->submitted, inside::host_clock());
  }
  s->gates.clear();
  at.m.endless_polls = 0;
  inside::settle_all(at.m);
}

nanoseconds stream_end(cudaStream_t handle) {
  at_work at;
  inside::look_at_words(at.m);
  auto* s = inside::stream_for_test(at.m, handle);
  if (!s || !s->last) return nanoseconds{0};
  if (s->last->end) return nanoseconds{*s->last->end};
  inside::misuse(at.m, "simulated::stream_end: the stream is held");
  return nanoseconds{0};
}

}  // namespace simulated
