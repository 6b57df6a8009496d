#pragma once

// The state of the simulated machine. Everything here is read and written under its one lock (calls.hpp takes it).

// The default stream's two meanings are two functions here, whatever this file is compiled with.
#undef CUDA_API_PER_THREAD_DEFAULT_STREAM

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulated.hpp"

namespace simulated::inside {

using nanos = std::int64_t;

// ------------------------------------------------------------------------------------------------------ device work

/// A wait for a word in the host's memory to be at least a value, counted round.
struct word_wait {
  std::uint32_t const* word = nullptr;
  std::uint32_t value = 0;
};

/// One piece of work in a stream: a kernel, a record, a wait, a gate. Its end is known once all it waits for has one.
struct operation {
  nanos submitted = 0;
  nanos duration = 0;
  std::vector<std::shared_ptr<operation>> after;
  std::optional<nanos> end;
  bool closed_gate = false;       ///< holds everything behind it until it is released
  std::optional<word_wait> word;  ///< holds everything behind it until the host has written that word
  int fault = 0;                  ///< the error this work ends in; work behind it never completes
  std::optional<nanos> fault_at;  ///< when the device reaches that error
};
using operation_ref = std::shared_ptr<operation>;

// ------------------------------------------------------------------------------------------------ graphs and captures

enum class node_kind { empty, kernel, record, wait, child };

struct graph_node {
  node_kind kind = node_kind::empty;
  nanos duration = 0;
  int fault = 0;
  cudaEvent_t event = nullptr;     ///< of a record node: what each launch records; of a wait node: what it waits for
  struct context* home = nullptr;  ///< of a record node: where its events must be from
  std::vector<std::size_t> after;
  cudaGraphNode_t handle = nullptr;
  cudaGraphNode_t copied_from = nullptr;  ///< in a clone: the node of the original
  std::shared_ptr<struct graph> child;    ///< of a child graph node: a graph that only this node has
};

struct graph {
  cudaGraph_t handle = nullptr;
  std::vector<graph_node> nodes;  ///< in an order in which each stands behind what it depends on
  bool conditional_body = false;  ///< stands for the body of a conditional node wherever it is a child
};

/// It keeps its own nodes, each with the handle that it has in the graph it was first made from: so they are found.
struct executable {
  graph nodes;
  cudaGraph_t source = nullptr;  ///< the graph it was first made from; an update does not change it
  operation_ref last_launch;     ///< the end of it: the next launch starts behind it
};

struct capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  int thread = 0;  ///< that began it
  cudaStream_t origin = nullptr;
  struct context* home = nullptr;
  bool invalidated = false;
  bool ended = false;
  graph nodes;
};

// ------------------------------------------------------------------------------------------ contexts, streams, events

struct stream {
  cudaStream_t handle = nullptr;
  context* home = nullptr;
  unsigned long long home_id = 0;
  bool blocking = true;
  int priority = 0;
  operation_ref last;
  std::vector<operation_ref> gates;
  std::vector<operation_ref> word_waits;  ///< in it, not all of them satisfied
  std::size_t behind_words = 0;           ///< pieces of work behind the first of these
  std::shared_ptr<simulated::inside::capture> captured_by;
  std::vector<std::size_t> captured_tail;     ///< the nodes that the next captured work depends on
  std::vector<cudaGraphNode_t> dependencies;  ///< the same by handle, lent to who asks about the capture
};

struct event {
  context* home = nullptr;
  unsigned long long home_id = 0;
  bool timing = true;
  operation_ref recorded;
  std::shared_ptr<simulated::inside::capture> captured_by;
  std::vector<std::size_t> captured_tail;
};

/// The primary context of one device. A reset keeps the object, and so its pointer, and takes the id away.
struct context {
  int device = 0;
  unsigned long long id = 0;
  bool alive = false;
  bool kept_by_runtime = false;
  int retained = 0;
  int fault = 0;
  std::vector<operation_ref> faults_ahead;
  std::unique_ptr<stream> legacy;
  std::map<int, std::unique_ptr<stream>> per_thread;
};

