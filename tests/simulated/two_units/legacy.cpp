// Built without the per-thread default stream.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error this unit is built without CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif
#include "unit_body.hpp"

unit legacy_unit() { return this_unit(); }
