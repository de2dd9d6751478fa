#pragma once
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

/** What a row without keys gets, as the back-end profile has it; false: it stays unwritten. */
__device__ inline bool emptyRow(EmptyRow kind, float& out, float& lse) {
  if (kind == EmptyRow::unwritten) return false;
  out = kind == EmptyRow::nan ? NAN : 0.0F;
  lse = kind == EmptyRow::plusInf ? INFINITY : -INFINITY;
  return true;
}

/** lse2 to the base that is asked for. */
__device__ inline float lseIn(const KernelArgs& args, float lse2) {
  constexpr float kLn2 = 0.69314718055994530942F;
  return args.inputs.base2 ? lse2 : lse2 * kLn2;
}

/** Slot of the partial of a part's segment: a part has at most one that begins and one that ends elsewhere.
 */
__device__ inline int64_t splitSlot(const KernelArgs& args, int part, int request, int rowBlock) {
  const int which = args.plan.begin[part].request == request ? 0 : 1;
  return static_cast<int64_t>(2 * part + which) * args.rowBlocks + rowBlock;
}

/** Writes one half of the columns of a finished segment: `total` and `top` are of the thread's two rows. */
__device__ inline void writeSegment(const KernelArgs& args, const Segment& segment, int part, int rowBlock,
                                    int half, const Fragment& at, const Accumulator<256>& out,
                                    const float (&total)[2], const float (&top)[2]) {
  const int64_t slot = segment.whole ? 0 : splitSlot(args, part, segment.request, rowBlock);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int inBlock = at.row + 8 * r;
    const int row = rowBlock * kRows + inBlock;
    if (row >= args.rows) continue;
    const bool none = total[r] == 0;
    const float factor = none ? 0 : 1 / total[r];
    float lse = none ? -INFINITY : top[r] + log2f(total[r]);
    if (!segment.whole) {
      float* to = args.splitOut + (slot * kRows + inBlock) * kValueDim + half * kHalf + at.column;
#pragma unroll
      for (int i = 0; i < 32; ++i)
        *reinterpret_cast<float2*>(to + 8 * i) =
            make_float2(out.v[4 * i + 2 * r] * factor, out.v[4 * i + 2 * r + 1] * factor);
      if (half == 0 && at.column == 0) args.splitLse[slot * kRows + inBlock] = lse;
      continue;
    }
    const int64_t to = static_cast<int64_t>(segment.request) * args.rows + row;
    float filler = 0;
    if (none && !emptyRow(args.inputs.emptyRow, filler, lse)) continue;
    const float outFactor = factor * args.outScale;
    const int64_t first = to * kValueDim + half * kHalf + at.column;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float a = none ? filler : out.v[4 * i + 2 * r] * outFactor;
      const float b = none ? filler : out.v[4 * i + 2 * r + 1] * outFactor;
      writePair(args, first + 8 * i, a, b);
    }
    if (half == 0 && at.column == 0) args.inputs.lse[to] = none ? lse : lseIn(args, lse);
  }
}

__device__ inline uint32_t* arrivalsOf(const KernelArgs& args, int request, int rowBlock) {
  return args.arrivals + static_cast<int64_t>(request) * args.rowBlocks + rowBlock;
}

/** Counts this part in; the count begins again at 0 once every part has come twice. */
__device__ inline void arriveAt(const KernelArgs& args, int request, int rowBlock) {
  const int parts = args.plan.lastPart[request] - args.plan.firstPart[request] + 1;
  __threadfence();
  atomicInc(arrivalsOf(args, request, rowBlock), 2 * static_cast<uint32_t>(parts) - 1);
}

/** Waits until every part has written its partial of the request. */
__device__ inline void awaitParts(const KernelArgs& args, int request, int rowBlock) {
  const auto parts = static_cast<uint32_t>(args.plan.lastPart[request] - args.plan.firstPart[request] + 1);
  const uint32_t* arrivals = arrivalsOf(args, request, rowBlock);
  uint32_t seen = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
  } while (seen < parts);
}

