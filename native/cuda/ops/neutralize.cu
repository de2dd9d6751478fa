#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/special.cuh"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Bytes of out that one block reads. */
constexpr int64_t kPartBytes = int64_t{32} << 10;
/** Groups of eight values that a thread has in flight at once. */
constexpr int kInFlight = 8;

/** What the threads of a block found in their share of out and lse. */
struct Found {
  int nan = 0;
  int inf = 0;
  uint32_t most = 0;
  int lseNan = 0;
  float lseMin = __builtin_nanf("");
  float lseMax = __builtin_nanf("");

  template <bool Fp32>
  __device__ void see(const Eight<Fp32>& eight) {
    using M = Magnitude<Fp32>;
    const uint32_t top = M::most(eight);
    if (top < M::kInfinity) {
      most = max(most, top);
      return;
    }
#pragma unroll
    for (int i = 0; i < kEight; ++i) {
      const uint32_t magnitude = M::at(eight, i);
      nan += magnitude > M::kInfinity ? 1 : 0;
      inf += magnitude == M::kInfinity ? 1 : 0;
      most = max(most, magnitude < M::kInfinity ? magnitude : 0U);
    }
  }

  __device__ void see(float lse) {
    lseNan += isnan(lse) ? 1 : 0;
    lseMin = fminf(lseMin, lse);
    lseMax = fmaxf(lseMax, lse);
  }

  __device__ void add(const Found& other) {
    nan += other.nan;
    inf += other.inf;
    most = max(most, other.most);
    lseNan += other.lseNan;
    lseMin = fminf(lseMin, other.lseMin);
    lseMax = fmaxf(lseMax, other.lseMax);
  }

  __device__ void reduceWarp() {
    constexpr unsigned all = 0xffffffffU;
    nan = __reduce_add_sync(all, nan);
    inf = __reduce_add_sync(all, inf);
    most = __reduce_max_sync(all, most);
    lseNan = __reduce_add_sync(all, lseNan);
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      lseMin = fminf(lseMin, __shfl_xor_sync(all, lseMin, step));
      lseMax = fmaxf(lseMax, __shfl_xor_sync(all, lseMax, step));
    }
  }
};

/** The heads of one token that a block looks at. */
struct Share {
  int64_t token;
  int firstHead;
  int heads;
};

__device__ inline Share shareOf(const NeutralizeTask& task, int parts) {
  const int token = static_cast<int>(blockIdx.x) / parts;
  const int part = static_cast<int>(blockIdx.x) % parts;
  const int first = part * task.heads / parts;
  return {token, first, (part + 1) * task.heads / parts - first};
}

template <bool Fp32>
__device__ inline Found inspect(const NeutralizeTask& task, int64_t firstRow, int heads) {
  Found found;
  const int64_t begin = firstRow * task.valueDim / kEight;
  const int count = heads * task.valueDim / kEight;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < heads; i += kThreads) found.see(task.lse[firstRow + i]);
  for (int base = thread; base < count; base += kThreads * kInFlight) {
    Eight<Fp32> held[kInFlight] = {};
#pragma unroll
    for (int j = 0; j < kInFlight; ++j)
      if (base + j * kThreads < count) held[j] = loadEight<Fp32>(task.out, begin + base + j * kThreads);
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) found.see(held[j]);
  }
  return found;
}

template <bool Fp32>
__device__ inline void clear(const NeutralizeTask& task, int64_t firstRow, int heads) {
  const int64_t begin = firstRow * task.valueDim / kEight;
  const int count = heads * task.valueDim / kEight;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < count; i += kThreads) storeEight(task.out, begin + i, Eight<Fp32>{});
  for (int i = thread; i < heads; i += kThreads) task.lse[firstRow + i] = -INFINITY;
}

template <bool Fp32>
__device__ inline void writeStats(Found found, TokenStats* to) {
  __shared__ Found perWarp[kWarps];
  found.reduceWarp();
  if (threadIdx.x % kWarp == 0) perWarp[threadIdx.x / kWarp] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kWarps; ++w) found.add(perWarp[w]);
  *to = {found.nan, found.inf, Magnitude<Fp32>::value(found.most), found.lseNan, found.lseMin, found.lseMax};
}

template <bool Fp32, bool Stats>
__global__ void __launch_bounds__(kThreads) neutralizeKernel(NeutralizeTask task, int parts, Stamp* stamps) {
  const BlockStamp stamp(stamps);
  const Share share = shareOf(task, parts);
  const int64_t firstRow = share.token * task.heads + share.firstHead;
  const bool empty = task.bounds[share.token] <= 0;
  if constexpr (Stats) {
    const Found found = inspect<Fp32>(task, firstRow, share.heads);
    if (empty) clear<Fp32>(task, firstRow, share.heads);
    writeStats<Fp32>(found, task.stats + blockIdx.x);
  } else {
    if (empty) clear<Fp32>(task, firstRow, share.heads);
  }
  stamp.end();
}

}  // namespace

int neutralizeParts(int heads, int valueDim, bool outFp32) {
  const int64_t bytes = static_cast<int64_t>(heads) * valueDim * (outFp32 ? 4 : 2);
  const int parts = blocksFor(bytes, kPartBytes);
  return parts < heads ? parts : heads;
}

void neutralize(const NeutralizeTask& task, cudaStream_t stream, Stamp* stamps) {
  const int parts = neutralizeParts(task.heads, task.valueDim, task.outFp32);
  choose(task.outFp32, task.stats != nullptr, [&](auto fp32, auto stats) {
    neutralizeKernel<fp32.value, stats.value>
        <<<blocksFor(static_cast<int64_t>(task.tokens) * parts, 1), kThreads, 0, stream>>>(task, parts,
                                                                                           stamps);
  });
  launched("neutralize");
}

}  // namespace dcpscope::cuda
