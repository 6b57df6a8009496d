#include <streamgauge/streamgauge.hpp>
#include <chrono>
#include <cstdio>
#include <algorithm>
#include <vector>
#include <nvtx3/nvToolsExt.h>
namespace sg = streamgauge;
int main(){
  sg::recorder recorder{sg::mode::time, sg::capacity{400*402, 1024}};
  sg::phase const step{recorder,"step"};
  cudaStream_t s=(cudaStream_t)0x5000;
  std::vector<double> all, hand;
  for(int r=0;r<400;++r){
    auto b=std::chrono::steady_clock::now();
    for(int i=0;i<400;++i){ auto const scope=step.enter(s); }
    auto e=std::chrono::steady_clock::now();
    all.push_back(std::chrono::duration<double,std::nano>(e-b).count()/400);
    recorder.drain();
    static std::chrono::steady_clock::time_point st[800];
    b=std::chrono::steady_clock::now();
    for(int i=0;i<400;++i){ nvtxRangePushA("step"); st[2*i]=std::chrono::steady_clock::now(); asm volatile("":::"memory"); st[2*i+1]=std::chrono::steady_clock::now(); nvtxRangePop(); }
    e=std::chrono::steady_clock::now();
    hand.push_back(std::chrono::duration<double,std::nano>(e-b).count()/400);
  }
  std::sort(all.begin(),all.end()); std::sort(hand.begin(),hand.end());
  std::printf("phase median %.1f least %.1f; two clocks and push/pop median %.1f\n",all[200],all[0],hand[200]);
}
