#include "cuda/sm90/kernels.h"
#include "cuda/sm90/launch.cuh"
#include "cuda/sm90/producer_boxes.cuh"

namespace dcpscope::cuda {

void attendBoxes(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream) {
  launchAttend<BoxProducer>(args, maps, grid, stream);
}

}  // namespace dcpscope::cuda
