#pragma once
#include <cstddef>
#include <cstdint>

#include "cuda/attention.h"
#include "cuda/plan.h"
#include "cuda/sm90/async.cuh"
#include "cuda/sm90/wgmma.cuh"

/**
 * Shape of the sm_90 kernel. A block of three warpgroups works on 64 query rows. Two of them (left and
 * right) each hold half of the output columns; a pair of tiles of 64 keys is scored by one of them each, so
 * that one's softmax runs beside the other's products. The third brings queries and keys.
 */
namespace dcpscope::cuda {

constexpr int kKeyDim = 576;
constexpr int kValueDim = 512;
constexpr int kRows = 64;
constexpr int kTile = kPlanTile;
constexpr int kBoxes = kKeyDim / 64;
constexpr int kHalf = kValueDim / 2;
/** The box of rope values. Nothing reads it once its tile is scored: probabilities for the other warpgroup go
 * there. */
constexpr int kRopeBox = 8;
constexpr uint32_t kTileBytes = kBoxes * kBoxBytes;

constexpr int kGroupThreads = 128;
constexpr int kConsumers = 2 * kGroupThreads;
constexpr int kConsumerWarps = kConsumers / 32;

/** Parts of the two tiles that are filled and freed together: left boxes 0 to 3, right boxes 4 to 7, and the
 * rope box with whoever reads probabilities last. */
enum TilePart { kEvenLeft, kEvenRight, kOddRight, kOddLeft, kTileParts };
__host__ __device__ constexpr int tileOf(TilePart part) {
  return part == kEvenLeft || part == kEvenRight ? 0 : 1;
}
__host__ __device__ constexpr int firstBox(TilePart part) {
  return part == kEvenLeft || part == kOddLeft ? 0 : 4;
}
__host__ __device__ constexpr int boxesOf(TilePart part) {
  return part == kEvenRight || part == kOddLeft ? 5 : 4;
}
__host__ __device__ constexpr int boxOf(TilePart part, int i) {
  return i == 4 ? kRopeBox : firstBox(part) + i;
}

/** Hardware barriers of the consumers; 0 is __syncthreads. */
enum Signal { kConsumersMeet = 1, kConsumersMet };

struct alignas(1024) SharedMemory {
  unsigned char q[kTileBytes];
  unsigned char keys[2][kTileBytes];
  /** Running maximum of each row, base 2, and the factors by which even and odd tiles shrank earlier sums. */
  float top[kRows];
  float factor[2][kRows];
  /** Sums and largest magnitudes of both warpgroups, of every second segment. */
  float sum[2][2][kRows];
  float most[2][2][kRows];
  alignas(8) uint64_t queryFull;
  uint64_t queryFree;
  /** Arrival of parts that are not ready to be used yet. */
  uint64_t staged[kTileParts];
  uint64_t full[2][kBoxes];
  uint64_t free[kTileParts];
  /** Probabilities, maxima and factors of even and odd tiles. */
  uint64_t softened[2];
  /** Arrival of partials that a combine merges. */
  uint64_t partials;
};
static_assert(sizeof(SharedMemory) <= 232448);

/** The barrier of a part that ordinary stores fill: its boxes are handed over together. */
__device__ inline uint64_t* partFull(SharedMemory& shared, TilePart part) {
  return &shared.full[tileOf(part)][firstBox(part)];
}

/** What a warp stores of a partial at once: 16 rows of 16 columns as fp16, in the order of accumulators. A
 * lane has two columns of its first row, two of its second, and the same 8 columns further on. */
struct PartialUnit {
  uint4 lane[32];
};
constexpr int kUnitRows = 16;
constexpr int kUnitColumns = 16;
/** Units of 16 rows; a partial of 64 rows has four such groups. */
constexpr int kUnitsPerGroup = kValueDim / kUnitColumns;
constexpr int kUnitsOfPartial = kRows / kUnitRows * kUnitsPerGroup;

/** A row of a partial: its base-2 lse, and what one unit of its stored values is worth. */
struct PartialRow {
  float lse;
  float unit;
};

/** Maps of the queries, [T * H][576], and of the pool where boxes are copied from it. */
struct KernelMaps {
  CUtensorMap queries;
  CUtensorMap keys;
};

/** What all blocks know of a launch; device pointers as in AttentionInputs. */
struct KernelArgs {
  AttentionInputs inputs;
  PlanView plan;
  /** Keys of each planned request, and slots when they are listed: [requests][slotStride]. */
  const int32_t* lengths;
  const int32_t* slots;
  int64_t slotStride;
  /** Query rows of a planned request, heads of a query token. */
  int rows;
  int heads;
  int rowBlocks;
  int pageSize;
  /** See pageInverse(). */
  uint32_t pageInverse;
  /** Softmax scale and value of one cache unit times log2(e); and what outputs are multiplied with. */
  float scoreScale;
  float outScale;
  bool outFp32;
  /** Partials of requests that several parts share: [2 * parts * rowBlocks][kUnitsOfPartial], and their rows
   * [..][kRows]. */
  PartialUnit* splitOut;
  PartialRow* splitRows;
  /** Arrivals at a request: [requests * rowBlocks]. */
  uint32_t* arrivals;
};

/** A run of tiles of one request that one part works on. */
struct Segment {
  int request;
  int firstTile;
  int tiles;
  /** Whether the part has all tiles of the request. */
  bool whole;
  /** Keys of the request, and where its pages begin in the table if keys are not listed. Both are read at
   * once, since each costs a trip to memory before the first key can be found. */
  int length;
  int64_t firstPage;
};

/** Walks through the segments of a part. */
class Segments {
 public:
  __device__ Segments(const KernelArgs& args, int part)
      : args_(args), at_(args.plan.begin[part]), end_(args.plan.begin[part + 1]) {}

  __device__ bool next(Segment& segment) {
    if (at_.request > end_.request || (at_.request == end_.request && at_.tile >= end_.tile)) return false;
    if (at_.request >= args_.plan.requests) return false;
    const int length = args_.lengths[at_.request];
    const int64_t firstPage = args_.slots == nullptr ? args_.inputs.tableBegin[at_.request] : 0;
    const int all = tilesOf(length);
    const int last = at_.request == end_.request ? end_.tile : all;
    segment = {at_.request, at_.tile, last - at_.tile, last - at_.tile == all, length, firstPage};
    at_ = {at_.request + 1, 0};
    return true;
  }

 private:
  const KernelArgs& args_;
  TilePlace at_;
  TilePlace end_;
};

}  // namespace dcpscope::cuda
