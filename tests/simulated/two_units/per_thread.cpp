// Built with -DCUDA_API_PER_THREAD_DEFAULT_STREAM.
#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error this unit is built with CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif
#include "unit_body.hpp"

unit per_thread_unit() { return this_unit(); }
