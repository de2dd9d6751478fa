#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/merge_row.cuh"
#include "cuda/ops/transport.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Rows of ranks that a warp has in flight at once: the way to a peer is long. */
constexpr int kRowsInFlight = 8;
static_assert(kMaxRanks <= kThreads);

__device__ inline uint32_t seenTurn(const uint32_t* flag) {
  uint32_t turn;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(turn) : "l"(flag) : "memory");
  return turn;
}

__device__ inline void tellTurn(uint32_t* flag, uint32_t turn) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(turn) : "memory");
}

__device__ inline uint32_t lostRank(const uint32_t* lost) {
  return *const_cast<const volatile uint32_t*>(lost);
}

/** The turn of this merge; every block reads it before the last one counts on. */
__device__ inline uint32_t turnOf(const PeerFlags& flags) {
  return *const_cast<const volatile uint32_t*>(&flags.count->turn) + 1;
}

/** Tells every rank, by a thread each, that the partial of `rank` is there: kernels before this one wrote it.
 */
__device__ inline void tellPeers(const PeerFlags& flags, int rank, int ranks, uint32_t turn) {
  const auto peer = static_cast<int>(threadIdx.x);
  if (blockIdx.x != 0 || peer >= ranks) return;
  __threadfence_system();
  tellTurn(flags.turns[peer] + rank, turn);
}

/** Waits for one peer; false when it, or another one, does not come. */
__device__ inline bool awaitPeer(const PeerFlags& flags, int rank, int peer, uint32_t turn) {
  const uint32_t* flag = flags.turns[rank] + peer;
  const uint64_t begun = globalTime();
  // Turns wrap around.
  while (static_cast<int32_t>(seenTurn(flag) - turn) < 0) {
    if (lostRank(flags.lost) != 0) return false;
    if (globalTime() - begun < flags.patience) continue;
    *const_cast<volatile uint32_t*>(flags.lost) = static_cast<uint32_t>(peer) + 1;
    return false;
  }
  return true;
}

/** By all threads of a block: whether all ranks have come. */
__device__ inline bool awaitPeers(const PeerFlags& flags, int rank, int ranks, uint32_t turn) {
  const auto peer = static_cast<int>(threadIdx.x);
  bool came = true;
  if (peer < ranks) came = lostRank(flags.lost) == 0 && awaitPeer(flags, rank, peer, turn);
  return __syncthreads_and(came ? 1 : 0) != 0;
}

/** By one thread of each block, at its end: the last one ends the turn. */
__device__ inline void leave(const PeerFlags& flags, uint32_t turn) {
  if (atomicInc(&flags.count->blocks, gridDim.x - 1) == gridDim.x - 1) flags.count->turn = turn;
}

template <bool Fp32, bool Waits>
__global__ void __launch_bounds__(kThreads)
    mergePeersKernel(TransportShape shape, int rank, const __grid_constant__ RankBuffers out,
                     const __grid_constant__ RankBuffers lse, void* merged,
                     const __grid_constant__ PeerFlags flags, Stamp* stamps) {
  const BlockStamp stamp(stamps);
  uint32_t turn = 0;
  bool all = true;
  if constexpr (Waits) {
    turn = turnOf(flags);
    tellPeers(flags, rank, shape.ranks, turn);
    all = awaitPeers(flags, rank, shape.ranks, turn);
  }
  const int headsPerRank = shape.heads / shape.ranks;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  if (all && row < shape.tokens * headsPerRank) {
    const int64_t from = int64_t{row} / headsPerRank * shape.heads + rank * headsPerRank + row % headsPerRank;
    const auto lseOf = [&](int r) { return static_cast<const float*>(lse.at[r])[from]; };
    const auto rowOf = [&](int r) {
      return static_cast<const unsigned char*>(out.at[r]) + from * shape.valueDim * (Fp32 ? 4 : 2);
    };
    mergeRow<Fp32, Fp32, kRowsInFlight>(shape, weightsOf(shape.ranks, shape.base2, lseOf), rowOf, merged,
                                        row);
  }
  stamp.end();
  if constexpr (Waits)
    if (threadIdx.x == 0) leave(flags, turn);
}

}  // namespace

void mergePeers(const TransportShape& shape, int rank, const RankBuffers& out, const RankBuffers& lse,
                void* merged, const PeerFlags* flags, cudaStream_t stream, Stamp* stamps) {
  requireTransport(shape);
  const int blocks = blocksFor(int64_t{shape.tokens} * (shape.heads / shape.ranks), kWarps);
  choose(shape.outFp32, flags != nullptr, [&](auto fp32, auto waits) {
    mergePeersKernel<fp32.value, waits.value><<<blocks, kThreads, 0, stream>>>(
        shape, rank, out, lse, merged, waits.value ? *flags : PeerFlags{}, stamps);
  });
  launched("merge");
}

}  // namespace dcpscope::cuda
