#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>

#include <streamgauge/measure/event.hpp>

namespace streamgauge {

/// Work of ours that a stream goes through while the host enqueues what is to be measured behind it: memsets, one after the
/// other, of some of the host's own memory.
/// Why: a memset is no kernel of ours, but one of the device's memory is over before the next is enqueued, unless it is so
/// large that it empties the L2 cache. Pinned memory of the host is written at the pace of the bus: some hundred kilobytes
/// take longer than their call, and the caches stay nearly as they were. How many are needed is tried, not assumed: the least
/// that takes twice its call.
/// Requires: the stream's context lives as long.
/// Threads: one at a time.
/// Source: CUDA's page on the synchronisation of its calls: memsets that end in Async do not wait, of pinned memory neither.
class queued_work {
 public:
  /// Asks for the memory, and tries how long a memset takes. The runtime's last error is left as it was.
  /// Throws: nothing. Sync: waits for what is queued on the stream, and for the memsets behind it.
  /// Capture: allowed; a stream that is being captured is left alone.
  explicit queued_work(stream_ref stream) noexcept : stream_{stream} {
    driver_answer const cuda = driver();
    if (!cuda.api) return;
    context_answer const found = context_of(*cuda.api, stream);
    if (found.status != cudaSuccess) return;
    context_ = found.key;
    works_ = inside([this](driver_api const& api) { return prepare(api); });
  }
  queued_work(queued_work const&) = delete;
  queued_work& operator=(queued_work const&) = delete;
  /// Sync: waits until the device is through what was queued.
  ~queued_work() {
    driver_answer const cuda = context_.handle ? driver() : driver_answer{};
    if (!cuda.api || !alive(*cuda.api, context_)) return;
    context_scope const current{*cuda.api, context_.handle};
    relaxed_capture_mode const relaxed{*cuda.api};
    if (passed_ && relaxed.status() == cudaSuccess) static_cast<void>(cuda.api->event_synchronize(passed_));
    for (cudaEvent_t const each : {begun_, ended_, passed_})
      if (each) cuda.api->event_destroy(each);
    if (memory_) static_cast<void>(without_trace([this] { return cudaFreeHost(memory_); }));
  }

  /// Whether there is something to queue that outlasts its own submission.
  [[nodiscard]] bool works() const noexcept { return works_; }
  /// How much of the host's memory each memset writes.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Queues as much as leaves the host that time, from when this returns; but never more than `most`.
  /// Sync: none; where more is queued than fits into a stream, the calls wait for room.
  void queue(nanoseconds time) noexcept {
    works_ = works_ && inside([&](driver_api const& cuda) {
      std::int64_t count = time / (each_ - call_) + 1;
      if (count > most / each_) count = most / each_ > 0 ? most / each_ : 1;
      return enqueue(count) && record(cuda, passed_, stream_, context_) == cudaSuccess;
    });
  }

  /// Whether the device has still not come to the end of what was queued last.
  /// Sync: none. Capture: allowed.
  [[nodiscard]] bool is_under_way() const noexcept {
    return works_ && inside([this](driver_api const& cuda) { return cuda.event_query(passed_) == cudaErrorNotReady; });
  }

  static constexpr nanoseconds most{2'000'000};

 private:
  static constexpr std::size_t smallest = std::size_t{256} << 10U;
  static constexpr std::size_t largest = std::size_t{4} << 20U;

  // In the stream's context, where no wait and no allocation breaks a capture.
  template <class Call>
  [[nodiscard]] bool inside(Call call) const noexcept {
    driver_api const& cuda = *driver().api;
    if (!alive(cuda, context_)) return false;
    context_scope const current{cuda, context_.handle};
    relaxed_capture_mode const relaxed{cuda};
    return current.status() == cudaSuccess && relaxed.status() == cudaSuccess &&
           may_record(cuda, stream_, context_) == cudaSuccess && call(cuda);
  }

  [[nodiscard]] bool prepare(driver_api const& cuda) noexcept {
    for (cudaEvent_t* const each : {&begun_, &ended_, &passed_}) {
      if (cuda.event_create(each, each == &passed_ ? cudaEventDisableTiming : cudaEventDefault) == cudaSuccess) continue;
      *each = nullptr;
      return false;
    }
    if (without_trace([this] { return cudaHostAlloc(&memory_, largest, cudaHostAllocPortable); }) != cudaSuccess) {
      memory_ = nullptr;
      return false;
    }
    for (bytes_ = smallest; bytes_ <= largest; bytes_ *= 2) {
      if (!try_some(cuda)) return false;
      if (each_ > nanoseconds{0} && each_ >= 2 * call_) return true;
    }
    return false;
  }

  // How long one takes the device, and how long the host. The first one keeps the device busy until the others are there.
  [[nodiscard]] bool try_some(driver_api const& cuda) noexcept {
    constexpr std::int64_t some = 8;
    if (!enqueue(1) || record(cuda, begun_, stream_, context_) != cudaSuccess) return false;
    host_stamp const before = host_now();
    if (!enqueue(some)) return false;
    call_ = (host_now() - before) / some;
    if (record(cuda, ended_, stream_, context_) != cudaSuccess || cuda.event_synchronize(ended_) != cudaSuccess) return false;
    elapsed_answer const took = elapsed(cuda, begun_, ended_);
    each_ = took.time / some;
    return took.status == cudaSuccess;
  }

  [[nodiscard]] bool enqueue(std::int64_t count) noexcept {
    return without_trace([&] {
             cudaError_t status = cudaSuccess;
             for (; count > 0 && status == cudaSuccess; --count)
               status = cudaMemsetAsync(memory_, 0, bytes_, stream_.handle());
             return status;
           }) == cudaSuccess;
  }

  stream_ref stream_;
  context_key context_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  cudaEvent_t begun_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  cudaEvent_t passed_ = nullptr;  // behind what was queued last
  nanoseconds each_{0};           // of a memset, on the device
  nanoseconds call_{0};           // of a memset, on the host
  bool works_ = false;
};

}  // namespace streamgauge

#endif
