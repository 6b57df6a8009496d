#pragma once

/// The simulated CUDA runtime: what a test says to it and asks of it.
///
/// The object files of this folder define the functions of the CUDA runtime, the driver functions behind the entry
/// point look-up, and the steady clock. A test links them instead of the CUDA runtime. Time is virtual on both sides:
/// it moves only when a call costs something, when a call waits, when a poll answers "not ready", or when the test says
/// so. Every duration that the library under test reads is therefore exact.
///
/// Threads: every function here may be called from any thread.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simulated {

using nanoseconds = std::chrono::nanoseconds;

// ---------------------------------------------------------------------------------------------------- the machine

enum class driver { installed, missing };

/// What a fresh machine has.
struct machine_options {
  int devices = 1;
  int driver_version = 13000;  ///< of an older major version than the runtime: everything but the versions answers 35
  int runtime_version = CUDART_VERSION;
  simulated::driver driver_state = driver::installed;
  std::vector<std::string> hidden_entry_points;  ///< driver functions that the look-up does not find
};

/// Throws the machine away and starts a fresh one: no context, no stream, no event, empty logs, no costs, no
/// injections, the host clock at one second. Context ids go on counting, so objects kept from before are recognised as
/// old.
void reset();
void reset(machine_options const& options);

/// From now on the process is exiting: every call answers `cudaErrorCudartUnloading` (4).
void begin_unloading();

/// From now on this is a forked child: calls answer 3, but for the driver's record, capture check and context of a
/// stream, which answer 0 and do nothing. A real `fork` does this by itself.
void become_forked_child();

/// Hides a driver function from later look-ups, as an older driver would.
void hide_entry_point(std::string_view name);

/// What `cuDeviceGetAttribute` and `cudaDeviceGetAttribute` answer; an attribute that nobody set is 0.
void set_device_attribute(int device, int attribute, int value);

// Device N has the UUID `0N112233-4455-6677-8899-aabbccddeeff` and 80 GiB of memory.

/// From now on the device is a MIG instance: a part of one, whose own UUID ends in 01.
void make_part(int device);

/// The flags that `cuDevicePrimaryCtxGetState` tells.
void set_scheduling(int device, unsigned int flags);

// ------------------------------------------------------------------------------------------------- the host's clock

[[nodiscard]] nanoseconds host_now();
void host_advance(nanoseconds duration);

/// Host time that each later call of this function takes, before it acts. "steady_clock::now" is a name too.
void set_cost(std::string_view name, nanoseconds cost);

/// How far the host clock moves with each answer "not ready" (100 ns unless told).
void set_poll_step(nanoseconds step);

/// How many "not ready" answers about work that nothing will finish are allowed until it is a fatal misuse (a million).
void set_poll_limit(std::size_t answers);

// --------------------------------------------------------------------------------------------------------- the device

/// Enqueues work of this duration, as a kernel launch would: logged as "cudaLaunchKernel", with its last error.
/// A null stream is the legacy stream. In a stream capture it becomes a node of the graph.
cudaError_t launch(cudaStream_t stream, nanoseconds duration);

/// The same of a kernel that was never launched before, loaded lazily: CUDA waits for everything on the device first.
cudaError_t first_launch(cudaStream_t stream, nanoseconds duration);

/// Enqueues work that fails with `error` after `duration`. From then on every call on that context answers `error`.
/// Work behind it never completes.
cudaError_t fault(cudaStream_t stream, cudaError_t error, nanoseconds duration = nanoseconds{0});

/// Work enqueued after `hold` does not start before `release`. Work from before is not touched.
/// Waiting for held work is a fatal misuse, answered with `cudaErrorUnknown`: the wait would never end.
void hold(cudaStream_t stream);
void release(cudaStream_t stream);

// A stream that waits for a value in the host's memory (`cuStreamWaitValue32`) is held until the host has written it: the
// words are looked at before the clock moves and whenever something is asked, so what is written has the time at which it
// was written. A call that waits for such work waits really, since another thread has to write the word; so does work for
// which there is no room, behind 1,020 pieces of work in one stream. After some ten seconds that is a fatal misuse.

/// Device time that every event record takes (0 unless told): what a pair of records reads with nothing between.
void set_record_duration(nanoseconds duration);

/// How a device's clock runs against the host's, of which it knows nothing.
struct device_clock {
  double drift = 0;      ///< how much faster it runs when the machine starts: 200e-6 is 200 us a second
  double change = 0;     ///< by how much the drift grows in a second
  nanoseconds tick{1};   ///< the step of its readings
};
/// Events of this device are read by such a clock from now on; how long work takes stays true host time.
void set_device_clock(int device, device_clock const& runs);

/// Device time of a kernel that was loaded through the driver: of one without a parameter (0 unless told), and of each
/// cycle of one that is told how many it runs (1 ns unless told).
void set_kernel_duration(nanoseconds duration);
void set_cycle_time(nanoseconds cycle);

