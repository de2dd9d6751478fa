#pragma once
#include "cuda/row_result.cuh"
#include "cuda/sm90/consumer.cuh"

/** Output of finished segments, and the merge of those that several parts share. */
namespace dcpscope::cuda {

/** Writes two neighbouring values of an output row. */
__device__ inline void writePair(const KernelArgs& args, int64_t at, float a, float b) {
  if (args.outFp32)
    *reinterpret_cast<float2*>(static_cast<float*>(args.inputs.out) + at) = make_float2(a, b);
  else
    *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(args.inputs.out) + at) = packBf16(a, b);
}

/** Slot of the partial of a part's segment: a part has at most one that begins and one that ends elsewhere.
 */
__device__ inline int64_t splitSlot(const KernelArgs& args, int part, int request, int rowBlock) {
  const int which = args.plan.begin[part].request == request ? 0 : 1;
  return static_cast<int64_t>(2 * part + which) * args.rowBlocks + rowBlock;
}

/**
 * A partial is 64 rows of 512 columns as the accumulators hold them, so that a warp stores and loads whole
 * lines: [16 rows of a warp: 4][half of the columns: 2][8 columns: 32][lane: 32] of four values, two columns
 * of the lane's first row and of its second. What one warp loads at once is a unit.
 */
constexpr int kUnitsPerGroup = 2 * kHalf / 8;
constexpr int kGroupRows = 16;
constexpr uint32_t kUnitBytes = 32 * sizeof(float4);
__device__ inline float4* unitsOf(const KernelArgs& args, int64_t slot) {
  return reinterpret_cast<float4*>(args.splitOut + slot * kRows * kValueDim);
}

/** Writes the thread's half of the columns of a segment that others have parts of as well; `rows` are in use.
 */
__device__ inline void writePartial(const KernelArgs& args, int64_t slot, int rows, int half,
                                    const Fragment& at, Accumulator<256>& out, const float (&factor)[2],
                                    const float (&lse)[2]) {
  if (at.warp * kGroupRows >= rows) return;
  // Rows that saw no key here: a NaN among keys that others saw must not reach them when parts are merged.
  if (__any_sync(~0U, factor[0] == 0 || factor[1] == 0)) {
#pragma unroll
    for (int i = 0; i < 128; ++i)
      if (factor[i / 2 % 2] == 0) out.v[i] = 0;
  }
  float4* to = unitsOf(args, slot) + (at.warp * kUnitsPerGroup + half * kUnitsPerGroup / 2) * 32 + at.lane;
#pragma unroll
  for (int i = 0; i < 32; ++i)
    to[i * 32] = make_float4(out.v[4 * i] * factor[0], out.v[4 * i + 1] * factor[0],
                             out.v[4 * i + 2] * factor[1], out.v[4 * i + 3] * factor[1]);
  if (half == 0) publish(args.splitLse + slot * kRows, lse, at);
}

/** Writes one half of the columns of a finished segment: `total` and `top` are of the thread's two rows. */
__device__ inline void writeSegment(const KernelArgs& args, const Segment& segment, int part, int rowBlock,
                                    int half, const Fragment& at, Accumulator<256>& out,
                                    const float (&total)[2], const float (&top)[2]) {
  float factor[2];
  float lse[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool none = total[r] == 0;
    factor[r] = none ? 0 : 1 / total[r];
    lse[r] = none ? -INFINITY : top[r] + log2f(total[r]);
  }
  if (!segment.whole)
    return writePartial(args, splitSlot(args, part, segment.request, rowBlock), args.rows - rowBlock * kRows,
                        half, at, out, factor, lse);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = rowBlock * kRows + at.row + 8 * r;
    if (row >= args.rows) continue;
    const bool none = total[r] == 0;
    const int64_t to = static_cast<int64_t>(segment.request) * args.rows + row;
    float filler = 0;
    if (none && !emptyRow(args.inputs.emptyRow, filler, lse[r])) continue;
    const float outFactor = factor[r] * args.outScale;
    const int64_t first = to * kValueDim + half * kHalf + at.column;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float a = none ? filler : out.v[4 * i + 2 * r] * outFactor;
      const float b = none ? filler : out.v[4 * i + 2 * r + 1] * outFactor;
      writePair(args, first + 8 * i, a, b);
    }
    if (half == 0 && at.column == 0) args.inputs.lse[to] = none ? lse[r] : lseIn(args.inputs.base2, lse[r]);
  }
}

constexpr int kConsumerWarps = kConsumers / 32;

/** Arrivals of a request's warps: each comes once when it has written and once when it has seen that all
 * have; then the count begins again at 0. */
