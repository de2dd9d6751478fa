#include "cuda/check.h"
#include "cuda/run/fault.h"

namespace dcpscope::cuda {
namespace {

__global__ void faultKernel(Stamps stamps, volatile int* nowhere) {
  if (stamps.first != nullptr) announce(stamps);
  __threadfence_system();
  *nowhere = 1;
}

}  // namespace

void TestFault::strike(const Stamps& stamps, cudaStream_t stream) {
  faultKernel<<<1, 1, 0, stream>>>(stamps, reinterpret_cast<int*>(64));
  launched("a fault on purpose");
}

}  // namespace dcpscope::cuda
