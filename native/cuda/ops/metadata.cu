#include "core/layout.h"
#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/metadata.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 128;

__device__ int64_t slotOf(const MetadataTask& task, int request, int64_t position) {
  const Ownership& own = task.own;
  if (position >= task.after[request]) return -1;
  if (layout::owner(position, own.ranks, own.interleave) != own.rank) return -1;
  const int64_t local = layout::localIndex(position, own.ranks, own.interleave);
  const int32_t page = task.pageTable[task.tableBegin[request] + local / own.pageSize];
  return layout::slot(page, local, own.pageSize);
}

__global__ void __launch_bounds__(kThreads) metadataKernel(MetadataTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const Ownership& own = task.own;
  const int token = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (token < task.requests * task.qLen) {
    const int request = token / task.qLen;
    const int q = token % task.qLen;
    const int64_t after = task.after[request];
    if (q == 0)
      task.lengths[request] =
          static_cast<int32_t>(layout::localLength(after, own.rank, own.ranks, own.interleave));
    task.bounds[token] = static_cast<int32_t>(
        layout::localLength(layout::visibleGlobal(after, task.qLen, q), own.rank, own.ranks, own.interleave));
    task.slots[token] = slotOf(task, request, task.before[request] + q);
  }
  stamp.end();
}

}  // namespace

void makeMetadata(const MetadataTask& task, cudaStream_t stream, Stamps stamps) {
  metadataKernel<<<blocksFor(static_cast<int64_t>(task.requests) * task.qLen, kThreads), kThreads, 0,
                   stream>>>(task, stamps);
  launched("metadata");
}

}  // namespace dcpscope::cuda
