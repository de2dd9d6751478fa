#pragma once
#include "cuda/check.h"
#include "cuda/sm90/kernel.cuh"

namespace dcpscope::cuda {

template <class Producer>
void launchAttend(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream) {
  cudaCheck(cudaFuncSetAttribute(attendKernel<Producer>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 sizeof(SharedMemory)),
            "shared memory of the attention kernel");
  attendKernel<Producer><<<grid, kBlockThreads<Producer>, sizeof(SharedMemory), stream>>>(args, maps);
  launched("launching the attention kernel");
}

}  // namespace dcpscope::cuda