class Arrivals {
 public:
  __device__ Arrivals(const KernelArgs& args, int request, int rowBlock)
      : count_(args.arrivals + static_cast<int64_t>(request) * args.rowBlocks + rowBlock),
        warps_((args.plan.lastPart[request] - args.plan.firstPart[request] + 1) * kConsumerWarps) {}

  /** The warp has written its share of a partial. */
  __device__ void written(int lane) const {
    __syncwarp();
    if (lane > 0) return;
    __threadfence();
    come();
  }

  /** Waits until all warps have written; one thread of each warp calls it. */
  __device__ void await() const {
    uint32_t seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(count_) : "memory");
    } while (seen < warps_);
    come();
  }

 private:
  __device__ void come() const { atomicInc(count_, 2 * warps_ - 1); }

  uint32_t* count_;
  uint32_t warps_;
};

/** Parts that can share a request: one for each multiprocessor of any GPU that this kernel runs on. */
constexpr int kMostParts = 136;
/** A share is at most one unit larger than a part's even share of the units. */
constexpr int kMostUnits = kRows / kGroupRows * kUnitsPerGroup + kMostParts;

/** Memory of a combine, in place of queries and keys. */
struct CombineMemory {
  /** Units of a share, of one part after the other. */
  float4 units[kMostUnits * 32];
  /** Of each row of a share, for each part: its lse, then its weight. */
  float weight[2 * kGroupRows * (kMostParts | 1)];
  /** Whether any part has keys of the row. */
  bool some[kRows];
};
static_assert(sizeof(CombineMemory) <= offsetof(SharedMemory, top));

/** Merges the partials of one request's block of rows; each part that holds some takes a share of the units.
 */
class Combine {
 public:
  __device__ Combine(const KernelArgs& args, CombineMemory& memory, uint32_t arrived, int request,
                     int rowBlock, int part, int warp, int lane)
      : args_(args),
        memory_(memory),
        arrived_(arrived),
        request_(request),
        rowBlock_(rowBlock),
        warp_(warp),
        lane_(lane),
        first_(args.plan.firstPart[request]),
        parts_(args.plan.lastPart[request] - first_ + 1),
        firstSlot_(splitSlot(args, first_, request, rowBlock)),
        stride_(parts_ | 1) {
    const int rows = min(kRows, args.rows - rowBlock * kRows);
    const int units = (rows + kGroupRows - 1) / kGroupRows * kUnitsPerGroup;
    begin_ = units * (part - first_) / parts_;
    end_ = units * (part - first_ + 1) / parts_;
    firstRow_ = begin_ / kUnitsPerGroup * kGroupRows;
  }

  /** Waits for the partials of all parts and enqueues the copies of the share. All consumers call this. */
  __device__ void bring() const {
    const uint32_t bytes = (end_ - begin_) * kUnitBytes;
    if (lane_ == 0) {
      Arrivals(args_, request_, rowBlock_).await();
      // Others wrote the partials, and these warps the memory, by ordinary stores.
      fenceAsyncProxyEverywhere();
      if (warp_ == 0) barrierExpect(arrived_, parts_ * bytes);
      // One thread of each warp: copies by all lanes would be enqueued one after the other.
      for (int i = warp_; i < parts_ && bytes > 0; i += kConsumerWarps)
        copyBytes(sharedAddress(memory_.units) + i * bytes, unitsOf(args_, slotOf(i)) + begin_ * 32, bytes,
                  arrived_);
    }
    __syncwarp();
  }

  /** Merges the share once it has arrived. All consumers call this together. */
  __device__ void merge(uint32_t parity) {
    const int units = end_ - begin_;
    if (units == 0) return;
    weigh();
    barrierWait(arrived_, parity);
    // Warps beyond the units share a unit's parts, and what they found goes where their first part lay.
    const int team = units > kConsumerWarps / 2 ? 1 : units > 2 ? 2 : units > 1 ? 4 : 8;
    const int member = warp_ % team;
    for (int unit = warp_ / team; unit < units; unit += kConsumerWarps / team) {
      float4 sum = sumOf(unit, member, team);
      if (team > 1) {
        if (member > 0 && member < parts_) *unitAt(member, unit) = sum;
        namedSync(kConsumersMeet, kConsumers);
        if (member > 0) break;
        for (int i = 1; i < team && i < parts_; ++i) add(sum, 1, 1, *unitAt(i, unit));
      }
      write(unit, rowOf(unit), sum.x, sum.y);
      write(unit, rowOf(unit) + 8, sum.z, sum.w);
    }
    if (team > 1 && warp_ / team >= units) namedSync(kConsumersMeet, kConsumers);
  }

