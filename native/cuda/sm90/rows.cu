#include "cuda/sm90/kernels.h"
#include "cuda/sm90/launch.cuh"
#include "cuda/sm90/producer_rows.cuh"

namespace dcpscope::cuda {

void attendBf16Rows(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream) {
  if (args.slots != nullptr)
    launchAttend<RowProducer<true>>(args, maps, grid, stream);
  else
    launchAttend<RowProducer<false>>(args, maps, grid, stream);
}

}  // namespace dcpscope::cuda
