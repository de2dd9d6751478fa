#pragma once
#include "cuda/sm90/shared.cuh"

/** Online softmax of a tile's scores in the registers of a warpgroup. */
namespace dcpscope::cuda {

constexpr float kLowest = -1e30F;

/** Where a thread's accumulators lie: rows `row` and `row + 8` of the block, columns from `column` in each
 * group of 8. */
struct Fragment {
  __device__ explicit Fragment(int thread)
      : warp(thread / 32), lane(thread % 32), row(warp * 16 + lane / 4), column(lane % 4 * 2) {}
  int warp;
  int lane;
  int row;
  int column;
};

/** State of the softmax of a thread's two rows. */
struct Softmax {
  float top[2] = {kLowest, kLowest};
  /** Over the thread's own columns only, until the end. */
  float sum[2] = {0, 0};
  /** Keys that the rows see. */
  int bound[2] = {0, 0};
};

__device__ inline void mask(Accumulator<64>& scores, int firstKey, const Softmax& state, int column) {
  if (firstKey + kTile <= min(state.bound[0], state.bound[1])) return;
  const int seen0 = state.bound[0] - firstKey - column;
  const int seen1 = state.bound[1] - firstKey - column;
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      if (8 * i + j >= seen0) scores.v[4 * i + j] = -INFINITY;
      if (8 * i + j >= seen1) scores.v[4 * i + 2 + j] = -INFINITY;
    }
}

/** A maximum may fall behind by this power of two before sums are scaled to a new one. */
constexpr float kSlack = 8;

/** Turns scores into probabilities against the maximum; `factor` gets what earlier sums are multiplied with:
 * 1, unless the maximum rose by more than the slack. */
__device__ inline void soften(Accumulator<64>& scores, Softmax& state, float scale, float (&factor)[2]) {
  float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    most[0] = fmaxf(most[0], fmaxf(scores.v[4 * i], scores.v[4 * i + 1]));
    most[1] = fmaxf(most[1], fmaxf(scores.v[4 * i + 2], scores.v[4 * i + 3]));
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(~0U, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(~0U, most[r], 2));
    const float top = most[r] * scale > state.top[r] + kSlack ? most[r] * scale : state.top[r];
    factor[r] = exp2Fast(state.top[r] - top);
    state.top[r] = top;
    state.sum[r] *= factor[r];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float& v = scores.v[4 * i + 2 * r + j];
        v = exp2Fast(fmaf(v, scale, -state.top[r]));
        state.sum[r] += v;
      }
}

/** Probabilities as bf16 operands of the four steps of a tile. */
__device__ inline void pack(const Accumulator<64>& p, uint32_t (&packed)[4][4]) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i) packed[step][i] = packBf16(p.v[8 * step + 2 * i], p.v[8 * step + 2 * i + 1]);
}

}  // namespace dcpscope::cuda
