#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

/**
 * What a rank does to exchange and merge partials, with the NaN rules of core/lse.h; sums are fp32. Rank r
 * gets the heads r * H/c .. (r + 1) * H/c - 1. Buffers are aligned to 16 bytes.
 */
namespace dcpscope::cuda {

constexpr int kMaxRanks = 64;

/** The same buffer of every rank, as this device reaches it. */
struct RankBuffers {
  const void* at[kMaxRanks];
};

/** T tokens, H gathered heads, c ranks, V values. */
struct TransportShape {
  int tokens;
  int heads;
  int ranks;
  /** A multiple of 16. */
  int valueDim;
  /** Partials and merged rows in fp32, else bf16; likewise on the wire. */
  bool outFp32;
  bool wireFp32;
  bool base2;
  /** Payload of weight 0 is multiplied, so that NaN stays NaN; else it is dropped. */
  bool multipliesZeros = false;
  /** Weights of a row that is empty on all ranks are NaN; else 0. */
  bool emptyNan = false;
  /** Weight of every partial whatever its lse, by kernels of their own; 0: by its lse. */
  float same = 0;
};

/** ag_rs: every rank's lse [T][H] into `lses` [c][T][H]. */
void gatherLse(const TransportShape& shape, const RankBuffers& lse, float* lses, cudaStream_t stream,
               Stamps stamps);

/** ag_rs: the rank's partial `out` [T][H][V] times its weight, into `wire` [c][T][H/c][V] of the wire type:
 * what each rank gets lies together. */
void correct(const TransportShape& shape, int rank, const void* out, const float* lses, void* wire,
             cudaStream_t stream, Stamps stamps);

/**
 * ag_rs: the rank's part of all `wires` [c][T][H/c][V], added pair by pair in the wire type (recursive
 * halving), into `merged` [T][H/c][V].
 */
void reduceScatter(const TransportShape& shape, int rank, const RankBuffers& wires, void* merged,
                   cudaStream_t stream, Stamps stamps);

/**
 * Bytes of what one rank sends to another by a2a: [T][H/c][V] of the wire type, behind it lse [T][H/c],
 * rounded up to 16 bytes.
 */
int64_t messageBytes(const TransportShape& shape);

/** a2a: the rank's partial and lse as messages to all ranks: `send` [c][messageBytes]. */
void packMessages(const TransportShape& shape, const void* out, const float* lse, void* send,
                  cudaStream_t stream, Stamps stamps);

/** a2a: the messages to `rank` out of every rank's `sends` into `received` [c][messageBytes]. */
void exchangeMessages(const TransportShape& shape, int rank, const RankBuffers& sends, void* received,
                      cudaStream_t stream, Stamps stamps);

/** a2a: weighted fp32 sum of the received slices, into `merged` [T][H/c][V]. */
void mergeMessages(const TransportShape& shape, const void* received, void* merged, cudaStream_t stream,
                   Stamps stamps);

/**
 * p2p: where ranks on devices of their own wait for each other. Each polls memory of its own, which its peers
 * write. All ranks run the same kernels that wait in the same order, in graphs or not.
 */
struct PeerFlags {
  /** Of each rank, as this device reaches it: the turns that its peers have come to [ranks]; zeroes at first.
   */
  uint32_t* turns[kMaxRanks];
  /** On this device; zeroes at first. */
  struct Count {
    /** Kernels of this rank that waited and are over. */
    uint32_t turn;
    /** Blocks of the present one that are. */
    uint32_t blocks;
  }* count;
  /** Nanoseconds that a rank is waited for. */
  uint64_t patience;
  /** Where the host sees it: 1 + a rank that did not come in time, 0 for none. From then on kernels that
   * would wait end soon, write nothing and stamp no end. */
  uint32_t* lost;
};

/**
 * p2p: merges the heads of `rank` right from the partials `out` [T][H][V] and `lse` [T][H] of all ranks, into
 * `merged` [T][H/c][V] of the same type. With `flags` it first tells the peers that the rank's partial is
 * there, and waits for theirs; a rank may write over its partial once its next kernel that waits is over, so
 * that two buffers in turn are enough. Without, the stream has brought all partials before.
 */
void mergePeers(const TransportShape& shape, int rank, const RankBuffers& out, const RankBuffers& lse,
                void* merged, const PeerFlags* flags, cudaStream_t stream, Stamps stamps);

/**
 * Brings the heads together again: `queries` [T][H/c][D] of every rank, of the type of partials, into
 * `gathered` [T][H][D]. `flags` as for mergePeers.
 */
void gatherHeads(const TransportShape& shape, int keyDim, int rank, const RankBuffers& queries,
                 void* gathered, const PeerFlags* flags, cudaStream_t stream, Stamps stamps);

/** Around work that stamps nothing itself: a kernel of one thread that stamps where the work begins, or ends.
 * Nothing without stamps. */
void stampBegin(Stamps stamps, cudaStream_t stream);
void stampEnd(Stamps stamps, cudaStream_t stream);

}  // namespace dcpscope::cuda
