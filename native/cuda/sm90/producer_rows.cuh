#pragma once
#include "cuda/sm90/decode_fp8.cuh"
#include "cuda/sm90/producer.cuh"

/**
 * Brings keys row by row through registers: quantised caches, keys listed one by one, and pages that no box fits. Four
 * warps work; eight threads share a row, sixteen rows are read at a time.
 */
namespace dcpscope::cuda {

enum class RowFormat { bf16, fp8, fp8DsMla };

template <RowFormat kFormat, bool kListed>
class RowProducer {
 public:
  static constexpr int kFullArrivals = kGroupThreads / 32;
  static constexpr int kProducerRegisters = 104;
  static constexpr int kConsumerRegisters = 200;

  static __device__ void work(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int part,
                              int rowBlock, int thread) {
    RowProducer producer(shared, args, thread);
    QueryProducer queries(shared, args, maps, rowBlock);
    Segments segments(args, part);
    for (Segment segment; segments.next(segment);) {
      if (thread >= kGroupThreads - 32) queries.fill(segment, thread % 32);
      producer.fill(segment);
    }
  }

 private:
  static constexpr int kRowBytes = kFormat == RowFormat::bf16 ? 1152 : kFormat == RowFormat::fp8 ? 576 : 656;
  /** Columns that are read at once: as many loads are under way. */
  static constexpr int kGroupColumns = 128;
  static constexpr int kGroupsOfItem = kFormat == RowFormat::bf16 ? 1 : 2;
  static constexpr int kPasses = kTile / 16;
  static constexpr int kLoadsOfRow = kFormat == RowFormat::bf16 ? 2 : 1;

  struct Slots {
    int32_t at[kPasses];
  };
  /** What was read for an item: raw bytes, and the scales of each row's groups. */
  struct Raw {
    uint4 values[kGroupsOfItem][kPasses][kLoadsOfRow];
    uint4 rope[kPasses];
    float scales[kPasses][kGroupsOfItem];
  };

  __device__ RowProducer(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(shared), args_(args), row_(thread / 8), column_(thread % 8), lane_(thread % 32) {}

  __device__ void fill(const Segment& segment) {
    length_ = args_.lengths[segment.request];
    if constexpr (kListed)
      slots_ = args_.slots + segment.request * args_.slotStride;
    else
      pages_ = args_.inputs.pageTable + args_.inputs.tableBegin[segment.request];
    int key = segment.firstTile * kTile;
    Slots now = locate(key);
    Raw raw;
    loadFirst<kEvenLeft>(raw, now);
    for (int tile = 0; tile < segment.tiles; tile += 2) {
      key += kTile;
      const bool more = tile + 1 < segment.tiles;
      Slots next = more ? locate(key) : now;
      fillPart<kEvenLeft, kEvenRight>(raw, now, now, true, even_);
      fillPart<kEvenRight, kOddRight>(raw, now, next, more, even_);
      ++even_;
      if (!more) break;
      now = next;
      key += kTile;
      const bool again = tile + 2 < segment.tiles;
      next = again ? locate(key) : now;
      fillPart<kOddRight, kOddLeft>(raw, now, now, true, odd_);
      fillPart<kOddLeft, kEvenLeft>(raw, now, next, again, odd_);
      ++odd_;
      now = next;
    }
  }

  /** Writes one part of a tile, and reads the first item of the part after it as soon as registers are free. */
  template <Part kPart, Part kNext>
  __device__ void fillPart(Raw& raw, const Slots& now, const Slots& next, bool more, uint32_t turn) {
    barrierWait(sharedAddress(&shared_.free[kPart]), (turn & 1) ^ 1);
#pragma unroll
    for (int item = 0; item < 2 / kGroupsOfItem; ++item) {
      store<kPart>(raw, item);
      if (item + 1 < 2 / kGroupsOfItem)
        load<kPart>(raw, now, item + 1);
      else if (more)
        loadFirst<kNext>(raw, next);
    }
  }

  /** Slots of the thread's rows of the tile at `key`; -1 behind the last key. */
  __device__ Slots locate(int key) const {
    Slots slots;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int k = key + pass * 16 + row_;
      slots.at[pass] = k >= length_ ? -1
                       : kListed    ? slots_[k]
                                    : pages_[k / args_.pageSize] * args_.pageSize + k % args_.pageSize;
    }
    return slots;
  }

  template <Part kPart>
  __device__ void loadFirst(Raw& raw, const Slots& slots) const {
    load<kPart>(raw, slots, 0);
  }

  __device__ static uint4 read16(const unsigned char* from) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
    return v;
  }

