#include "cuda/check.h"
#include "cuda/portable/schedule.h"
#include "cuda/portable/work.h"

namespace dcpscope::cuda::portable {
namespace {

constexpr int kPlanThreads = 512;
constexpr int kPlanWarps = kPlanThreads / 32;

__device__ int64_t costOf(const Work& work, const int32_t* lengths, int group) {
  const int64_t keys = work.shape.topk > 0 ? work.shape.topk : lengths[group / work.kvHeads];
  return work.items * (kItemCost + divideUp(keys, work.keys));
}

/** Sum of `value` over the threads before this one. */
__device__ int64_t sumBefore(int64_t value, int64_t* warpSums) {
  const int lane = int(threadIdx.x) % 32;
  const int warp = int(threadIdx.x) / 32;
  int64_t sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int64_t left = __shfl_up_sync(0xffffffffU, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warpSums[warp] = sum;
  __syncthreads();
  int64_t before = sum - value;
  for (int w = 0; w < warp; ++w) before += warpSums[w];
  return before;
}

/** One block: each thread sums a run of neighbouring groups. */
__global__ void __launch_bounds__(kPlanThreads) planItems(Work work, const int32_t* lengths) {
  __shared__ int64_t warpSums[kPlanWarps];
  const int perThread = int(divideUp(work.groups, kPlanThreads));
  const int first = min(int(threadIdx.x) * perThread, work.groups);
  const int end = min(first + perThread, work.groups);
  int64_t cost = 0;
  for (int g = first; g < end; ++g) cost += costOf(work, lengths, g);
  int64_t at = sumBefore(cost, warpSums);
  for (int g = first; g < end; ++g) {
    work.plan.begin[g] = at;
    at += costOf(work, lengths, g);
  }
  if (threadIdx.x == kPlanThreads - 1) work.plan.begin[work.groups] = at;
  __syncthreads();

  const int64_t total = work.plan.begin[work.groups];
  const int64_t share = shareOf(total, work.blocks, work.keys);
  if (threadIdx.x == 0) *work.plan.share = share;
  for (int block = int(threadIdx.x); block < work.blocks; block += kPlanThreads) {
    const int64_t unit = block * share;
    int low = 0;
    int high = work.groups;
    // The last group that begins at or before the unit; groups are never without units.
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (work.plan.begin[middle] <= unit ? low : high) = middle;
    }
    work.plan.firstGroup[block] = unit < total ? low : work.groups;
  }
}

}  // namespace

void launchPlan(const Work& work, const int32_t* lengths, cudaStream_t stream) {
  planItems<<<1, kPlanThreads, 0, stream>>>(work, lengths);
  launched("planning attention");
}

}  // namespace dcpscope::cuda::portable
