#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/portable/result.cuh"
#include "cuda/portable/rows.cuh"
#include "cuda/portable/schedule.h"
#include "cuda/portable/tile.cuh"

namespace dcpscope::cuda::portable {
namespace {

constexpr int kCombineThreads = 128;
constexpr int kCombineWarps = kCombineThreads / 32;
/** Columns that a warp reads at a time, four by each lane. */
constexpr int kStride = 32 * 4;
constexpr int kSteps = kMaxValueDim / kStride;

/** The partial results of one row, one of each block that worked on its item. */
struct Partials {
  const Work& work;
  Item item;
  int64_t share;
  int row;

  __device__ float lse(int64_t block) const {
    return work.partialLse[slotOf(item, block, share) * work.rows + row];
  }
  __device__ const float* values(int64_t block) const {
    return partialValues(work, slotOf(item, block, share), row);
  }
};

/** Merges the partial results of one row; each warp adds up every fourth of them. */
__device__ void combineRow(const Partials& partials, int64_t outRow, float (*sums)[kMaxValueDim]) {
  const Work& work = partials.work;
  const int V = work.shape.valueDim;
  const int lane = int(threadIdx.x) % 32;
  const int warp = int(threadIdx.x) / 32;
  const int64_t first = partials.item.firstBlock(partials.share);
  const int64_t last = outRow < work.in.countedRows ? partials.item.lastBlock(partials.share) : first;

  float largest = -INFINITY;
  for (int64_t b = first + lane; b <= last; b += 32) largest = fmaxf(largest, partials.lse(b));
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, step));
  }
  // The largest does not show a NaN: parts of nothing else must add up to NaN, parts without keys to 0.
  if (largest == -INFINITY) largest = 0;
  float total = 0;
  for (int64_t b = first + lane; b <= last; b += 32) total += exp2f(partials.lse(b) - largest);
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffU, total, step);
  const bool empty = total == 0;

  float4 sum[kSteps] = {};
  for (int64_t b = first + warp; b <= last; b += kCombineWarps) {
    const float lse = partials.lse(b);
    if (lse == -INFINITY) continue;
    const float weight = exp2f(lse - largest) / total;
    const float* from = partials.values(b);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int column = s * kStride + lane * 4;
      if (column >= V) break;
      const float4 value = *reinterpret_cast<const float4*>(from + column);
      sum[s].x += weight * value.x;
      sum[s].y += weight * value.y;
      sum[s].z += weight * value.z;
      sum[s].w += weight * value.w;
    }
  }
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    *reinterpret_cast<float4*>(&sums[warp][s * kStride + lane * 4]) = sum[s];
  }
  __syncthreads();
  if (threadIdx.x == 0) writeLse(work, outRow, empty ? -INFINITY : largest + log2f(total));
  float filler = 0;
  if (empty && !emptyValue(work, filler)) return;
  const RowTarget to = resultRow(work, outRow);
  for (int column = int(threadIdx.x) * 2; column < V; column += 2 * kCombineThreads) {
    float2 value = make_float2(filler, filler);
    for (int w = 0; w < kCombineWarps; ++w) {
      value.x += sums[w][column];
      value.y += sums[w][column + 1];
    }
    to.put(column, value.x, value.y);
  }
}

/** Block: one query row. Rows of items that one block did are done already. */
__global__ void __launch_bounds__(kCombineThreads) combineRows(const __grid_constant__ Work work) {
  __shared__ float sums[kCombineWarps][kMaxValueDim];
  const BlockStamp stamp(work.in.combineStamps);
  const int group = int(blockIdx.x) / work.rowsPerGroup;
  const int inGroup = int(blockIdx.x) % work.rowsPerGroup;
  const Item item =
      itemOf(work.plan.begin[group], work.plan.begin[group + 1], work.items, inGroup / work.rows);
  const int64_t share = *work.plan.share;
  if (item.split(share))
    combineRow({work, item, share, inGroup % work.rows}, rowOf(work, group, inGroup), sums);
  stamp.end();
}

}  // namespace

void launchCombine(const Work& work, cudaStream_t stream) {
  const int64_t rows = int64_t(work.groups) * work.rowsPerGroup;
  combineRows<<<unsigned(rows), kCombineThreads, 0, stream>>>(work);
  launched("combining partial results of attention");
}

}  // namespace dcpscope::cuda::portable