constexpr int kConsumerWarps = kConsumers / 32;
/** What a warp merges at a time: a quarter of a row. */
constexpr int kUnitColumns = 128;
constexpr int kUnitsPerRow = kValueDim / kUnitColumns;
/** Parts that can share a request: one for each multiprocessor of any GPU that this kernel runs on. */
constexpr int kMostParts = 256;
/** Loads that a thread of the combine keeps under way. */
constexpr int kLoads = 16;

/** Memory of a combine. */
struct CombineMemory {
  /** Of each row of a share, for each part: its lse, then its weight. */
  float weight[kRows + 2 * kMostParts];
  float most[kRows];
  float total[kRows];
  /** Sums of warps that share a unit. */
  float4 value[kConsumerWarps][32];
};

/** Merges the partials of one request's block of rows; each part that holds some takes a share of the units.
 */
class Combine {
 public:
  __device__ Combine(const KernelArgs& args, CombineMemory& memory, int request, int rowBlock, int warp,
                     int lane)
      : args_(args),
        memory_(memory),
        request_(request),
        rowBlock_(rowBlock),
        warp_(warp),
        lane_(lane),
        first_(args.plan.firstPart[request]),
        parts_(args.plan.lastPart[request] - first_ + 1),
        firstSlot_(splitSlot(args, first_, request, rowBlock)) {}

  /** The share of part `part`. All consumers call this together. */
  __device__ void run(int part) {
    const int units = min(kRows, args_.rows - rowBlock_ * kRows) * kUnitsPerRow;
    begin_ = units * (part - first_) / parts_;
    end_ = units * (part - first_ + 1) / parts_;
    firstRow_ = begin_ / kUnitsPerRow;
    if (begin_ == end_) return;
    weigh((end_ + kUnitsPerRow - 1) / kUnitsPerRow - firstRow_);
    if (parts_ <= 2)
      mergeUnits<2>();
    else if (parts_ <= 4)
      mergeUnits<4>();
    else if (parts_ <= 8)
      mergeUnits<8>();
    else if (end_ - begin_ > kConsumerWarps / 2)
      mergeUnits<16>();
    else
      mergeTogether();
  }

 private:
  /** Row of the partials of the i-th part. */
  __device__ int64_t slotRow(int i, int row) const {
    const int64_t slot =
        i == 0 ? firstSlot_ : static_cast<int64_t>(2 * (first_ + i)) * args_.rowBlocks + rowBlock_;
    return slot * kRows + row;
  }

  __device__ float4 load(int i, int unit) const {
    const int column = unit % kUnitsPerRow * kUnitColumns + lane_ * 4;
    return __ldcg(reinterpret_cast<const float4*>(args_.splitOut +
                                                  slotRow(i, unit / kUnitsPerRow) * kValueDim + column));
  }

  __device__ float weightOf(int i, int unit) const {
    return memory_.weight[(unit / kUnitsPerRow - firstRow_) * parts_ + i];
  }

  __device__ static void add(float4& sum, float weight, const float4& v) {
    sum.x += weight * v.x;
    sum.y += weight * v.y;
    sum.z += weight * v.z;
    sum.w += weight * v.w;
  }

  /** Weights of the parts of `rows` rows against the largest lse of each, and their sums. */
  __device__ void weigh(int rows) {
    for (int entry = warp_ * 32 + lane_; entry < rows * parts_; entry += kConsumers)
      memory_.weight[entry] = __ldcg(args_.splitLse + slotRow(entry % parts_, firstRow_ + entry / parts_));
    namedSync(kConsumersMeet, kConsumers);
    for (int row = warp_; row < rows; row += kConsumerWarps) {
      float* weights = memory_.weight + row * parts_;
      float most = -INFINITY;
      for (int i = lane_; i < parts_; i += 32) most = fmaxf(most, weights[i]);
      for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
      // Nothing but NaN must come out as NaN, nothing at all as 0.
      if (most == -INFINITY) most = 0;
      float total = 0;
      for (int i = lane_; i < parts_; i += 32) {
        weights[i] = exp2Fast(weights[i] - most);
        total += weights[i];
      }
      for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
      if (lane_ == 0) {
        memory_.most[row] = most;
        memory_.total[row] = total;
      }
    }
    namedSync(kConsumersMeet, kConsumers);
  }

