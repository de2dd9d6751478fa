#include "cuda/ops/block_stamp.h"
#include "cuda/portable/attend.cuh"
#include "cuda/portable/schedule.h"

namespace dcpscope::cuda::portable {
namespace {

/**
 * Moves on to the next piece of this block's share, beginning the search at item `index` of `group`; false
 * when there is none.
 */
__device__ bool advance(const Work& work, int rows, int group, int index, Piece& piece) {
  const int64_t block = blockIdx.x;
  const int64_t share = *work.plan.share;
  const int64_t end = (block + 1) * share;
  for (; group < work.groups; ++group, index = 0) {
    const int64_t groupBegin = work.plan.begin[group];
    const int64_t groupEnd = work.plan.begin[group + 1];
    const int64_t skipped = (block * share - groupBegin) / ((groupEnd - groupBegin) / work.items);
    if (skipped > index) index = int(skipped);
    for (; index < work.items; ++index) {
      const Item item = itemOf(groupBegin, groupEnd, work.items, index);
      if (item.begin >= end) return false;
      if (block < item.firstBlock(share) || block > item.lastBlock(share)) continue;
      piece.firstRow = int64_t(group) * work.rowsPerGroup + index * rows;
      piece.group = group;
      piece.index = index;
      piece.rows = min(rows, work.rowsPerGroup - index * rows);
      piece.tile = int(item.firstTile(block, share));
      piece.endTile = int(item.endTile(block, share));
      piece.slot = item.split(share) ? int(slotOf(item, block, share)) : -1;
      return true;
    }
  }
  return false;
}

template <class T>
__global__ void __launch_bounds__(kThreads, 2) attendItems(const __grid_constant__ Work work) {
  const BlockStamp stamp(work.in.attendStamps);
  Attend<T> attend(work);
  Piece& piece = Shared<T>::piece();
  bool more = false;
  if (threadIdx.x == 0) more = advance(work, T::kRows, work.plan.firstGroup[blockIdx.x], 0, piece);
  while (__syncthreads_or(more)) {
    attend.run();
    __syncthreads();
    if (threadIdx.x == 0) more = advance(work, T::kRows, piece.group, piece.index + 1, piece);
  }
  stamp.end();
}

template <class T>
AttendKernel kernelOf(int keyDim) {
  return {reinterpret_cast<const void*>(attendItems<T>), T::kRows, T::kKeys, T::sharedBytes(keyDim)};
}

/** Many rows share the keys that were read; many keys share a barrier. The last fits for every width. */
template <KvType kv, bool grouped = false>
AttendKernel choose(const AttentionShape& shape) {
  const AttendKernel wide = kernelOf<Tile<kv, 32, 16, grouped>>(shape.keyDim);
  if (rowsPerGroup(shape) > 16 && wide.sharedBytes <= kSharedLimit) return wide;
  const AttendKernel narrow = kernelOf<Tile<kv, 16, 32, grouped>>(shape.keyDim);
  return narrow.sharedBytes <= kSharedLimit ? narrow : kernelOf<Tile<kv, 16, 16, grouped>>(shape.keyDim);
}

}  // namespace

AttendKernel attendKernel(const AttentionShape& shape) {
  const bool grouped = shape.kvHeads > 0;
  if (shape.kvType == KvType::bf16)
    return grouped ? choose<KvType::bf16, true>(shape) : choose<KvType::bf16>(shape);
  if (shape.kvType == KvType::fp8)
    return grouped ? choose<KvType::fp8, true>(shape) : choose<KvType::fp8>(shape);
  return choose<KvType::fp8DsMla>(shape);
}

static_assert(Tile<KvType::bf16, 16, 16>::sharedBytes(kMaxValueDim + kMaxRopeDim) <= kSharedLimit);
static_assert(Tile<KvType::fp8, 16, 16>::sharedBytes(kMaxValueDim + kMaxRopeDim) <= kSharedLimit);
static_assert(Tile<KvType::fp8DsMla, 16, 32>::sharedBytes(kDsMlaLatent + kDsMlaRope) <= kSharedLimit);
static_assert(Tile<KvType::bf16, 16, 16, true>::sharedBytes(kMaxValueDim) <= kSharedLimit);
static_assert(Tile<KvType::fp8, 16, 16, true>::sharedBytes(kMaxValueDim) <= kSharedLimit);

}  // namespace dcpscope::cuda::portable