  template <Part kPart>
  __device__ void load(Raw& raw, const Slots& slots, int item) const {
    const int group = firstBox(kPart) / 2 + item * kGroupsOfItem;
    const auto* pool = static_cast<const unsigned char*>(args_.inputs.pool);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const unsigned char* row = pool + static_cast<int64_t>(slots.at[pass]) * kRowBytes;
      const bool some = slots.at[pass] >= 0;
#pragma unroll
      for (int g = 0; g < kGroupsOfItem; ++g) {
#pragma unroll
        for (int i = 0; i < kLoadsOfRow; ++i)
          raw.values[g][pass][i] = some ? read16(row + groupAt(group + g, i)) : make_uint4(0, 0, 0, 0);
        if constexpr (kFormat == RowFormat::fp8DsMla)
          raw.scales[pass][g] = some ? *reinterpret_cast<const float*>(row + 512 + (group + g) * 4) : 0;
      }
      if (boxesOf(kPart) == 5 && item == 0 && (kFormat != RowFormat::fp8 || column_ < 4))
        raw.rope[pass] = some ? read16(row + ropeAt()) : make_uint4(0, 0, 0, 0);
    }
  }

  /** Bytes before the i-th piece of the thread's columns of a group, and of its rope columns. */
  __device__ int groupAt(int group, int i) const {
    if constexpr (kFormat == RowFormat::bf16) return group * kGroupColumns * 2 + i * kGroupColumns + column_ * 16;
    return group * kGroupColumns + column_ * 16;
  }
  __device__ int ropeAt() const {
    constexpr int begin = kFormat == RowFormat::bf16 ? 1024 : kFormat == RowFormat::fp8 ? 512 : 528;
    return begin + column_ * 16;
  }

  /** Address of 16 bytes of a box: chunk `chunk` of row `row`. */
  __device__ static uint32_t chunkAt(uint32_t box, int row, int chunk) {
    return box + row * 128 + ((chunk ^ (row & 7)) << 4);
  }

  __device__ static void write16(uint32_t to, uint2 a, uint2 b) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y)
                 : "memory");
  }
  __device__ static void write16(uint32_t to, const uint4& v) {
    write16(to, make_uint2(v.x, v.y), make_uint2(v.z, v.w));
  }

  /** 16 codes of one row as values, to chunks `chunk` and `chunk + 1`; half of the threads begin with the second, so that
   * eight threads meet all banks. */
  __device__ void decode(const uint4& codes, uint32_t factor, uint32_t box, int row, int chunk) const {
    const bool swap = column_ >= 4;
    const uint2 a = make_uint2(swap ? codes.z : codes.x, swap ? codes.w : codes.y);
    const uint2 b = make_uint2(swap ? codes.x : codes.z, swap ? codes.y : codes.w);
    write16(chunkAt(box, row, chunk + swap), decodeFp8(a.x, factor), decodeFp8(a.y, factor));
    write16(chunkAt(box, row, chunk + !swap), decodeFp8(b.x, factor), decodeFp8(b.y, factor));
  }

  template <Part kPart>
  __device__ void store(const Raw& raw, int item) {
    const uint32_t tile = sharedAddress(shared_.keys[tileOf(kPart)]);
    const int box = firstBox(kPart) + item * kGroupsOfItem * 2;
#pragma unroll
    for (int g = 0; g < kGroupsOfItem; ++g) {
      const uint32_t to = tile + (box + 2 * g) * kBoxBytes;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        const int row = pass * 16 + row_;
        if constexpr (kFormat == RowFormat::bf16) {
#pragma unroll
          for (int i = 0; i < kLoadsOfRow; ++i)
            write16(chunkAt(to + i * kBoxBytes, row, column_), raw.values[g][pass][i]);
        } else {
          const float scale = kFormat == RowFormat::fp8 ? 1.0F : raw.scales[pass][g];
          decode(raw.values[g][pass][0], fp8Factor(scale), to + column_ / 4 * kBoxBytes, row, column_ % 4 * 2);
        }
      }
    }
    const bool rope = boxesOf(kPart) == 5 && item == 0;
    if (rope) storeRope(raw, tile + kRopeBox * kBoxBytes);
    fenceAsyncProxy();
    __syncwarp();
    uint64_t* full = shared_.full[tileOf(kPart)];
    if (lane_ < 2 * kGroupsOfItem) barrierArrive(sharedAddress(&full[box + lane_]));
    if (rope && lane_ == 2 * kGroupsOfItem) barrierArrive(sharedAddress(&full[kRopeBox]));
  }

  __device__ void storeRope(const Raw& raw, uint32_t box) const {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * 16 + row_;
      if constexpr (kFormat != RowFormat::fp8)
        write16(chunkAt(box, row, column_), raw.rope[pass]);
      else if (column_ < 4)
        decode(raw.rope[pass], fp8Factor(1), box, row, column_ * 2);
    }
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const int row_;
  const int column_;
  const int lane_;
  int length_ = 0;
  const int32_t* pages_ = nullptr;
  const int32_t* slots_ = nullptr;
  uint32_t even_ = 0;
  uint32_t odd_ = 0;
};

}  // namespace dcpscope::cuda
