#pragma once

#include "runtime/fixture.hpp"

/// What the measured program does by itself: its calls are marked as its own and never failed by injection.

/// A stream of the program's.
class program_stream {
 public:
  explicit program_stream(unsigned int flags = cudaStreamNonBlocking) {
    simulated::user_scope const user;
    REQUIRE(cudaStreamCreateWithFlags(&handle_, flags) == cudaSuccess);
  }
  ~program_stream() {
    simulated::user_scope const user;
    if (handle_) cudaStreamDestroy(handle_);
  }
  program_stream(program_stream const&) = delete;
  program_stream& operator=(program_stream const&) = delete;

  [[nodiscard]] cudaStream_t get() const { return handle_; }
  /// Its context is gone, and it with it.
  void forget() { handle_ = nullptr; }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Gives the current device a context, as the program's first call does.
inline void make_context() {
  simulated::user_scope const user;
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
}

/// Leaves `cudaErrorInvalidValue` pending: a call of the program's failed, and it has not looked yet.
inline void leave_an_error_pending() {
  simulated::user_scope const user;
  REQUIRE(cudaEventCreateWithFlags(nullptr, cudaEventDefault) == cudaErrorInvalidValue);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
}

/// The program's pending error, left as it is.
inline cudaError_t pending_error() {
  simulated::user_scope const user;
  return cudaPeekAtLastError();
}

inline void wait_for(cudaStream_t stream) {
  simulated::user_scope const user;
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
}

inline void reset_device() {
  simulated::user_scope const user;
  REQUIRE(cudaDeviceReset() == cudaSuccess);
}

inline void select_device(int device) {
  simulated::user_scope const user;
  REQUIRE(cudaSetDevice(device) == cudaSuccess);
}