/// Device time of each copy within the device, whatever its size (0 unless told). The `slow`-th, counted from 1, takes twice
/// as long.
void set_copy_duration(nanoseconds duration, std::size_t slow = 0);
/// How much memory devices have together (64 GiB unless told), and how much of it the driver has given away.
void set_device_memory(std::size_t bytes);
std::size_t device_memory_in_use();

/// From now on this graph stands for the body of a conditional node wherever it is a child: the node says that it is one,
/// and a record in the body makes instantiating its parent fail. A launch runs the body once.
void mark_conditional_body(cudaGraph_t graph);

/// When everything enqueued so far on this stream is done. Requires: the stream is not held.
[[nodiscard]] nanoseconds stream_end(cudaStream_t stream);

/// Does the device's primary context exist now?
[[nodiscard]] bool context_created(int device);

/// Replaces the context current on this thread by none, as on a fresh thread.
void forget_current_context();

// ------------------------------------------------------------------------------------------- counts of live objects

[[nodiscard]] std::size_t live_events();   ///< neither destroyed nor gone with their context
[[nodiscard]] std::size_t live_streams();  ///< those that somebody created; default streams do not count
[[nodiscard]] std::size_t live_modules();  ///< neither unloaded nor gone with their context
[[nodiscard]] std::size_t events_created();
[[nodiscard]] std::size_t events_destroyed();
[[nodiscard]] std::size_t streams_created();
[[nodiscard]] std::size_t streams_destroyed();

// ------------------------------------------------------------------------------------------------------- the call log

enum class call_kind { runtime, driver, look_up };

struct call {
  int thread;  ///< 0 for the first thread that called anything in this process, then 1, 2, ...
  call_kind kind;
  char const* name;    ///< of a look-up: the function that looked up
  std::string symbol;  ///< of a look-up: what it asked for
  void const* handle;  ///< what the call is about; of a record, and of swapping what a graph records, the event
  void const* stream;  ///< the stream of a call with both
  int result;
  nanoseconds at;  ///< host time when the call began
  bool by_user;    ///< made within a `user_scope`
};

/// Every call since the last `clear_log`, in order. Shape: at most the first million are kept, all are counted.
[[nodiscard]] std::vector<call> log();
/// The names in `log()` alone, for comparing with a list; look-ups left out.
[[nodiscard]] std::vector<std::string> logged_names();
/// How many calls of this function since the last `clear_log`; a look-up counts under the looking-up function.
[[nodiscard]] std::size_t count(std::string_view name);
/// How many calls there were in all, look-ups included.
[[nodiscard]] std::size_t count_all();
void clear_log();

/// Calls of this thread in its life are the test's own: marked in the log and never failed by injection.
class user_scope {
 public:
  user_scope();
  ~user_scope();
  user_scope(user_scope const&) = delete;
  user_scope& operator=(user_scope const&) = delete;
};

enum class profiler_step { start, stop };
struct profiler_call {
  profiler_step step;
  nanoseconds at;
  int thread;
};
/// The successful starts and stops of the profiler, in order.
[[nodiscard]] std::vector<profiler_call> profiler_log();

/// What a tool does within each stop of the profiler, once it is in the log: nothing if null, or it ends the process. It
/// makes no call.
void set_profiler_stop_action(void (*action)());

// ------------------------------------------------------------------------------------------------------ error
// injection

/// The n-th call of this function from now, counted from 1, answers `status`; it then does nothing.
/// What undoes something (destroy, pop, release, profiler stop, exchanging the capture mode back) is done all the
/// same, as CUDA does when it reports an earlier error there.
void fail_nth(std::string_view name, std::size_t n, int status);

/// The n-th call of any of these functions from now, counted from 1; of all functions if none is named.
/// Peeking at and getting the last error are never failed.
void fail_nth_call(std::size_t n, int status, std::vector<std::string> const& names = {});

/// How many calls were failed by injection since the last `reset`: a sweep ends where this stays 0.
[[nodiscard]] std::size_t injected_failures();
/// Forgets the injections that have not come yet.
void clear_injections();

// ------------------------------------------------------------------------------------------------------------ misuses

/// What would have crashed or hung on a real machine. The fixture checks that it is empty.
[[nodiscard]] std::vector<std::string> fatal_misuses();
/// Forgets them, for tests of the simulation itself.
void clear_fatal_misuses();

// -------------------------------------------------------------------------------------------------------- allocations

/// How often this thread has called `operator new`; allocations of the simulation itself do not count.
[[nodiscard]] std::size_t allocation_count();

/// In its life every `new (std::nothrow)` of this thread answers null.
class no_memory_scope {
 public:
  no_memory_scope();
  ~no_memory_scope();
  no_memory_scope(no_memory_scope const&) = delete;
  no_memory_scope& operator=(no_memory_scope const&) = delete;
};

}  // namespace simulated