/// Code that was loaded into a context, and one kernel of it by its handle.
struct loaded_module {
  context* home = nullptr;
  unsigned long long home_id = 0;
  std::string code;
  std::vector<operation_ref> launched;
};
struct kernel {
  struct CUmod_st* of = nullptr;
  std::string name;
  bool takes_cycles = false;  ///< it has a parameter: how many cycles it runs
};

struct thread_state {
  int number = 0;
  int device = 0;
  std::vector<context*> current;  ///< the stack of current contexts, the last one on top
  int last_error = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::vector<cudaStreamCaptureMode> modes_before;
};

/// Memory of the host that a context was told of.
struct registered_memory {
  std::size_t size = 0;
  context* home = nullptr;
};

// ----------------------------------------------------------------------------------------------------------- the rest

enum class answers_always { nothing, the_last_error, a_version };

struct function_record {
  answers_always kind = answers_always::nothing;  ///< what works without driver or device
  std::size_t calls = 0;
  nanos cost = 0;
  std::size_t seen = 0;                      ///< calls that an injection could have met
  std::multimap<std::size_t, int> failures;  ///< the count in `seen` at which a call fails, and its status
};

struct sweep {
  std::size_t left = 0;
  int status = 0;
  std::set<std::string, std::less<>> names;
};

struct machine {
  std::mutex lock;
  machine_options options;
  bool unloading = false;
  bool forked = false;

  std::array<context, 16> contexts;
  unsigned long long last_context_id = 0;
  std::deque<thread_state> threads;
  std::unordered_map<cudaStream_t, std::unique_ptr<stream>> streams;
  std::unordered_map<cudaEvent_t, event> events;
  std::vector<cudaStream_t> free_stream_handles;
  std::uintptr_t last_handle = 0x10000;
  std::vector<operation_ref> unresolved;
  std::vector<operation_ref> word_waits;           ///< those of them that wait for a word of the host's
  std::atomic<std::size_t> word_waits_closed{0};   ///< how many, for who does not hold the lock
  nanos record_duration = 0;
  std::map<int, device_clock> clocks;  ///< of devices that were given one
  std::map<struct CUmod_st*, loaded_module> modules;
  std::map<struct CUfunc_st*, kernel> kernels;
  nanos kernel_duration = 0;
  nanos cycle_time = 1;
  std::map<unsigned long long, std::size_t> device_memory;  ///< what the driver gave, with its size
  std::size_t device_memory_size = std::size_t{1} << 36U;
  nanos copy_duration = 0;
  std::size_t copies = 0;
  std::size_t slow_copy = 0;  ///< this one, counted from 1, takes twice the time
  std::set<void*> allocations;
  std::map<char*, registered_memory> registered;
  std::map<std::pair<int, int>, int> attributes;
  std::set<int> parts;                     ///< devices that are parts of one
  std::map<int, unsigned int> scheduling;  ///< the flags that devices were given

  std::vector<std::shared_ptr<capture>> captures;  ///< begun and not ended
  unsigned long long last_capture_id = 0;
  std::map<cudaGraph_t, graph> graphs;
  std::map<cudaGraphExec_t, executable> executables;

  nanos poll_step = 100;
  std::size_t poll_limit = 1'000'000;
  std::size_t endless_polls = 0;

  std::size_t events_created = 0, events_destroyed = 0, streams_created = 0, streams_destroyed = 0;
  std::map<std::string, function_record, std::less<>> functions;
  std::unordered_map<char const*, function_record*> functions_by_literal;  ///< the same, found without comparing text
  std::vector<simulated::call> log;
  std::size_t calls = 0;
  std::vector<sweep> sweeps;
  std::size_t injected = 0;
  std::vector<std::string> misuses;
  std::vector<profiler_call> profiler;
  void (*profiler_stop_action)() = nullptr;
};

/// The one machine. It is never destroyed: globals of the program under test may still call at exit.
machine& the_machine();

/// The state of the calling thread.
thread_state& this_thread(machine& m);

template <class Handle>
Handle next_handle(machine& m) {
  m.last_handle += 0x40;
  return reinterpret_cast<Handle>(m.last_handle);
}

void misuse(machine& m, std::string what);

}  // namespace simulated::inside
