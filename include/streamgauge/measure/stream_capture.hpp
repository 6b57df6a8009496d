#pragma once

#include <streamgauge/measure/context.hpp>

namespace streamgauge {

/// Whether a plain record on the stream may be made now: `cudaSuccess`, or the status that says why not
/// (`cudaErrorStreamCaptureUnsupported` when this stream is being captured, `cudaErrorStreamCaptureImplicit` when it is the
/// legacy stream and a blocking stream is being captured).
/// Why: a plain record inside a capture becomes a dependency that cannot be read, and one on the legacy stream breaks the
/// capture of somebody else. This is the one answer that is used everywhere.
/// Sync: none. Capture: allowed in every mode; the last error is not touched.
[[nodiscard]] inline int may_record(driver_api const& cuda, stream_ref stream, context_key context) noexcept {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  int status = cuda.stream_is_capturing(stream.handle(), &capture);
  if (status == cudaErrorDeviceUninitialized) {
    // A special stream on a thread whose first CUDA call is still to come.
    context_scope const current{cuda, context.handle};
    status = current.status() == cudaSuccess ? cuda.stream_is_capturing(stream.handle(), &capture) : current.status();
  }
  if (status != cudaSuccess) return status;
  return capture == cudaStreamCaptureStatusNone ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

/// Whether a stream is being captured, and the capture is sound: `cudaSuccess`, or the status that says why not
/// (`cudaErrorCapturedEvent` when it is not captured any more).
/// Sync: none. Capture: allowed in every mode.
[[nodiscard]] inline int in_sound_capture(driver_api const& cuda, stream_ref stream) noexcept {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  int const status = cuda.stream_is_capturing(stream.handle(), &capture);
  if (status != cudaSuccess) return status;
  if (capture == cudaStreamCaptureStatusInvalidated) return cudaErrorStreamCaptureInvalidated;
  return capture == cudaStreamCaptureStatusActive ? cudaSuccess : cudaErrorCapturedEvent;
}

/// Whether a stream may wait for an event of a sound capture, and so join it: `cudaSuccess`, or the status that says why not.
/// Why: CUDA answers a wait on the legacy stream by breaking the capture.
/// Sync: none. Capture: allowed in every mode.
[[nodiscard]] inline int may_join_capture(driver_api const& cuda, stream_ref stream) noexcept {
  int const status = in_sound_capture(cuda, stream);
  if (status != cudaErrorCapturedEvent) return status;
  return stream.is_legacy() ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

}  // namespace streamgauge
