#pragma once
#include "cuda/sm90/combine.cuh"
#include "cuda/sm90/consumer.cuh"
#include "cuda/sm90/shared.cuh"

namespace dcpscope::cuda {

/** Where a consumer stands. What is read anew needs no register while keys are attended to: those are all
 * taken, and what was put aside would be fetched behind the stores of a partial. */
struct Whereabouts {
  int thread;
  int part;
  int rowBlock;

  static __device__ Whereabouts readAnew(const KernelArgs& args) {
    int thread;
    int block;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return {thread % kGroupThreads, block / args.rowBlocks, block % args.rowBlocks};
  }
};

template <bool kOrdinaryStores>
__device__ void consume(int half, int groupThread, SharedMemory& shared, const KernelArgs& args, int part) {
  Turns turns;
  Segments segments(args, part);
  // A part shares at most two requests with others: its first and its last.
  int firstShared = -1;
  int lastShared = -1;
  int turn = 0;
  for (Segment segment; segments.next(segment); turn ^= 1) {
    Softmax state;
    const Whereabouts before = Whereabouts::readAnew(args);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = before.rowBlock * kRows + Fragment(before.thread).row + 8 * r;
      if (row >= args.rows) continue;
      state.bound[r] = args.inputs.bounds != nullptr
                           ? args.inputs.bounds[(segment.request * args.rows + row) / args.heads]
                           : segment.length;
    }
    Accumulator<256> out;
    if (half == 0)
      ConsumerGroup<false, kOrdinaryStores>(shared, args, groupThread, turns).attend(segment, state, out);
    else
      ConsumerGroup<true, kOrdinaryStores>(shared, args, groupThread, turns).attend(segment, state, out);
    const Whereabouts self = Whereabouts::readAnew(args);
    const Fragment at(self.thread);
    float total[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      total[r] = state.sum[r];
      total[r] += __shfl_xor_sync(~0U, total[r], 1);
      total[r] += __shfl_xor_sync(~0U, total[r], 2);
    }
    publish(shared.sum[turn][half], total, at);
    float most[2] = {0, 0};
    if (!segment.whole) {
      largestFinite(out, most);
      publish(shared.most[turn][half], most, at);
    }
    meet();
    float other[2];
    read(shared.sum[turn][1 - half], other, at);
    total[0] += other[0];
    total[1] += other[1];
    if (!segment.whole) {
      read(shared.most[turn][1 - half], other, at);
      most[0] = fmaxf(most[0], other[0]);
      most[1] = fmaxf(most[1], other[1]);
    }
    writeSegment(args, segment, self.part, self.rowBlock, half, at, out, total, state, most);
    if (segment.whole) continue;
    Arrivals(args, segment.request, self.rowBlock).written(at.lane);
    (firstShared < 0 ? firstShared : lastShared) = segment.request;
  }
  const auto [thread, ownPart, rowBlock] = Whereabouts::readAnew(args);
  const Fragment at(thread);
  const int warp = half * (kConsumerWarps / 2) + at.warp;
  Stamp* stamps = args.inputs.attendStamps.first;
  const int stamp =
      stamps == nullptr ? -1 : stampOf(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
  if (stamp >= 0 && half == 0 && thread == 0) {
    stamps[stamp].end = globalTime();
    args.inputs.combineStamps.first[stamp].begin = stamps[stamp].end;
  }
  // Since the sums were exchanged nobody reads queries and keys, and no copy of them is under way.
  auto& memory = *reinterpret_cast<CombineMemory*>(&shared);
  uint32_t parity = 0;
  for (int request = firstShared; request >= 0;
       parity ^= 1, request = request == firstShared && lastShared != request ? lastShared : -1) {
    Combine combine(args, memory, sharedAddress(&shared.partials), request, rowBlock, ownPart, warp, at.lane);
    if (request != firstShared) meet();
    combine.bring();
    combine.merge(parity);
  }
  if (stamp >= 0 && half == 0 && thread == 0) args.inputs.combineStamps.first[stamp].end = globalTime();
}

template <class Producer>
constexpr int kBlockThreads = kConsumers + Producer::kThreads;

template <class Producer>
__global__ void __launch_bounds__(kBlockThreads<Producer>, 1)
    attendKernel(const __grid_constant__ KernelArgs args, const __grid_constant__ KernelMaps maps) {
  // More than a block was launched with would never be granted.
  constexpr int kLaunched = 65536 / kBlockThreads<Producer> / 8 * 8;
  static_assert(kConsumers * Producer::kConsumerRegisters +
                    Producer::kThreads * Producer::kProducerRegisters <=
                kBlockThreads<Producer> * kLaunched);
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& shared = *reinterpret_cast<SharedMemory*>(raw);
  const int block = static_cast<int>(blockIdx.x);
  const int part = block / args.rowBlocks;
  const int rowBlock = block % args.rowBlocks;
  const int group = __shfl_sync(~0U, static_cast<int>(threadIdx.x) / kGroupThreads, 0);
  const int thread = static_cast<int>(threadIdx.x) % kGroupThreads;
  allowNext();
  if (threadIdx.x == 0) {
    prefetchMap(&maps.queries);
    prefetchMap(&maps.keys);
    barrierInit(sharedAddress(&shared.queryFull), 1);
    barrierInit(sharedAddress(&shared.queryFree), kConsumers / 32);
    barrierInit(sharedAddress(&shared.partials), 1);
    for (uint64_t& softened : shared.softened) barrierInit(sharedAddress(&softened), kGroupThreads);
    for (uint64_t& staged : shared.staged) barrierInit(sharedAddress(&staged), 1);
    for (uint64_t& free : shared.free) barrierInit(sharedAddress(&free), kGroupThreads / 32);
    for (auto& tile : shared.full)
      for (uint64_t& full : tile) barrierInit(sharedAddress(&full), Producer::kFullArrivals);
    barrierInitDone();
  }
  __syncthreads();
  awaitPrevious();
  if (threadIdx.x == 0) {
    Stamp* stamps = args.inputs.attendStamps.first;
    const int stamp = stamps == nullptr ? -1 : stampOf(block, static_cast<int>(gridDim.x));
    if (block == 0) announce(args.inputs.attendStamps);
    if (stamp >= 0) stamps[stamp].begin = globalTime();
  }
  if (group >= 2) {
    fewerRegisters<Producer::kProducerRegisters>();
    Producer::work(shared, args, maps, part, rowBlock, static_cast<int>(threadIdx.x) - kConsumers);
  } else {
    moreRegisters<Producer::kConsumerRegisters>();
    consume<Producer::kOrdinaryStores>(group, thread, shared, args, part);
  }
}

}  // namespace dcpscope::cuda
