#pragma once
#include "cuda/ops/transport.h"

/** How kernels of ranks on devices of their own wait for each other, by PeerFlags. */
namespace dcpscope::cuda {

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

/** The turn of this kernel; every block reads it before the last one counts on. */
__device__ inline uint32_t turnOf(const PeerFlags& flags) {
  return *const_cast<const volatile uint32_t*>(&flags.count->turn) + 1;
}

/** Tells every rank, by a thread each, that what it reads of `rank` is there: kernels before this one
 * wrote it. */
__device__ inline void tellPeers(const PeerFlags& flags, int rank, int ranks, uint32_t turn) {
  const auto peer = static_cast<int>(threadIdx.x);
  if (blockIdx.x != 0 || peer >= ranks) return;
  tellTurn(flags.turns[peer] + rank, turn);
}

/** Nanoseconds between two looks at the host's memory, which is far: looks of all blocks would queue up. */
constexpr uint64_t kLookNs = 100'000;

/** Waits for one peer; false when it, or another one, does not come. */
__device__ inline bool awaitPeer(const PeerFlags& flags, int rank, int peer, uint32_t turn) {
  const uint32_t* flag = flags.turns[rank] + peer;
  const uint64_t begun = globalTime();
  uint64_t look = begun + kLookNs;
  // Turns wrap around.
  while (static_cast<int32_t>(seenTurn(flag) - turn) < 0) {
    const uint64_t now = globalTime();
    if (now < look) continue;
    if (lostRank(flags.lost) != 0) return false;
    look = now + kLookNs;
    if (now - begun < flags.patience) continue;
    *const_cast<volatile uint32_t*>(flags.lost) = static_cast<uint32_t>(peer) + 1;
    return false;
  }
  return true;
}

/** By all threads of a block: whether all ranks have come. */
__device__ inline bool awaitPeers(const PeerFlags& flags, int rank, int ranks, uint32_t turn) {
  const auto peer = static_cast<int>(threadIdx.x);
  const bool came = peer >= ranks || awaitPeer(flags, rank, peer, turn);
  return __syncthreads_and(came ? 1 : 0) != 0;
}

/** By one thread of each block, at its end: the last one ends the turn. */
__device__ inline void leave(const PeerFlags& flags, uint32_t turn) {
  if (atomicInc(&flags.count->blocks, gridDim.x - 1) == gridDim.x - 1) flags.count->turn = turn;
}

/** By all threads of all blocks, first: tells the peers that this rank has come, and waits for them. Whether
 * all have. */
__device__ inline bool meetPeers(const PeerFlags& flags, int rank, int ranks, uint32_t& turn) {
  turn = turnOf(flags);
  tellPeers(flags, rank, ranks, turn);
  return awaitPeers(flags, rank, ranks, turn);
}

}  // namespace dcpscope::cuda
