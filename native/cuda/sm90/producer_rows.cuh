#pragma once
#include "cuda/sm90/decode_fp8.cuh"
#include "cuda/sm90/producer.cuh"
#include "cuda/sm90/row_access.cuh"

/**
 * Brings keys row by row: quantised caches, keys listed one by one, and pages that no box fits. Four warps
 * work; eight threads share a row, sixteen rows are taken at a time. Copies into shared memory run beside the
 * conversion of other parts: codes arrive in the second half of the part that they become, and every thread
 * converts what it copied itself.
 */
namespace dcpscope::cuda {

enum class RowFormat { bf16, fp8, fp8DsMla };

template <RowFormat kFormat, bool kListed>
class RowProducer {
 public:
  static constexpr int kThreads = kGroupThreads;
  static constexpr int kFullArrivals = kThreads / 32;
  static constexpr bool kOrdinaryStores = true;
  static constexpr int kProducerRegisters = 88;
  static constexpr int kConsumerRegisters = 208;

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
  static constexpr int kRopeAt = kFormat == RowFormat::bf16 ? 1024 : kFormat == RowFormat::fp8 ? 512 : 528;
  static constexpr int kScalesAt = 512;
  /** Columns that share a scale: two boxes. */
  static constexpr int kGroupColumns = 128;
  static constexpr int kRowsAtOnce = kThreads / 8;
  static constexpr int kPasses = kTile / kRowsAtOnce;

  struct Slots {
    int32_t at[kPasses];
  };

  __device__ RowProducer(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(shared), args_(args), row_(thread / 8), column_(thread % 8), lane_(thread % 32) {}

  /** Copies of a part begin as soon as it is free; in between, parts are converted in their order. */
  __device__ void fill(const Segment& segment) {
    length_ = args_.lengths[segment.request];
    if constexpr (kListed)
      slots_ = args_.slots + segment.request * args_.slotStride;
    else
      pages_ = args_.inputs.pageTable + args_.inputs.tableBegin[segment.request];
    const int end = 2 * segment.tiles;
    int key = segment.firstTile * kTile + 2 * kTile;
    // Slots are looked up two tiles ahead, so that nothing waits for them; behind the last key there are
    // none.
    Slots now = locate(key - 2 * kTile);
    Slots next = locate(key - kTile);
    Slots later = locate(key);
    prefetch(next);
    int started = 0;
    for (int finished = 0; finished < end;) {
      if (started < end && (started == finished || isFree(started))) {
        start(started, now);
        if (++started % 2 == 0) {
          now = next;
          next = later;
          prefetch(next);
          key += kTile;
          later = locate(key);
        }
      } else {
        finish(finished, started - finished - 1);
        ++finished;
      }
    }
    even_ += (segment.tiles + 1) / 2;
    odd_ += segment.tiles / 2;
  }

  /** Parts of a segment in the order in which they are needed: two of each tile. */
  __device__ static Part partOf(int index) {
    return index % 4 == 0 ? kEvenLeft : index % 4 == 1 ? kEvenRight : index % 4 == 2 ? kOddRight : kOddLeft;
  }

  /** Parity of the phase that frees a part of this segment. */
  __device__ uint32_t parityOf(int index) const {
    return (((index / 2 % 2 == 0 ? even_ : odd_) + index / 4) & 1) ^ 1;
  }

  __device__ bool isFree(int index) const {
    return barrierPassed(sharedAddress(&shared_.free[partOf(index)]), parityOf(index));
  }

  __device__ void start(int index, const Slots& slots) const {
    barrierWait(sharedAddress(&shared_.free[partOf(index)]), parityOf(index));
    switch (partOf(index)) {
      case kEvenLeft:
        return start<kEvenLeft>(slots);
      case kEvenRight:
        return start<kEvenRight>(slots);
      case kOddRight:
        return start<kOddRight>(slots);
      default:
        return start<kOddLeft>(slots);
    }
  }

  /** Waits for a part's copies, after which `later` parts were started, and hands it over. */
  __device__ void finish(int index, int later) const {
    if (later == 0)
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (later == 1)
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    else if (later == 2)
      asm volatile("cp.async.wait_group 2;" ::: "memory");
    else
      asm volatile("cp.async.wait_group 3;" ::: "memory");
    __syncwarp();
    switch (partOf(index)) {
      case kEvenLeft:
        return finish<kEvenLeft>();
      case kEvenRight:
        return finish<kEvenRight>();
      case kOddRight:
        return finish<kOddRight>();
      default:
        return finish<kOddLeft>();
    }
  }

  /** Slots of the thread's rows of the tile at `key`; -1 behind the last key. */
  __device__ Slots locate(int key) const {
    Slots slots;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int k = key + pass * kRowsAtOnce + row_;
      slots.at[pass] = k >= length_ ? -1 : kListed ? slots_[k] : slotOf(k);
    }
    return slots;
  }

  __device__ int32_t slotOf(int key) const {
    // Pages of a power of two need no division.
    if (args_.pageShift >= 0) {
      const int32_t page = pages_[key >> args_.pageShift];
      return (page << args_.pageShift) + (key & ((1 << args_.pageShift) - 1));
    }
    return pages_[key / args_.pageSize] * args_.pageSize + key % args_.pageSize;
  }

  __device__ const unsigned char* rowAt(int32_t slot) const {
    return static_cast<const unsigned char*>(args_.inputs.pool) +
           static_cast<int64_t>(max(slot, 0)) * kRowBytes;
  }

