#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "cuda/sm90/wgmma.cuh"
#endif

/** Matrix products that need no memory: the tensor cores' share of a layer. */
namespace dcpscope::cuda {

/** Threads that multiply: one warpgroup. */
constexpr int kMultiplyThreads = 128;
/** Work of one step of a block: 64 x 256 outputs, contraction 16. */
constexpr int64_t kStepFlops = int64_t{2} * 64 * 256 * 16;
/** Shared memory of the operands: a box of 64 x 64 and four of them. */
constexpr int kOperandBytes = 5 * 8192;

/** Two bf16 values of some size below 2^-6, of either sign, so that the units switch as with real data. */
__device__ inline uint32_t operandPair(uint32_t i) {
  const uint32_t h = (i + 1) * 0x9e3779b1U;
  return ((h ^ h >> 15) & 0x80ff80ffU) | 0x3c003c00U;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/** Lets the tensor cores see what this thread wrote; before a barrier. */
__device__ inline void fenceOperands() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/** By one warpgroup; `operands` is filled and lies at a multiple of 1024. Returns what keeps the work alive.
 */
__device__ inline float multiply(const uint32_t* operands, int64_t steps) {
  constexpr uint32_t kContraction16 = 32 / kChunk;
  constexpr uint32_t kRows16 = 2048 / kChunk;
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(operands)) / kChunk;
  Accumulator<256> sum{};
  for (int64_t s = 0; s < steps; ++s) {
    const auto k = static_cast<uint32_t>(s & 3);
    mmaFence();
    valueStep(sum, rowOperand(base + k * kContraction16), columnOperand(base + kBoxChunks + k * kRows16));
    mmaCommit();
    mmaWait<1>();
  }
  mmaWait<0>();
  float total = 0;
#pragma unroll
  for (const float value : sum.v) total += value;
  return total;
}

#else

__device__ inline void fenceOperands() {}

/** By four warps; each does a quarter of a step. */
__device__ inline float multiply(const uint32_t* operands, int64_t steps) {
  constexpr int kTiles = 16;
  constexpr int kTileFlops = 2 * 16 * 8 * 16;
  constexpr int kRounds = static_cast<int>(kStepFlops / 4 / kTileFlops / kTiles);
  const uint32_t* own = operands + threadIdx.x % 32 * 8;
  float sum[kTiles][4] = {};
  for (int64_t s = 0; s < steps * kRounds; ++s) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[t][0]), "+f"(sum[t][1]), "+f"(sum[t][2]), "+f"(sum[t][3])
          : "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3]), "r"(own[4]), "r"(own[5]));
  }
  float total = 0;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) total += sum[t][0] + sum[t][1] + sum[t][2] + sum[t][3];
  return total;
}

#endif

}  // namespace dcpscope::cuda
