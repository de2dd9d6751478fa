#pragma once
#include "cuda/sm90/softmax.cuh"

/** Scores, softmax and output of 64 query rows by two warpgroups. */
namespace dcpscope::cuda {

__device__ inline void storeProbabilities(const uint32_t (&packed)[4][4], uint32_t box, const Fragment& at) {
  const int row = at.warp * 16 + at.lane % 16;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int chunk = 2 * step + at.lane / 16;
    storeTiles(box + row * 128 + ((chunk ^ (row & 7)) << 4), packed[step]);
  }
  fenceAsyncProxy();
}

__device__ inline void scale(Accumulator<256>& out, const float (&factor)[2]) {
  if (!__any_sync(~0U, factor[0] != 1 || factor[1] != 1)) return;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    out.v[2 * i] *= factor[i & 1];
    out.v[2 * i + 1] *= factor[i & 1];
  }
}

/** Issues the products of queries with the boxes of one part of a tile, each as it arrives. Boxes that
 * ordinary stores wrote are awaited together: the fence costs the reader little, but a writer would wait for
 * its later copies at it. */
template <TilePart kPart, bool kFirst, bool kOrdinaryStores>
__device__ inline void score(SharedMemory& shared, Accumulator<64>& scores, uint32_t parity) {
  const uint32_t q = sharedAddress(shared.q) / kChunk;
  const uint32_t keys = sharedAddress(shared.keys[tileOf(kPart)]) / kChunk;
  uint64_t* full = shared.full[tileOf(kPart)];
  if constexpr (kOrdinaryStores) {
    barrierWait(sharedAddress(partFull(shared, kPart)), parity);
    fenceAsyncProxy();
  }
#pragma unroll
  for (int b = 0; b < boxesOf(kPart); ++b) {
    const int box = boxOf(kPart, b);
    if constexpr (!kOrdinaryStores) barrierWait(sharedAddress(&full[box]), parity);
#pragma unroll
    for (int step = 0; step < 4; ++step)
      scoreStep(scores, rowOperand(q + box * kBoxChunks + step * 2),
                rowOperand(keys + box * kBoxChunks + step * 2), !(kFirst && b == 0 && step == 0));
  }
}

/** out = probabilities (registers or a box) * one half of a tile's value columns, or out += with `add`;
 * addresses in chunks. */
__device__ inline void addValues(Accumulator<256>& out, const uint32_t (&packed)[4][4], uint32_t values,
                                 bool add) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    valueStep(out, packed[step], columnOperand(values + step * 128), step > 0 || add);
}
__device__ inline void addValues(Accumulator<256>& out, uint32_t probabilities, uint32_t values, bool add) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    valueStep(out, rowOperand(probabilities + step * 2), columnOperand(values + step * 128), step > 0 || add);
}

/** Signals a barrier of the producer once for each warp. */
__device__ inline void release(uint64_t& barrier, const Fragment& at) {
  __syncwarp();
  if (at.lane == 0) barrierArrive(sharedAddress(&barrier));
}

__device__ inline void publish(float* to, const float (&value)[2], const Fragment& at) {
  if (at.lane % 4 == 0) {
    to[at.row] = value[0];
    to[at.row + 8] = value[1];
  }
}
__device__ inline void read(const float* from, float (&value)[2], const Fragment& at) {
  value[0] = from[at.row];
  value[1] = from[at.row + 8];
}

/** Where all consumers wait for each other. One barrier would do; behind one alone racecheck now and then
 * loses track of a warp. */
__device__ inline void meet() {
  namedSync(kConsumersMeet, kConsumers);
  namedSync(kConsumersMet, kConsumers);
}

/** The factor by which a tile shrank what was summed before it, and the maximum since. */
__device__ inline void follow(const SharedMemory& shared, const float* from, Softmax& state,
                              float (&factor)[2], const Fragment& at) {
  read(from, factor, at);
  read(shared.top, state.top, at);
  state.sum[0] *= factor[0];
  state.sum[1] *= factor[1];
}

/** Queries, own tiles and tiles of the other that a warpgroup has had. */
struct Turns {
  uint32_t queries = 0;
  uint32_t tiles = 0;
  uint32_t others = 0;
};