  /** A warp merges whole units, several at a time where the parts are few. */
  template <int kParts>
  __device__ void mergeUnits() {
    constexpr int kTogether = kLoads / kParts;
    for (int unit = begin_ + warp_ * kTogether; unit < end_; unit += kConsumerWarps * kTogether) {
      float4 sum[kTogether] = {};
      for (int first = 0; first < parts_; first += kParts) {
        float4 v[kTogether][kParts];
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
#pragma unroll
          for (int i = 0; i < kParts; ++i)
            v[u][i] = unit + u < end_ && first + i < parts_ ? load(first + i, unit + u) : float4{0, 0, 0, 0};
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
#pragma unroll
          for (int i = 0; i < kParts; ++i)
            if (unit + u < end_ && first + i < parts_) add(sum[u], weightOf(first + i, unit + u), v[u][i]);
      }
#pragma unroll
      for (int u = 0; u < kTogether; ++u)
        if (unit + u < end_) write(unit + u, sum[u]);
    }
  }

  /** Several warps merge the parts of a unit between them. */
  __device__ void mergeTogether() {
    const int units = end_ - begin_;
    const int team = units > 2 ? 2 : units > 1 ? 4 : 8;
    const int member = warp_ % team;
    const int unit = begin_ + warp_ / team;
    float4 sum = {0, 0, 0, 0};
    if (unit < end_)
      for (int first = member; first < parts_; first += kLoads * team) {
        float4 v[kLoads];
#pragma unroll
        for (int i = 0; i < kLoads; ++i)
          v[i] = first + i * team < parts_ ? load(first + i * team, unit) : float4{0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < kLoads; ++i)
          if (first + i * team < parts_) add(sum, weightOf(first + i * team, unit), v[i]);
      }
    memory_.value[warp_][lane_] = sum;
    namedSync(kConsumersMeet, kConsumers);
    if (unit >= end_ || member != 0) return;
    for (int i = 1; i < team; ++i) add(sum, 1, memory_.value[warp_ + i][lane_]);
    write(unit, sum);
  }

  __device__ void write(int unit, const float4& sum) {
    const int row = unit / kUnitsPerRow;
    const int column = unit % kUnitsPerRow * kUnitColumns + lane_ * 4;
    const float total = memory_.total[row - firstRow_];
    const int64_t to = static_cast<int64_t>(request_) * args_.rows + rowBlock_ * kRows + row;
    const bool none = total == 0;
    float filler = 0;
    float lse = none ? -INFINITY : lseIn(args_, memory_.most[row - firstRow_] + log2f(total));
    if (none && !emptyRow(args_.inputs.emptyRow, filler, lse)) return;
    const float factor = none ? 0 : args_.outScale / total;
    writePair(args_, to * kValueDim + column, none ? filler : sum.x * factor, none ? filler : sum.y * factor);
    writePair(args_, to * kValueDim + column + 2, none ? filler : sum.z * factor,
              none ? filler : sum.w * factor);
    if (column == 0) args_.inputs.lse[to] = lse;
  }

  const KernelArgs& args_;
  CombineMemory& memory_;
  const int request_;
  const int rowBlock_;
  const int warp_;
  const int lane_;
  const int first_;
  const int parts_;
  const int64_t firstSlot_;
  int begin_ = 0;
  int end_ = 0;
  int firstRow_ = 0;
};

}  // namespace dcpscope::cuda
