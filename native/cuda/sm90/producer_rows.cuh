#pragma once
#include "cuda/sm90/decode_fp8.cuh"
#include "cuda/sm90/producer.cuh"

/**
 * Brings keys row by row through registers: quantised caches, keys listed one by one, and pages that no box fits. Four
 * warps work; eight threads share a row, sixteen rows are read at a time. Whatever was written makes room for the same columns
 * of the part that comes next, so that one part is always under way, and the tile behind it is on its way to the L2.
 */
namespace dcpscope::cuda {

enum class RowFormat { bf16, fp8, fp8DsMla };

template <RowFormat kFormat, bool kListed>
class RowProducer {
 public:
  static constexpr int kThreads = kGroupThreads;
  static constexpr int kFullArrivals = kThreads / 32;
  static constexpr int kProducerRegisters = 120;
  static constexpr int kConsumerRegisters = 192;

  static __device__ void work(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int part,
                              int rowBlock, int thread) {
    RowProducer producer(shared, args, thread);
    QueryProducer queries(shared, args, maps, rowBlock);
    Segments segments(args, part);
    for (Segment segment; segments.next(segment);) {
      if (thread >= kThreads - 32) queries.fill(segment, thread % 32);
      producer.fill(segment);
    }
  }

 private:
  static constexpr int kRowBytes = kFormat == RowFormat::bf16 ? 1152 : kFormat == RowFormat::fp8 ? 576 : 656;
  /** Columns that share a scale: two boxes. */
  static constexpr int kGroupColumns = 128;
  static constexpr int kRowsAtOnce = kThreads / 8;
  static constexpr int kPasses = kTile / kRowsAtOnce;
  static constexpr int kLoadsOfRow = kFormat == RowFormat::bf16 ? 2 : 1;

  struct Slots {
    int32_t at[kPasses];
  };
  /** What was read and not written yet: raw bytes of two groups of columns, their scales, and rope values. */
  struct Raw {
    uint4 values[2][kPasses][kLoadsOfRow];
    float scales[2][kPasses];
    uint4 rope[kPasses];
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
    Raw raw;
    Slots now = locate(key);
    Slots next = locate(key + kTile);
    prefetch(next);
    load<kEvenLeft>(raw, now, 0);
    load<kEvenLeft>(raw, now, 1);
    loadRope(raw, now);
    // Rows behind the last key have no slot: reading ahead of the segment does no harm.
    for (int tile = 0; tile < segment.tiles; tile += 2) {
      key += kTile;
      Slots later = locate(key + kTile);
      fill<kEvenLeft, kEvenRight>(raw, now, now, even_);
      fill<kEvenRight, kOddRight>(raw, next, next, even_);
      ++even_;
      if (tile + 1 == segment.tiles) break;
      now = next;
      next = later;
      prefetch(next);
      key += kTile;
      later = locate(key + kTile);
      fill<kOddRight, kOddLeft>(raw, now, now, odd_);
      fill<kOddLeft, kEvenLeft>(raw, next, next, odd_);
      ++odd_;
      now = next;
      next = later;
      prefetch(next);
    }
  }

  /** Writes one part, and reads the part after it: its columns, and rope values for the one after a part that had some. */
  template <Part kPart, Part kNext>
  __device__ void fill(Raw& raw, const Slots& columns, const Slots& rope, uint32_t turn) {
    await(kPart, turn);
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      store<kPart>(raw, g);
      load<kNext>(raw, columns, g);
    }
    if constexpr (boxesOf(kPart) == 5) {
      storeRope(raw, sharedAddress(shared_.keys[tileOf(kPart)]) + kRopeBox * kBoxBytes);
      loadRope(raw, rope);
    }
    fenceAsyncProxy();
    __syncwarp();
    if (lane_ < boxesOf(kPart))
      barrierArrive(sharedAddress(&shared_.full[tileOf(kPart)][boxOf(kPart, lane_)]));
  }

  /** Sends for the thread's rows, one of eight threads for each. */
  __device__ void prefetch(const Slots& slots) const {
    if (column_ != 0) return;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      if (slots.at[pass] >= 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(rowAt(slots.at[pass])), "n"(kRowBytes));
  }

  __device__ const unsigned char* rowAt(int32_t slot) const {
    return static_cast<const unsigned char*>(args_.inputs.pool) + static_cast<int64_t>(slot) * kRowBytes;
  }

  __device__ void await(Part part, uint32_t turn) {
    barrierWait(sharedAddress(&shared_.free[part]), (turn & 1) ^ 1);
  }

  /** Slots of the thread's rows of the tile at `key`; -1 behind the last key. */
  __device__ Slots locate(int key) const {
    Slots slots;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int k = key + pass * kRowsAtOnce + row_;
      slots.at[pass] = k >= length_ ? -1
                       : kListed    ? slots_[k]
                                    : pages_[k / args_.pageSize] * args_.pageSize + k % args_.pageSize;
    }
    return slots;
  }

  __device__ static uint4 read16(const unsigned char* from) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
    return v;
  }

  template <Part kPart>
  __device__ void load(Raw& raw, const Slots& slots, int g) const {
    const int group = firstBox(kPart) / 2 + g;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const unsigned char* row = rowAt(slots.at[pass]);
      const bool some = slots.at[pass] >= 0;
#pragma unroll
      for (int i = 0; i < kLoadsOfRow; ++i)
        raw.values[g][pass][i] = some ? read16(row + groupAt(group, i)) : make_uint4(0, 0, 0, 0);
      if constexpr (kFormat == RowFormat::fp8DsMla)
        raw.scales[g][pass] = some ? *reinterpret_cast<const float*>(row + 512 + group * 4) : 0;
    }
  }

  __device__ void loadRope(Raw& raw, const Slots& slots) const {
    if (kFormat == RowFormat::fp8 && column_ >= 4) return;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      raw.rope[pass] = slots.at[pass] >= 0 ? read16(rowAt(slots.at[pass]) + ropeAt()) : make_uint4(0, 0, 0, 0);
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
  __device__ void store(const Raw& raw, int g) const {
    const uint32_t to = sharedAddress(shared_.keys[tileOf(kPart)]) + (firstBox(kPart) + 2 * g) * kBoxBytes;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
      if constexpr (kFormat == RowFormat::bf16) {
#pragma unroll
        for (int i = 0; i < kLoadsOfRow; ++i)
          write16(chunkAt(to + i * kBoxBytes, row, column_), raw.values[g][pass][i]);
      } else {
        const float scale = kFormat == RowFormat::fp8 ? 1.0F : raw.scales[g][pass];
        decode(raw.values[g][pass][0], fp8Factor(scale), to + column_ / 4 * kBoxBytes, row, column_ % 4 * 2);
      }
    }
  }

  __device__ void storeRope(const Raw& raw, uint32_t box) const {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
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
