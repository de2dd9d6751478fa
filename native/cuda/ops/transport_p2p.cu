#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/merge_row.cuh"
#include "cuda/ops/peer_flags.cuh"
#include "cuda/ops/transport.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** Rows of ranks that a warp has in flight at once: the way to a peer is long. */
constexpr int kRowsInFlight = 8;
/** 16-byte words of queries that a thread has in flight at once. */
constexpr int kWordsPerThread = 4;
static_assert(kMaxRanks <= kThreads);

template <bool Fp32, bool Waits, bool Alike>
__global__ void __launch_bounds__(kThreads)
    mergePeersKernel(TransportShape shape, int rank, const __grid_constant__ RankBuffers out,
                     const __grid_constant__ RankBuffers lse, void* merged,
                     const __grid_constant__ PeerFlags flags, Stamps stamps) {
  const BlockStamp stamp(stamps);
  uint32_t turn = 0;
  bool all = true;
  if constexpr (Waits) all = meetPeers(flags, rank, shape.ranks, turn);
  const int headsPerRank = shape.heads / shape.ranks;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  if (all && row < shape.tokens * headsPerRank) {
    const int64_t from = int64_t{row} / headsPerRank * shape.heads + rank * headsPerRank + row % headsPerRank;
    const auto lseOf = [&](int r) { return static_cast<const float*>(lse.at[r])[from]; };
    const auto rowOf = [&](int r) {
      return static_cast<const unsigned char*>(out.at[r]) + from * shape.valueDim * (Fp32 ? 4 : 2);
    };
    mergeRow<Fp32, Fp32, kRowsInFlight>(shape, weightsOf<Alike>(shape, lseOf), rowOf, merged, row);
  }
  // What gave up has no end.
  if (all) stamp.end();
  if constexpr (Waits)
    if (threadIdx.x == 0) leave(flags, turn);
}

/** Word i of the gathered queries is one of token i / (c * slice), rank i / slice % c. */
template <bool Waits>
__global__ void __launch_bounds__(kThreads)
    gatherHeadsKernel(int ranks, int rank, const __grid_constant__ RankBuffers queries, int64_t words,
                      int slice, uint4* gathered, const __grid_constant__ PeerFlags flags, Stamps stamps) {
  const BlockStamp stamp(stamps);
  uint32_t turn = 0;
  bool all = true;
  if constexpr (Waits) all = meetPeers(flags, rank, ranks, turn);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kWordsPerThread + threadIdx.x;
  if (all) {
    uint4 held[kWordsPerThread];
#pragma unroll
    for (int i = 0; i < kWordsPerThread; ++i) {
      const int64_t at = first + i * kThreads;
      if (at >= words) continue;
      const int64_t piece = at / slice;
      const int from = static_cast<int>(piece % ranks);
      held[i] = static_cast<const uint4*>(queries.at[from])[piece / ranks * slice + at % slice];
    }
#pragma unroll
    for (int i = 0; i < kWordsPerThread; ++i)
      if (first + i * kThreads < words) gathered[first + i * kThreads] = held[i];
  }
  // What gave up has no end.
  if (all) stamp.end();
  if constexpr (Waits)
    if (threadIdx.x == 0) leave(flags, turn);
}

}  // namespace

void gatherHeads(const TransportShape& shape, int keyDim, int rank, const RankBuffers& queries,
                 void* gathered, const PeerFlags* flags, cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const auto word = static_cast<int>(sizeof(uint4));
  const int slice = shape.heads / shape.ranks * keyDim * (shape.outFp32 ? 4 : 2) / word;
  const int64_t words = static_cast<int64_t>(shape.tokens) * shape.ranks * slice;
  choose(flags != nullptr, [&](auto waits) {
    gatherHeadsKernel<waits.value><<<blocksFor(words, kThreads * kWordsPerThread), kThreads, 0, stream>>>(
        shape.ranks, rank, queries, words, slice, static_cast<uint4*>(gathered),
        waits.value ? *flags : PeerFlags{}, stamps);
  });
  launched("q_all_gather");
}

void mergePeers(const TransportShape& shape, int rank, const RankBuffers& out, const RankBuffers& lse,
                void* merged, const PeerFlags* flags, cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const int blocks = blocksFor(int64_t{shape.tokens} * (shape.heads / shape.ranks), kWarps);
  choose(shape.outFp32, flags != nullptr, shape.same > 0, [&](auto fp32, auto waits, auto alike) {
    mergePeersKernel<fp32.value, waits.value, alike.value><<<blocks, kThreads, 0, stream>>>(
        shape, rank, out, lse, merged, waits.value ? *flags : PeerFlags{}, stamps);
  });
  launched("merge");
}

}  // namespace dcpscope::cuda
