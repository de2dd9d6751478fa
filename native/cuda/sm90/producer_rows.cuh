#pragma once
#include "cuda/sm90/producer.cuh"
#include "cuda/sm90/row_access.cuh"
#include "cuda/sm90/row_finder.cuh"

/** Copies bf16 keys row by row: listed one by one, or in pages that no box fits. Four warps copy; eight
 * threads share a row, sixteen rows are taken at a time. */
namespace dcpscope::cuda {

template <bool kListed>
class RowProducer {
 public:
  static constexpr int kThreads = kGroupThreads;
  static constexpr int kFullArrivals = kThreads;
  static constexpr bool kOrdinaryStores = true;
  static constexpr int kProducerRegisters = 88;
  static constexpr int kConsumerRegisters = 208;

  static __device__ void work(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int part,
                              int rowBlock, int thread) {
    RowProducer producer(shared, args, thread);
    produceTogether(producer, shared, args, maps, part, rowBlock, thread);
  }

  /** Brings all tiles of a segment. */
  __device__ void fill(const Segment& segment) {
    finder_.begin(segment);
    int key = segment.firstTile * kTile;
    Looked looked = look(key);
    for (int left = segment.tiles; left > 0; left -= 2) {
      Looked next = look(key + kTile);
      copy<kEvenLeft>(looked, key);
      copy<kEvenRight>(looked, key);
      if (left == 1) break;
      key += kTile;
      looked = look(key + kTile);
      copy<kOddRight>(next, key);
      copy<kOddLeft>(next, key);
      key += kTile;
    }
  }

 private:
  static constexpr int kRowBytes = 2 * kKeyDim;
  static constexpr int kRowsAtOnce = kThreads / 8;
  static constexpr int kPasses = kTile / kRowsAtOnce;

  struct Looked {
    int32_t at[kPasses];
  };

  __device__ RowProducer(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(shared), finder_(args), row_(thread / 8), column_(thread % 8) {}

  __device__ Looked look(int key) const {
    Looked looked;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      looked.at[pass] = finder_.look(key + pass * kRowsAtOnce + row_);
    return looked;
  }

  /** Waits until a part is free and enqueues its copies, which hand it over when they have arrived. */
  template <TilePart kPart>
  __device__ void copy(const Looked& looked, int key) {
    barrierWait(sharedAddress(&shared_.free[kPart]), (turns_[tileOf(kPart)] & 1) ^ 1);
    if constexpr (kPart == kEvenRight || kPart == kOddLeft) ++turns_[tileOf(kPart)];
    const uint32_t tile = sharedAddress(shared_.keys[tileOf(kPart)]);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
      const unsigned char* from = finder_.rowOf(looked.at[pass], key + row) + column_ * 16;
#pragma unroll
      for (int i = 0; i < boxesOf(kPart); ++i)
        copy16(chunkAt(tile + boxOf(kPart, i) * kBoxBytes, row, column_), from + boxOf(kPart, i) * 128);
    }
    barrierArriveAfterCopies(sharedAddress(partFull(shared_, kPart)));
  }

  SharedMemory& shared_;
  RowFinder<kRowBytes, kListed> finder_;
  const int row_;
  const int column_;
  /** Even and odd tiles whose copies were enqueued. */
  uint32_t turns_[2] = {0, 0};
};

}  // namespace dcpscope::cuda
