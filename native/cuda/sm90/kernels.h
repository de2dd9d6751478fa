#pragma once
#include "cuda/sm90/kernel.cuh"

namespace dcpscope::cuda {

/** Launches of the sm_90 kernel, one for each way keys reach shared memory: `grid` blocks. */
void attendBoxes(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream);
/** Row by row; keys are listed where args.slots is given, else found through the page table. */
void attendBf16Rows(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream);
void attendFp8Rows(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream);
void attendDsMlaRows(const KernelArgs& args, const KernelMaps& maps, int grid, cudaStream_t stream);

}  // namespace dcpscope::cuda
