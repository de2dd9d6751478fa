#pragma once
#include "cuda/ops/transport_shape.h"
#include "cuda/ops/values.cuh"
#include "cuda/ops/weights.cuh"

/** The merge of one row over all ranks, by a warp. */
namespace dcpscope::cuda {

/** sum += the rows of the InFlight ranks from `first` on, times their weights; all are under way at once. */
template <bool Fp32, int InFlight, class RowOf>
__device__ inline void addRows(const TransportShape& shape, int first, int count, const RankWeights& weights,
                               RowOf&& rowOf, float (&sum)[kEightsPerLane][kEight]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Eight<Fp32> held[InFlight][kEightsPerLane] = {};
#pragma unroll
  for (int r = 0; r < InFlight; ++r)
#pragma unroll
    for (int i = 0; i < kEightsPerLane; ++i)
      if (first + r < shape.ranks && lane + i * kWarp < count)
        held[r][i] = loadEight<Fp32>(rowOf(first + r), lane + i * kWarp);
#pragma unroll
  for (int r = 0; r < InFlight; ++r) {
    const float weight = weights.of(first + r);
    if (first + r >= shape.ranks || (weight == 0.0F && !shape.multipliesZeros)) continue;
#pragma unroll
    for (int i = 0; i < kEightsPerLane; ++i) {
      float values[kEight];
      widen(held[r][i], values);
#pragma unroll
      for (int j = 0; j < kEight; ++j) sum[i][j] = fmaf(values[j], weight, sum[i][j]);
    }
  }
}

/** Row `row` of `merged`: the weighted fp32 sum over the ranks, whose values begin at rowOf(rank). */
template <bool InFp32, bool OutFp32, int InFlight, class RowOf>
__device__ inline void mergeRow(const TransportShape& shape, const RankWeights& weights, RowOf&& rowOf,
                                void* merged, int64_t row) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int count = shape.valueDim / kEight;
  float sum[kEightsPerLane][kEight] = {};
  for (int first = 0; first < shape.ranks; first += InFlight)
    addRows<InFp32, InFlight>(shape, first, count, weights, rowOf, sum);
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i)
    if (lane + i * kWarp < count) storeEight(merged, row * count + lane + i * kWarp, narrow<OutFp32>(sum[i]));
}

}  // namespace dcpscope::cuda
