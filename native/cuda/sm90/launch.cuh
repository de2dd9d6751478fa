#pragma once
#include "cuda/check.h"
#include "cuda/sm90/kernel.cuh"

namespace dcpscope::cuda {

template <class Producer>
void launchAttend(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream) {
  cudaCheck(cudaFuncSetAttribute(attendKernel<Producer>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 sizeof(SharedMemory)),
            "shared memory of the attention kernel");
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>(grid));
  launch.blockDim = dim3(kBlockThreads<Producer>);
  launch.dynamicSmemBytes = sizeof(SharedMemory);
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = 1;
  cudaCheck(cudaLaunchKernelEx(&launch, attendKernel<Producer>, args, maps),
            "launching the attention kernel");
}

}  // namespace dcpscope::cuda