/**
 * One of the two warpgroups: the left one holds the left columns and scores even tiles, the right one the
 * right columns and odd tiles. Between the scores of the two parts of its tile it adds the values of the
 * other's tile before: those probabilities are ready at about the time when the first part is there and the
 * second is not.
 */
template <bool kRight, bool kOrdinaryStores>
class ConsumerGroup {
 public:
  __device__ ConsumerGroup(SharedMemory& shared, const KernelArgs& args, int thread, Turns& turns)
      : shared_(shared), args_(args), at_(thread), turns_(turns) {}

  /** `out` need not be anything before. */
  __device__ void attend(const Segment& segment, Softmax& state, Accumulator<256>& out) {
    int key = (segment.firstTile + kTileIndex) * kTile;
    int left = segment.tiles;
    barrierWait(sharedAddress(&shared_.queryFull), turns_.queries++ & 1);
    if constexpr (kRight) {
      if (left == 1) release(shared_.queryFree, at_);
    } else {
      own<false>(key, left <= 2, false, state, out);
      key += 2 * kTile;
      left -= 2;
    }
    bool some = !kRight;
    for (; left > kTileIndex; left -= 2, key += 2 * kTile, some = true)
      own<true>(key, left <= 2 + kTileIndex, some, state, out);
    // The other's last tile, where no own one follows it.
    if (segment.tiles % 2 != kTileIndex) return;
    other(some, state, out);
    mmaWait<0>();
    release(shared_.free[kOtherPart], at_);
  }

 private:
  static constexpr int kTileIndex = kRight ? 1 : 0;
  /** Parts of the own tile in the order in which they come; the first has the own columns. */
  static constexpr TilePart kFirst = kRight ? kOddRight : kEvenLeft;
  static constexpr TilePart kSecond = kRight ? kOddLeft : kEvenRight;
  /** The part of the other's tile that has the own columns. */
  static constexpr TilePart kOtherPart = kRight ? kEvenRight : kOddLeft;
  static constexpr uint32_t kColumnsAt = firstBox(kFirst) * kBoxChunks;

  /** An own tile, from scores to values; `kAfter` one of the other. `some`: there are values from before. */
  template <bool kAfter>
  __device__ void own(int key, bool last, bool some, Softmax& state, Accumulator<256>& out) {
    const uint32_t tile = sharedAddress(shared_.keys[kTileIndex]);
    const uint32_t parity = turns_.tiles++ & 1;
    Accumulator<64> scores;
    mmaFence();
    score<kFirst, true, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    if constexpr (kAfter) other(some, state, out);
    score<kSecond, false, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    if constexpr (kAfter) {
      mmaWait<1>();
      release(shared_.free[kOtherPart], at_);
    }
    mmaWait<0>();
    if (last) release(shared_.queryFree, at_);
    float factor[2];
    mask(scores, key, state, at_.column);
    soften(scores, state, args_.scoreScale, factor);
    uint32_t packed[4][4];
    pack(scores, packed);
    publish(shared_.top, state.top, at_);
    publish(shared_.factor[kTileIndex], factor, at_);
    storeProbabilities(packed, tile + kRopeBox * kBoxBytes, at_);
    barrierArrive(sharedAddress(&shared_.softened[kTileIndex]));
    if constexpr (kAfter) scale(out, factor);
    mmaFence();
    addValues(out, packed, tile / kChunk + kColumnsAt, kAfter);
    mmaCommit();
    mmaWait<0>();
    release(shared_.free[kFirst], at_);
  }

  /** Issues the products with the other's tile. What `out` held where there are no values yet is scaled for
   * nothing, and then replaced. */
  __device__ void other(bool some, Softmax& state, Accumulator<256>& out) {
    const uint32_t tile = sharedAddress(shared_.keys[1 - kTileIndex]) / kChunk;
    barrierWait(sharedAddress(&shared_.softened[1 - kTileIndex]), turns_.others++ & 1);
    float factor[2];
    follow(shared_, shared_.factor[1 - kTileIndex], state, factor, at_);
    mmaWait<0>();
    scale(out, factor);
    mmaFence();
    addValues(out, tile + kRopeBox * kBoxChunks, tile + kColumnsAt, some);
    mmaCommit();
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const Fragment at_;
  Turns& turns_;
};

}  // namespace dcpscope::cuda