  /** Sends for the thread's rows: a line of 128 bytes for each of the eight threads that share one, as many
   * as it has. */
  __device__ void prefetch(const Slots& slots) const {
#pragma unroll
    for (int first = 0; first < kRowBytes; first += 8 * 128) {
      const int at = first + column_ * 128;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass)
        if (slots.at[pass] >= 0 && at < kRowBytes)
          asm volatile("prefetch.global.L2 [%0];" ::"l"(rowAt(slots.at[pass]) + at));
    }
  }

  template <Part kPart>
  __device__ uint32_t boxAt(int box) const {
    return sharedAddress(shared_.keys[tileOf(kPart)]) + box * kBoxBytes;
  }

  /** Where a thread's codes of one group wait: in the part's last two boxes. */
  template <Part kPart>
  __device__ uint32_t rawAt(int g, int row) const {
    return boxAt<kPart>(firstBox(kPart) + 2) + row * 2 * kGroupColumns + g * kGroupColumns + column_ * 16;
  }

  /** Scales of a row of fp8_ds_mla, or its rope codes of fp8. */
  template <Part kPart>
  __device__ uint32_t extraAt(int row) const {
    return sharedAddress(shared_.rowExtras[tileOf(kPart)]) + row * (kFormat == RowFormat::fp8 ? 64 : 16);
  }

  /** Enqueues the copies of a part. */
  template <Part kPart>
  __device__ void start(const Slots& slots) const {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
      const bool some = slots.at[pass] >= 0;
      const unsigned char* from = rowAt(slots.at[pass]);
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const int group = firstBox(kPart) / 2 + g;
        if constexpr (kFormat == RowFormat::bf16) {
#pragma unroll
          for (int i = 0; i < 2; ++i)
            copy16(chunkAt(boxAt<kPart>(2 * group + i), row, column_),
                   from + (2 * group + i) * 128 + column_ * 16, some);
        } else {
          copy16(rawAt<kPart>(g, row), from + group * kGroupColumns + column_ * 16, some);
        }
      }
      if constexpr (boxesOf(kPart) == 5) {
        if constexpr (kFormat != RowFormat::fp8)
          copy16(chunkAt(boxAt<kPart>(kRopeBox), row, column_), from + kRopeAt + column_ * 16, some);
        else if (column_ < 4)
          copy16(extraAt<kPart>(row) + column_ * 16, from + kRopeAt + column_ * 16, some);
      }
      // The first part of a tile brings the scales of both.
      if constexpr (kFormat == RowFormat::fp8DsMla && (kPart == kEvenLeft || kPart == kOddRight))
        if (column_ == 0) copy16(extraAt<kPart>(row), from + kScalesAt, some);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  /** Converts a part, and hands it over. */
  template <Part kPart>
  __device__ void finish() const {
    if constexpr (kFormat != RowFormat::bf16) {
      uint4 codes[2][kPasses];
      uint32_t factors[2][kPasses];
#pragma unroll
      for (int g = 0; g < 2; ++g) readCodes<kPart>(codes[g], factors[g], g);
      // What is written now lies in part where codes waited.
      namedSync(kRowsRead, kThreads);
#pragma unroll
      for (int g = 0; g < 2; ++g) decodeGroup<kPart>(codes[g], factors[g], g);
      if constexpr (kFormat == RowFormat::fp8 && boxesOf(kPart) == 5) decodeRope<kPart>();
    }
    __syncwarp();
    if (lane_ < boxesOf(kPart))
      barrierArrive(sharedAddress(&shared_.full[tileOf(kPart)][boxOf(kPart, lane_)]));
  }

  template <Part kPart>
  __device__ void readCodes(uint4 (&codes)[kPasses], uint32_t (&factors)[kPasses], int g) const {
    const int group = firstBox(kPart) / 2 + g;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
      codes[pass] = read16(rawAt<kPart>(g, row));
      factors[pass] =
          fp8Factor(kFormat == RowFormat::fp8 ? 1.0F : readFloat(extraAt<kPart>(row) + group * 4));
    }
  }

  template <Part kPart>
  __device__ void decodeGroup(const uint4 (&codes)[kPasses], const uint32_t (&factors)[kPasses],
                              int g) const {
    const int group = firstBox(kPart) / 2 + g;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      decode(codes[pass], factors[pass], boxAt<kPart>(2 * group + column_ / 4), pass * kRowsAtOnce + row_,
             column_ % 4 * 2);
  }

  template <Part kPart>
  __device__ void decodeRope() const {
    if (column_ >= 4) return;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce + row_;
      decode(read16(extraAt<kPart>(row) + column_ * 16), fp8Factor(1), boxAt<kPart>(kRopeBox), row,
             column_ * 2);
    }
  }

  /** 16 codes of one row as values, to chunks `chunk` and `chunk + 1`; half of the threads begin with the
   * second, so that eight threads meet all banks. */
  __device__ void decode(const uint4& codes, uint32_t factor, uint32_t box, int row, int chunk) const {
    const bool swap = column_ >= 4;
    const uint2 a = make_uint2(swap ? codes.z : codes.x, swap ? codes.w : codes.y);
    const uint2 b = make_uint2(swap ? codes.x : codes.z, swap ? codes.y : codes.w);
    write16(chunkAt(box, row, chunk + swap), decodeFp8(a.x, factor), decodeFp8(a.y, factor));
    write16(chunkAt(box, row, chunk + !swap), decodeFp8(b.x, factor), decodeFp8(b.y, factor));
  }

  SharedMemory& shared_;
  const KernelArgs& args_;
  const int row_;
  const int column_;
  const int lane_;
  int length_ = 0;
  const int32_t* pages_ = nullptr;
  const int32_t* slots_ = nullptr;
  /** Even and odd tiles of the segments before this one. */
  uint32_t even_ = 0;
  uint32_t odd_ = 0;
};

}  // namespace dcpscope::cuda