 private:
  /** Slot of the partial of the i-th part: only the first one can have begun another request before. */
  __device__ int64_t slotOf(int i) const {
    return i == 0 ? firstSlot_ : static_cast<int64_t>(2 * (first_ + i)) * args_.rowBlocks + rowBlock_;
  }

  /** What each part of the share's rows is multiplied with. */
  __device__ void weigh() {
    const int rows = (end_ - 1) / kUnitsPerGroup * kGroupRows + kGroupRows - firstRow_;
#pragma unroll 4
    for (int entry = warp_ * 32 + lane_; entry < rows * parts_; entry += kConsumers) {
      const int part = entry / rows;
      const int row = entry % rows;
      memory_.weight[row * stride_ + part] = __ldcg(args_.splitLse + slotOf(part) * kRows + firstRow_ + row);
    }
    namedSync(kConsumersMeet, kConsumers);
    for (int row = warp_; row < rows; row += kConsumerWarps) weighRow(row);
    namedSync(kConsumersMeet, kConsumers);
  }

  __device__ void weighRow(int row) {
    float* weights = memory_.weight + row * stride_;
    float most = -INFINITY;
    for (int i = lane_; i < parts_; i += 32) most = fmaxf(most, weights[i]);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
    // Nothing but NaN must come out as NaN, nothing at all as 0.
    if (most == -INFINITY) most = 0;
    float total = 0;
    for (int i = lane_; i < parts_; i += 32) total += exp2Fast(weights[i] - most);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
    const float factor = total == 0 ? 0 : args_.outScale / total;
    for (int i = lane_; i < parts_; i += 32) weights[i] = exp2Fast(weights[i] - most) * factor;
    if (lane_ > 0) return;
    memory_.some[row] = total != 0;
    // The lse is written by whoever has the row's first columns.
    const int unit = (firstRow_ + row) / kGroupRows * kUnitsPerGroup;
    if (unit >= begin_ && unit < end_) writeLse(row, most, total);
  }

  __device__ void writeLse(int row, float most, float total) const {
    float lse = lseIn(args_.inputs.base2, most + log2f(total));
    float filler;
    if (total == 0 && !emptyRow(args_.inputs.emptyRow, filler, lse)) return;
    if (rowOfRequest(row) < args_.rows) args_.inputs.lse[outRow(row)] = lse;
  }

  /** Places of a row of the share: in its request, and in out and lse. */
  __device__ int rowOfRequest(int row) const { return rowBlock_ * kRows + firstRow_ + row; }
  __device__ int64_t outRow(int row) const {
    return static_cast<int64_t>(request_) * args_.rows + rowOfRequest(row);
  }

  __device__ float4* unitAt(int part, int unit) const {
    return memory_.units + (part * (end_ - begin_) + unit) * 32 + lane_;
  }

  /** The lane's first row of a unit, from the share's first row on. */
  __device__ int rowOf(int unit) const {
    return (begin_ + unit) / kUnitsPerGroup * kGroupRows - firstRow_ + lane_ / 4;
  }

  __device__ static void add(float4& sum, float weight, float weight8, const float4& v) {
    sum.x += weight * v.x;
    sum.y += weight * v.y;
    sum.z += weight8 * v.z;
    sum.w += weight8 * v.w;
  }

  /** Weighted sum of a unit over the parts from `first` on, every `step`-th. */
  __device__ float4 sumOf(int unit, int first, int step) const {
    const float* weights = memory_.weight + rowOf(unit) * stride_;
    const float* weights8 = weights + 8 * stride_;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 8
    for (int i = first; i < parts_; i += step) add(sum, weights[i], weights8[i], *unitAt(i, unit));
    return sum;
  }

  /** Writes two columns of a row of the share. */
  __device__ void write(int unit, int row, float a, float b) const {
    if (rowOfRequest(row) >= args_.rows) return;
    if (!memory_.some[row]) {
      float lse;
      if (!emptyRow(args_.inputs.emptyRow, a, lse)) return;
      b = a;
    }
    const int column = (begin_ + unit) % kUnitsPerGroup * 8 + lane_ % 4 * 2;
    writePair(args_, outRow(row) * kValueDim + column, a, b);
  }

  const KernelArgs& args_;
  CombineMemory& memory_;
  /** Barrier of the copies. */
  const uint32_t arrived_;
  const int request_;
  const int rowBlock_;
  const int warp_;
  const int lane_;
  const int first_;
  const int parts_;
  const int64_t firstSlot_;
  /** Odd, so that rows begin at different banks. */
  const int stride_;
  /** The share: units, and the first row of them. */
  int begin_;
  int end_;
  int firstRow_;
};

}  // namespace dcpscope::cuda
