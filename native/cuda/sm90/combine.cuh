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

/** Slot of the partial of a part's segment: a part has at most one that begins and one that ends elsewhere. */
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
  const auto parts =
      static_cast<uint32_t>(args.plan.lastPart[request] - args.plan.firstPart[request] + 1);
  const uint32_t* arrivals = arrivalsOf(args, request, rowBlock);
  uint32_t seen = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
  } while (seen < parts);
}

constexpr int kConsumerWarps = kConsumers / 32;
constexpr int kUnitColumns = 128;
constexpr int kUnitsPerRow = kValueDim / kUnitColumns;

/** Weighted sum of one row's columns over parts first, first + stride, ... ; `most` is the largest lse. */
struct PartSum {
  float4 value = {0, 0, 0, 0};
  float weight = 0;
};

/** Memory of a combine whose units are shared by several warps. */
struct CombineMemory {
  float4 value[kConsumerWarps][32];
  float weight[kConsumerWarps];
};

/**
 * Merges the share of part `part` in the rows of a request's block: units of one row and 128 columns. Many parts are summed
 * by several warps at once. `warp` counts the consumers' warps; all of them call this together.
 */
__device__ inline void combine(const KernelArgs& args, CombineMemory& memory, int part, int request, int rowBlock,
                               int warp, int lane) {
  const int first = args.plan.firstPart[request];
  const int parts = args.plan.lastPart[request] - first + 1;
  const int rows = min(kRows, args.rows - rowBlock * kRows);
  const int units = rows * kUnitsPerRow;
  const int unitBegin = units * (part - first) / parts;
  const int unitEnd = units * (part - first + 1) / parts;
  const int team = parts > 32 ? 8 : parts > 16 ? 4 : parts > 8 ? 2 : 1;
  const int member = warp % team;
  for (int base = unitBegin; base < unitEnd; base += kConsumerWarps / team) {
    const int unit = base + warp / team;
    const bool active = unit < unitEnd;
    const int row = active ? unit / kUnitsPerRow : 0;
    const int column = unit % kUnitsPerRow * kUnitColumns + lane * 4;
    const auto slotOf = [&](int i) {
      return splitSlot(args, first + i, request, rowBlock) * kRows + row;
    };
    float most = -INFINITY;
    bool some = false;
    if (active)
      for (int i = lane; i < parts; i += 32) {
        const float lse = __ldcg(args.splitLse + slotOf(i));
        most = fmaxf(most, lse);
        some = some || lse != -INFINITY;
      }
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
    some = __any_sync(~0U, some);
    // Nothing but NaN: it must come out as NaN.
    if (some && most == -INFINITY) most = 0;
    PartSum sum;
    if (some) {
#pragma unroll 8
      for (int i = member; i < parts; i += team) {
        const int64_t slot = slotOf(i);
        const float4 v = __ldcg(reinterpret_cast<const float4*>(args.splitOut + slot * kValueDim + column));
        const float weight = exp2Fast(__ldcg(args.splitLse + slot) - most);
        sum.value.x += weight * v.x;
        sum.value.y += weight * v.y;
        sum.value.z += weight * v.z;
        sum.value.w += weight * v.w;
        sum.weight += weight;
      }
    }
    if (team > 1) {
      memory.value[warp][lane] = sum.value;
      if (lane == 0) memory.weight[warp] = sum.weight;
      namedSync(kConsumersMeet, kConsumers);
      if (member == 0)
        for (int i = 1; i < team; ++i) {
          const float4 v = memory.value[warp + i][lane];
          sum.value.x += v.x;
          sum.value.y += v.y;
          sum.value.z += v.z;
          sum.value.w += v.w;
          sum.weight += memory.weight[warp + i];
        }
      namedSync(kConsumersMeet, kConsumers);
    }
    if (!active || member != 0) continue;
    const int64_t to = static_cast<int64_t>(request) * args.rows + rowBlock * kRows + row;
    const bool none = sum.weight == 0;
    float filler = 0;
    float lse = none ? -INFINITY : lseIn(args, most + log2f(sum.weight));
    if (none && !emptyRow(args.inputs.emptyRow, filler, lse)) continue;
    const float factor = none ? 0 : args.outScale / sum.weight;
    writePair(args, to * kValueDim + column, none ? filler : sum.value.x * factor,
              none ? filler : sum.value.y * factor);
    writePair(args, to * kValueDim + column + 2, none ? filler : sum.value.z * factor,
              none ? filler : sum.value.w * factor);
    if (column == 0) args.inputs.lse[to] = lse;
  }
}

}  // namespace dcpscope::cuda
