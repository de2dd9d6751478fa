#pragma once
#include "cuda/sm90/producer.cuh"

/** Brings bf16 tiles by bulk copies of boxes: for pages that a box of 64 columns fits. Each warp brings one
 * part of the tiles. */
namespace dcpscope::cuda {

class BoxProducer {
 public:
  static constexpr int kThreads = kGroupThreads;
  static constexpr int kFullArrivals = 1;
  static constexpr bool kOrdinaryStores = false;
  static constexpr int kProducerRegisters = 56;
  static constexpr int kConsumerRegisters = 224;

  static __device__ void work(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int part,
                              int rowBlock, int thread) {
    const int lane = thread % 32;
    BoxProducer producer(shared, args, maps.keys, lane);
    QueryProducer queries(shared, args, maps, rowBlock);
    const auto nothing = [](const Segment&) {};
    switch (thread / 32) {
      case 0:
        return produce<kEvenLeft>(producer, shared, args, part, nothing);
      case 1:
        return produce<kEvenRight>(producer, shared, args, part, nothing);
      case 2:
        return produce<kOddRight>(producer, shared, args, part, nothing);
      default:
        return produce<kOddLeft>(producer, shared, args, part,
                                 [&](const Segment& segment) { queries.fill(segment, lane); });
    }
  }

  __device__ BoxProducer(SharedMemory& shared, const KernelArgs& args, const CUtensorMap& map, int lane)
      : shared_(shared), args_(args), map_(map), lane_(lane) {
    chunk_ = min(args.pageSize, kTile);
    policy_ = args.rowBlocks == 1 ? kEvictFirst : kEvictLast;
  }

  __device__ void begin(const Segment& segment) {
    length_ = segment.length;
    pages_ = args_.inputs.pageTable + segment.firstPage;
  }

  /** Fills one part of the tile that begins at local key `key`. */
  template <TilePart kPart>
  __device__ void fill(int key) {
    const bool partial = key + kTile > length_ && length_ % chunk_ != 0;
    const uint32_t staged = sharedAddress(&shared_.staged[kPart]);
    uint64_t* full = shared_.full[tileOf(kPart)];
    if (partial) {
      if (lane_ == 0) barrierExpect(staged, boxesOf(kPart) * kBoxBytes);
    } else if (lane_ < boxesOf(kPart)) {
      barrierExpect(sharedAddress(&full[boxOf(kPart, lane_)]), kBoxBytes);
    }
    __syncwarp();
    const int chunks = kTile / chunk_;
    for (int i = lane_; i < boxesOf(kPart) * chunks; i += 32) {
      const int c = i % chunks;
      const int box = boxOf(kPart, i / chunks);
      const uint32_t to = sharedAddress(shared_.keys[tileOf(kPart)]) + box * kBoxBytes + c * chunk_ * 128;
      copyBox(to, &map_, box * 64, rowOf(key + c * chunk_), partial ? staged : sharedAddress(&full[box]),
              policy_);
    }
    if (partial) clear<kPart>(key);
  }

 private:
  /** Row of the pool that holds a local key; outside the pool behind the last one, which gives zeros. */
  __device__ int rowOf(int key) const {
    constexpr int kNowhere = 0x7FFFFF00;
    if (key >= length_) return kNowhere;
    return pages_[key / args_.pageSize] * args_.pageSize + key % args_.pageSize;
  }

  /** Zeroes what the last page holds behind the last key, since 0 * NaN is NaN. */
  template <TilePart kPart>
  __device__ void clear(int key) {
    barrierWait(sharedAddress(&shared_.staged[kPart]), stagedParity_);
    stagedParity_ ^= 1;
    const int valid = length_ - key;
    unsigned char* tile = shared_.keys[tileOf(kPart)] + firstBox(kPart) * kBoxBytes;
    for (int i = lane_; i < 4 * kTile * 8; i += 32) {
      const int box = i / (kTile * 8);
      const int row = i / 8 % kTile;
      if (row >= valid)
        *reinterpret_cast<uint4*>(tile + box * kBoxBytes + row * 128 + i % 8 * 16) = make_uint4(0, 0, 0, 0);
    }
    fenceAsyncProxy();
    __syncwarp();
    if (lane_ < boxesOf(kPart))
      barrierArrive(sharedAddress(&shared_.full[tileOf(kPart)][boxOf(kPart, lane_)]));
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const CUtensorMap& map_;
  const int lane_;
  int chunk_;
  uint64_t policy_;
  int length_ = 0;
  const int32_t* pages_ = nullptr;
  uint32_t stagedParity_ = 0;
};

}  // namespace dcpscope::cuda
