#include "cuda/sm90/kernels.h"
#include "cuda/sm90/launch.cuh"
#include "cuda/sm90/producer_codes.cuh"

namespace dcpscope::cuda {

void attendDsMlaRows(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream) {
  if (args.slots != nullptr)
    launchAttend<CodeProducer<CodeFormat::fp8DsMla, true>>(args, maps, grid, stream);
  else
    launchAttend<CodeProducer<CodeFormat::fp8DsMla, false>>(args, maps, grid, stream);
}

}  // namespace dcpscope::cuda
