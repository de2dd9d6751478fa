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
template <Part kPart, bool kFirst, bool kOrdinaryStores>
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

/** out += probabilities (registers or a box) * one half of a tile's value columns; addresses in chunks. */
__device__ inline void addValues(Accumulator<256>& out, const uint32_t (&packed)[4][4], uint32_t values) {
#pragma unroll
  for (int step = 0; step < 4; ++step) valueStep(out, packed[step], columnOperand(values + step * 128));
}
__device__ inline void addValues(Accumulator<256>& out, uint32_t probabilities, uint32_t values) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    valueStep(out, rowOperand(probabilities + step * 2), columnOperand(values + step * 128));
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

/** The factor by which a tile shrank what was summed before it, and the maximum since. */
__device__ inline void follow(const SharedMemory& shared, const float* from, Softmax& state,
                              float (&factor)[2], const Fragment& at) {
  read(from, factor, at);
  read(shared.top, state.top, at);
  state.sum[0] *= factor[0];
  state.sum[1] *= factor[1];
}

/**
 * The warpgroup that holds the left columns and scores even tiles. Between the scores of the two parts of a
 * tile it adds the values of the odd tile before: that tile's probabilities are ready at about the time when
 * the first part is there and the second is not.
 */
template <bool kOrdinaryStores>
class Left {
 public:
  __device__ Left(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(shared), args_(args), at_(thread) {}

  __device__ void attend(const Segment& segment, Softmax& state, Accumulator<256>& out) {
    int key = segment.firstTile * kTile;
    barrierWait(sharedAddress(&shared_.queryFull), queries_++ & 1);
    own<false>(key, segment.tiles <= 2, state, out);
    for (int left = segment.tiles - 2; left > 0; left -= 2)
      own<true>(key += 2 * kTile, left <= 2, state, out);
    if (segment.tiles % 2 == 1) return;
    other(state, out);
    mmaWait<0>();
    release(shared_.free[kOddLeft], at_);
  }

 private:
  /** An even tile, from scores to values; `kAfter` an odd one. */
  template <bool kAfter>
  __device__ void own(int key, bool last, Softmax& state, Accumulator<256>& out) {
    const uint32_t even = sharedAddress(shared_.keys[0]);
    const uint32_t parity = tiles_++ & 1;
    Accumulator<64> scores;
    mmaFence();
    score<kEvenLeft, true, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    if constexpr (kAfter) other(state, out);
    score<kEvenRight, false, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    if constexpr (kAfter) {
      mmaWait<1>();
      release(shared_.free[kOddLeft], at_);
    }
    mmaWait<0>();
    if (last) release(shared_.queryFree, at_);
    float factor[2];
    mask(scores, key, state, at_.column);
    soften(scores, state, args_.scoreScale, factor);
    uint32_t packed[4][4];
    pack(scores, packed);
    storeProbabilities(packed, even + kRopeBox * kBoxBytes, at_);
    publish(shared_.top, state.top, at_);
    publish(shared_.evenFactor, factor, at_);
    namedArrive(kEvenReady, kConsumers);
    scale(out, factor);
    mmaFence();
    addValues(out, packed, even / kChunk);
    mmaCommit();
    mmaWait<0>();
    release(shared_.free[kEvenLeft], at_);
  }

  /** Issues the products with an odd tile's values. */
  __device__ void other(Softmax& state, Accumulator<256>& out) {
    const uint32_t odd = sharedAddress(shared_.keys[1]) / kChunk;
    namedSync(kOddReady, kConsumers);
    float factor[2];
    follow(shared_, shared_.oddFactor, state, factor, at_);
    scale(out, factor);
    mmaFence();
    addValues(out, odd + kRopeBox * kBoxChunks, odd);
    mmaCommit();
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const Fragment at_;
  uint32_t queries_ = 0;
  uint32_t tiles_ = 0;
};

/** The warpgroup that holds the right columns and scores odd tiles, in the same order. */
template <bool kOrdinaryStores>
class Right {
 public:
  __device__ Right(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(shared), args_(args), at_(thread) {}

  __device__ void attend(const Segment& segment, Softmax& state, Accumulator<256>& out) {
    int key = segment.firstTile * kTile + kTile;
    barrierWait(sharedAddress(&shared_.queryFull), queries_++ & 1);
    if (segment.tiles == 1) release(shared_.queryFree, at_);
    for (int left = segment.tiles; left > 1; left -= 2, key += 2 * kTile) own(key, left < 4, state, out);
    if (segment.tiles % 2 == 0) return;
    other(state, out);
    mmaWait<0>();
    release(shared_.free[kEvenRight], at_);
  }

 private:
  /** An odd tile, from scores to values. */
  __device__ void own(int key, bool last, Softmax& state, Accumulator<256>& out) {
    const uint32_t odd = sharedAddress(shared_.keys[1]);
    const uint32_t parity = tiles_++ & 1;
    Accumulator<64> scores;
    mmaFence();
    score<kOddRight, true, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    other(state, out);
    score<kOddLeft, false, kOrdinaryStores>(shared_, scores, parity);
    mmaCommit();
    mmaWait<1>();
    release(shared_.free[kEvenRight], at_);
    mmaWait<0>();
    if (last) release(shared_.queryFree, at_);
    float factor[2];
    mask(scores, key, state, at_.column);
    soften(scores, state, args_.scoreScale, factor);
    uint32_t packed[4][4];
    pack(scores, packed);
    storeProbabilities(packed, odd + kRopeBox * kBoxBytes, at_);
    publish(shared_.top, state.top, at_);
    publish(shared_.oddFactor, factor, at_);
    namedArrive(kOddReady, kConsumers);
    scale(out, factor);
    mmaFence();
    addValues(out, packed, odd / kChunk + 4 * kBoxChunks);
    mmaCommit();
    mmaWait<0>();
    release(shared_.free[kOddRight], at_);
  }

  /** Issues the products with an even tile's values. */
  __device__ void other(Softmax& state, Accumulator<256>& out) {
    const uint32_t even = sharedAddress(shared_.keys[0]) / kChunk;
    namedSync(kEvenReady, kConsumers);
    float factor[2];
    follow(shared_, shared_.evenFactor, state, factor, at_);
    scale(out, factor);
    mmaFence();
    addValues(out, even + kRopeBox * kBoxChunks, even + 4 * kBoxChunks);
    mmaCommit();
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const Fragment at_;
  uint32_t queries_ = 0;
  uint32_t tiles_ = 0;
};

}  // namespace dcpscope::cuda
