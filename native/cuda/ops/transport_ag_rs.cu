#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/partial_rows.cuh"
#include "cuda/ops/transport.h"
#include "cuda/ops/transport_shape.h"
#include "cuda/ops/values.cuh"
#include "cuda/ops/weights.cuh"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Wires of the ranks that one thread has in flight at once. */
constexpr int kBatch = 8;

__global__ void __launch_bounds__(kThreads)
    gatherLseKernel(const __grid_constant__ RankBuffers lse, float* lses, int ranks, int count,
                    Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < static_cast<int64_t>(ranks) * count)
    lses[i] = static_cast<const float*>(lse.at[i / count])[i % count];
  stamp.end();
}

/** One warp a row. Its values were asked for before the weight is known, so that both wait together. */
template <bool OutFp32, bool WireFp32, bool Alike>
__device__ inline void correctRow(const TransportShape& shape, int rank, const HeldRow<OutFp32>& held,
                                  const float* lses, void* wire, int row) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int count = shape.valueDim / kEight;
  const int64_t rows = static_cast<int64_t>(shape.tokens) * shape.heads;
  const float weight = weightsOf<Alike>(shape, [&](int r) { return lses[r * rows + row]; }).of(rank);
  const bool drops = weight == 0.0F && !shape.multipliesZeros;
  const int headsPerRank = shape.heads / shape.ranks;
  const auto [token, head] = divided(row, shape.heads);
  const auto [to, ownHead] = divided(head, headsPerRank);
  const int64_t toRow = (int64_t{to} * shape.tokens + token) * headsPerRank + ownHead;
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i) {
    if (lane + i * kWarp >= count) continue;
    float values[kEight];
    widen(held.eights[i], values);
#pragma unroll
    for (float& value : values) value = drops ? 0.0F : value * weight;
    storeEight(wire, toRow * count + lane + i * kWarp, narrow<WireFp32>(values));
  }
}

template <bool OutFp32, bool WireFp32, bool Alike>
__global__ void __launch_bounds__(kThreads, kRowBlocks<OutFp32>)
    correctKernel(TransportShape shape, int rank, const void* out, const float* lses, void* wire,
                  Stamps stamps) {
  const BlockStamp stamp(stamps);
  eachRow<OutFp32, kWarps>(shape, out, [&](int row, const auto& held) {
    correctRow<OutFp32, WireFp32, Alike>(shape, rank, held, lses, wire, row);
  });
  stamp.end();
}

/** sum = the eight values of one place on the wires first .. first + N - 1, as far as there are ranks. */
template <bool Fp32>
class PairSum {
 public:
  __device__ PairSum(const RankBuffers& wires, int ranks, int64_t at)
      : wires_(wires), ranks_(ranks), at_(at) {}

  /** Recursive halving; each sum is rounded to the wire's type. N is kBatch times a power of two. */
  template <int N>
  __device__ void of(int first, float (&sum)[kEight]) const {
    if constexpr (N == kBatch) {
      batch(first, sum);
    } else {
      of<N / 2>(first, sum);
      if (first + N / 2 >= ranks_) return;
      float right[kEight];
      of<N / 2>(first + N / 2, right);
      add(sum, right);
    }
  }

 private:
  __device__ void batch(int first, float (&sum)[kEight]) const {
    Eight<Fp32> held[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j)
      if (first + j < ranks_) held[j] = loadEight<Fp32>(wires_.at[first + j], at_);
    float part[kBatch][kEight];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) widen(held[j], part[j]);
#pragma unroll
    for (int step = 1; step < kBatch; step *= 2)
#pragma unroll
      for (int j = 0; j < kBatch; j += 2 * step)
        if (first + j + step < ranks_) add(part[j], part[j + step]);
#pragma unroll
    for (int i = 0; i < kEight; ++i) sum[i] = part[0][i];
  }

  __device__ static void add(float (&sum)[kEight], const float (&right)[kEight]) {
#pragma unroll
    for (int i = 0; i < kEight; ++i) sum[i] += right[i];
    widen(narrow<Fp32>(sum), sum);
  }

  const RankBuffers& wires_;
  const int ranks_;
  const int64_t at_;
};

/** Most: kBatch, or kMaxRanks for more ranks. */
template <bool WireFp32, bool OutFp32, int Most>
__global__ void __launch_bounds__(kThreads)
    reduceScatterKernel(TransportShape shape, int rank, const __grid_constant__ RankBuffers wires,
                        void* merged, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int64_t perRank =
      static_cast<int64_t>(shape.tokens) * (shape.heads / shape.ranks) * (shape.valueDim / kEight);
  const int64_t to = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (to < perRank) {
    float sum[kEight];
    PairSum<WireFp32>(wires, shape.ranks, rank * perRank + to).template of<Most>(0, sum);
    storeEight(merged, to, narrow<OutFp32>(sum));
  }
  stamp.end();
}

}  // namespace

void gatherLse(const TransportShape& shape, const RankBuffers& lse, float* lses, cudaStream_t stream,
               Stamps stamps) {
  requireTransport(shape);
  const int count = shape.tokens * shape.heads;
  gatherLseKernel<<<blocksFor(static_cast<int64_t>(shape.ranks) * count, kThreads), kThreads, 0, stream>>>(
      lse, lses, shape.ranks, count, stamps);
  launched("lse_all_gather");
}

void correct(const TransportShape& shape, int rank, const void* out, const float* lses, void* wire,
             cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const int64_t rows = static_cast<int64_t>(shape.tokens) * shape.heads;
  choose(shape.outFp32, shape.wireFp32, shape.same > 0, [&](auto outFp32, auto wireFp32, auto alike) {
    correctKernel<outFp32.value, wireFp32.value, alike.value>
        <<<blocksFor(rows, kWarps), kThreads, 0, stream>>>(shape, rank, out, lses, wire, stamps);
  });
  launched("lse_correct");
}

void reduceScatter(const TransportShape& shape, int rank, const RankBuffers& wires, void* merged,
                   cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const int64_t eights =
      static_cast<int64_t>(shape.tokens) * (shape.heads / shape.ranks) * shape.valueDim / kEight;
  choose(shape.wireFp32, shape.outFp32, [&](auto wireFp32, auto outFp32) {
    const auto kernel = shape.ranks <= kBatch ? reduceScatterKernel<wireFp32.value, outFp32.value, kBatch>
                                              : reduceScatterKernel<wireFp32.value, outFp32.value, kMaxRanks>;
    kernel<<<blocksFor(eights, kThreads), kThreads, 0, stream>>>(shape, rank, wires, merged, stamps);
  });
  launched("out_reduce_scatter");
}

}  // namespace dcpscope::cuda
