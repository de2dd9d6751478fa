#pragma once
#include "cuda/sm90/shared.cuh"

/** Walks of the third warpgroup through a part's tiles. */
namespace dcpscope::cuda {

/** Fills one part of all tiles of a block's segments; `before` is called with each segment first. */
template <TilePart kPart, class Producer, class Before>
__device__ void produce(Producer& producer, SharedMemory& shared, const KernelArgs& args, int part,
                        Before before) {
  uint32_t turn = 0;
  Segments segments(args, part);
  for (Segment segment; segments.next(segment);) {
    before(segment);
    producer.begin(segment);
    for (int tile = tileOf(kPart); tile < segment.tiles; tile += 2, ++turn) {
      barrierWait(sharedAddress(&shared.free[kPart]), (turn & 1) ^ 1);
      producer.template fill<kPart>((segment.firstTile + tile) * kTile);
    }
  }
}

/** Brings the queries of one segment after the other; a warp calls it. */
class QueryProducer {
 public:
  __device__ QueryProducer(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int rowBlock)
      : shared_(shared), args_(args), maps_(maps), rowBlock_(rowBlock) {}

  __device__ void fill(const Segment& segment, int lane) {
    barrierWait(sharedAddress(&shared_.queryFree), (turn_++ & 1) ^ 1);
    const uint32_t full = sharedAddress(&shared_.queryFull);
    if (lane == 0) barrierExpect(full, kTileBytes);
    __syncwarp();
    if (lane < kBoxes)
      copyBox(sharedAddress(shared_.q) + lane * kBoxBytes, &maps_.queries, lane * 64,
              segment.request * args_.rows + rowBlock_ * kRows, full, kEvictLast);
  }

 private:
  SharedMemory& shared_;
  const KernelArgs& args_;
  const KernelMaps& maps_;
  const int rowBlock_;
  uint32_t turn_ = 0;
};

/** For producers whose four warps bring tiles together: walks through the segments. The last warp brings the
 * queries as well. */
template <class Producer>
__device__ void produceTogether(Producer& producer, SharedMemory& shared, const KernelArgs& args,
                                const KernelMaps& maps, int part, int rowBlock, int thread) {
  QueryProducer queries(shared, args, maps, rowBlock);
  Segments segments(args, part);
  for (Segment segment; segments.next(segment);) {
    if (thread >= kGroupThreads - 32) queries.fill(segment, thread % 32);
    producer.fill(segment);
  }
}

}  // namespace dcpscope::cuda
