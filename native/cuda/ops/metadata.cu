#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/metadata.h"
#include "cuda/ops/metadata_token.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) metadataKernel(MetadataTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int token = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (token < task.requests * task.qLen) writeMetadata(task, token);
  stamp.end();
}

}  // namespace

void makeMetadata(const MetadataTask& task, cudaStream_t stream, Stamps stamps) {
  metadataKernel<<<blocksFor(static_cast<int64_t>(task.requests) * task.qLen, kThreads), kThreads, 0,
                   stream>>>(task, stamps);
  launched("metadata");
}

}  // namespace dcpscope::cuda
