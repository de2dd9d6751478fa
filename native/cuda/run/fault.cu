#include "cuda/check.h"
#include "cuda/run/fault.h"

namespace dcpscope::cuda {
namespace {

__global__ void faultKernel(Stamps stamps, volatile int* nowhere) {
  announce(stamps);
  __threadfence_system();
  *nowhere = 1;
}

/** For longer than anybody has patience, but not for ever: other programs need the GPU too. */
constexpr uint64_t kHangNs = 12'000'000'000;

__global__ void hangKernel(Stamps stamps) {
  announce(stamps);
  for (const uint64_t begin = globalTime(); globalTime() - begin < kHangNs;) __nanosleep(1'000'000);
}

}  // namespace

void TestFault::strike(const Stamps& stamps, cudaStream_t stream) const {
  if (at_.hangs)
    hangKernel<<<1, 1, 0, stream>>>(stamps);
  else
    faultKernel<<<1, 1, 0, stream>>>(stamps, reinterpret_cast<int*>(64));
  launched("a fault on purpose");
}

}  // namespace dcpscope::cuda
