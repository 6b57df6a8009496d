// Work on two streams: prepare, then compute beside communicate, then finalize. The span over the two in the middle says
// how long they took together, and its branches which of them to speed up.
#include <cstdio>
#include <iostream>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/span.hpp>
namespace sg = streamgauge;

// Stands for work that takes so many milliseconds.
__global__ void work(unsigned int milliseconds) {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < milliseconds * 1'000'000ull);
}

int main() {
  cudaStream_t stream = nullptr, side = nullptr;
  cudaEvent_t prepared = nullptr, communicated = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
      cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) != cudaSuccess ||
      cudaEventCreateWithFlags(&prepared, cudaEventDisableTiming) != cudaSuccess ||
      cudaEventCreateWithFlags(&communicated, cudaEventDisableTiming) != cudaSuccess)
    std::puts("No CUDA device can be used here, so what follows is what the host alone can measure.\n");

  sg::recorder recorder;
  sg::warmup const five{5};
  sg::phase step{recorder, "step", five}, prepare{recorder, "prepare", five};
  sg::phase both{recorder, "both", five};  // of the span
  sg::phase compute{recorder, "compute", five}, communicate{recorder, "communicate", five};
  sg::phase finalize{recorder, "finalize", five};

  for (int i = 0; i < 30; ++i) {
    auto one = step.enter(stream);
    {
      auto scope = prepare.enter(stream);
      work<<<1, 1, 0, stream>>>(2);
    }
    // The fork and the join are the program's own: an observed span adds no dependency.
    cudaEventRecord(prepared, stream);
    cudaStreamWaitEvent(side, prepared, 0);
    {
      sg::span whole{both};
      {
        auto part = whole.branch(stream, compute);
        work<<<1, 1, 0, stream>>>(6);
      }
      {
        // Entered behind the wait above, so it times the communication and not the waiting for it.
        auto part = whole.branch(side, communicate);
        work<<<1, 1, 0, side>>>(9);
      }
    }
    cudaEventRecord(communicated, side);
    cudaStreamWaitEvent(stream, communicated, 0);
    {
      auto scope = finalize.enter(stream);
      work<<<1, 1, 0, stream>>>(1);
    }
    one.wait(sg::wait_policy::spin);
  }

  sg::report::table(std::cout, recorder.collect());
}
