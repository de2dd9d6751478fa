#include <type_traits>

#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/token_stats.cuh"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Bytes of out that one block reads. */
constexpr int64_t kPartBytes = int64_t{32} << 10;
/**
 * Groups of eight values that a thread reads at once. Where few tokens are read, if any, registers count for
 * more: how many of the other blocks, which do nothing, run at a time.
 */
template <bool Fp32, StatsOf Of>
constexpr int kInFlight = Of == StatsOf::allTokens ? 8
                          : Fp32                   ? 2
                                                   : 4;

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

/** The kernel's lse is that of the task already. */
struct InPlace {};

/** It is read as it is kept, or as a fault says. */
struct Apart {
  KernelLse kernel;
  __device__ float at(int64_t token, int head, int) const { return kernel.get(kernel.place.at(token, head)); }
};
struct Misread {
  KernelLse kernel;
  LseReading reading;
  __device__ float at(int64_t token, int head, int heads) const {
    return kernel.get(kernel.place.readAt(token * heads + head, heads, reading));
  }
};

/** A thread brings the lse that it goes on with, so that nothing waits. */
template <class Lse>
__device__ inline void bring(const NeutralizeTask& task, const Lse& kept, const Share& share) {
  float* to = task.lse + share.token * task.heads;
  for (int head = share.firstHead + static_cast<int>(threadIdx.x); head < share.firstHead + share.heads;
       head += kThreads)
    to[head] = kept.at(share.token, head, task.heads);
}

/** What a thread sees of its block's share. */
template <bool Fp32, int InFlight>
__device__ inline StatsRecord inspect(const NeutralizeTask& task, int64_t firstRow, int heads) {
  StatsRecord seen{};
  const int64_t begin = firstRow * task.valueDim / kEight;
  const int count = heads * task.valueDim / kEight;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < heads; i += kThreads) see(seen, task.lse[firstRow + i]);
  for (int base = thread; base < count; base += kThreads * InFlight) {
    Eight<Fp32> held[InFlight] = {};
#pragma unroll
    for (int j = 0; j < InFlight; ++j)
      if (base + j * kThreads < count) held[j] = loadEight<Fp32>(task.out, begin + base + j * kThreads);
#pragma unroll
    for (int j = 0; j < InFlight; ++j) see(seen, held[j]);
  }
  return seen;
}

template <bool Fp32>
__device__ inline void clear(const NeutralizeTask& task, int64_t firstRow, int heads) {
  const int64_t begin = firstRow * task.valueDim / kEight;
  const int count = heads * task.valueDim / kEight;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < count; i += kThreads) storeEight(task.out, begin + i, Eight<Fp32>{});
  for (int i = thread; i < heads; i += kThreads) task.lse[firstRow + i] = -INFINITY;
}

__device__ inline StatsRecord joined(unsigned mask, StatsRecord seen) {
  sumCounts(mask, seen);
  joinExtremes(mask, seen);
  return seen;
}

/** By all threads of a block, of which each has seen a part of what belongs to one token. */
__device__ inline void addBlock(const StatsRecord& seen, StatsRecord* token) {
  __shared__ StatsRecord perWarp[kWarps];
  const auto thread = static_cast<int>(threadIdx.x);
  const StatsRecord warp = joined(kAllLanes, seen);
  if (thread % kWarp == 0) perWarp[thread / kWarp] = warp;
  __syncthreads();
  if (thread >= kWarps) return;
  const StatsRecord all = joined(kAllLanes >> (kWarp - kWarps), perWarp[thread]);
  if (thread != 0) return;
  addCounts(token, all);
  addExtremes(token, all);
}

/** Blocks that share the heads of a token. */
int partsOf(const NeutralizeTask& task) {
  const int64_t bytes = static_cast<int64_t>(task.heads) * task.valueDim * (task.outFp32 ? 4 : 2);
  const int parts = blocksFor(bytes, kPartBytes);
  return parts < task.heads ? parts : task.heads;
}

/** Lse: InPlace, Apart or Misread. */
template <bool Fp32, StatsOf Of, class Lse>
__global__ void __launch_bounds__(kThreads)
    neutralizeKernel(NeutralizeTask task, int parts, Stamps stamps, Lse kept) {
  const BlockStamp stamp(stamps);
  const Share share = shareOf(task, parts);
  if constexpr (!std::is_same_v<Lse, InPlace>) bring(task, kept, share);
  const int64_t firstRow = share.token * task.heads + share.firstHead;
  const bool empty = task.bounds[share.token] <= 0;
  if constexpr (Of != StatsOf::none)
    if (empty || Of == StatsOf::allTokens)
      addBlock(inspect<Fp32, kInFlight<Fp32, Of>>(task, firstRow, share.heads), task.stats + share.token);
  if (empty) clear<Fp32>(task, firstRow, share.heads);
  stamp.end();
}

template <bool Fp32, StatsOf Of, class Lse>
void launch(const NeutralizeTask& task, Lse kept, cudaStream_t stream, Stamps stamps) {
  const int parts = partsOf(task);
  neutralizeKernel<Fp32, Of>
      <<<blocksFor(int64_t{task.tokens} * parts, 1), kThreads, 0, stream>>>(task, parts, stamps, kept);
}

template <class Lse>
void launchFor(const NeutralizeTask& task, Lse kept, cudaStream_t stream, Stamps stamps) {
  choose(task.outFp32, [&](auto fp32) {
    switch (task.statsOf) {
      case StatsOf::none:
        return launch<fp32.value, StatsOf::none>(task, kept, stream, stamps);
      case StatsOf::tokensWithoutKeys:
        return launch<fp32.value, StatsOf::tokensWithoutKeys>(task, kept, stream, stamps);
      case StatsOf::allTokens:
        return launch<fp32.value, StatsOf::allTokens>(task, kept, stream, stamps);
    }
  });
  launched("neutralize");
}

}  // namespace

void neutralize(const NeutralizeTask& task, cudaStream_t stream, Stamps stamps) {
  launchFor(task, InPlace{}, stream, stamps);
}

void neutralize(const NeutralizeTask& task, const KernelLse& kernel, LseReading reading, cudaStream_t stream,
                Stamps stamps) {
  if (reading == LseReading::right)
    launchFor(task, Apart{kernel}, stream, stamps);
  else
    launchFor(task, Misread{kernel, reading}, stream, stamps);
}

}  // namespace dcpscope::cuda
