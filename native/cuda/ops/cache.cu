#include "core/layout.h"
#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/cache.h"
#include "cuda/ops/cache_row.cuh"
#include "cuda/ops/generated.cuh"
#include "cuda/ops/launch.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Tokens that one warp of `fill` writes. */
constexpr int kTokensPerWarp = 4;

__global__ void __launch_bounds__(kThreads)
    fillKernel(const __grid_constant__ FillTask task, int64_t begin, int64_t end) {
  const Ownership& own = task.own;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warps = static_cast<int64_t>(gridDim.x) * kWarps;
  for (int64_t local = begin + static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp; local < end;
       local += warps) {
    const int64_t position = layout::globalIndex(local, own.rank, own.ranks, own.interleave);
    const int64_t slot = layout::slot(task.pages[local / own.pageSize], local, own.pageSize);
    writeToken(
        task.format,
        [&](int part) {
          const RowSpec spec = cachedRow(task.source, position, part, task.format.kvHeads);
          return [spec](int d) { return generatedFour(spec, d); };
        },
        static_cast<uint8_t*>(task.pool) + slot * task.format.rowBytes, lane);
  }
}

/** By one warp. */
__device__ inline void appendToken(const AppendTask& task, int token, int lane) {
  const int64_t slot = token < task.tokens ? task.slots[token] : -1;
  if (slot < 0) return;
  const int64_t first = static_cast<int64_t>(token) * cachedRows(task.format.kvHeads);
  writeToken(
      task.format,
      [&](int part) {
        const auto* row = static_cast<const uint16_t*>(task.keys) + (first + part) * task.format.keyDim;
        return [row](int d) { return *reinterpret_cast<const uint2*>(row + d); };
      },
      static_cast<uint8_t*>(task.pool) + slot * task.format.rowBytes, lane);
}

__global__ void __launch_bounds__(kThreads) appendKernel(AppendTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  appendToken(task, static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarp, lane);
  stamp.end();
}

/** One warp. A byte of a row is written by the same thread for every token. */
__global__ void __launch_bounds__(kWarp) appendInOrderKernel(AppendTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  for (int token = 0; token < task.tokens; ++token) appendToken(task, token, static_cast<int>(threadIdx.x));
  stamp.end();
}

}  // namespace

void fill(const FillTask& task, cudaStream_t stream) {
  const Ownership& own = task.own;
  const int64_t begin = layout::localLength(task.first, own.rank, own.ranks, own.interleave);
  const int64_t end = layout::localLength(task.last, own.rank, own.ranks, own.interleave);
  if (begin >= end) return;
  fillKernel<<<blocksFor(end - begin, kWarps * kTokensPerWarp), kThreads, 0, stream>>>(task, begin, end);
  launched("fill");
}

void append(const AppendTask& task, cudaStream_t stream, Stamps stamps) {
  appendKernel<<<blocksFor(task.tokens, kWarps), kThreads, 0, stream>>>(task, stamps);
  launched("append");
}

void appendInOrder(const AppendTask& task, cudaStream_t stream, Stamps stamps) {
  appendInOrderKernel<<<1, kWarp, 0, stream>>>(task, stamps);
  launched("append");
}

}  // namespace dcpscope::cuda
