#pragma once
#include <type_traits>

#include "cuda/row_result.cuh"
#include "cuda/sm90/partial.cuh"
#include "cuda/sm90/row_stats.cuh"

/** Output of finished segments, and the merge of those that several parts share. */
namespace dcpscope::cuda {

/** Reads back a value of an output row that this thread has written. */
__device__ inline float readValue(const KernelArgs& args, int64_t at) {
  if (args.outFp32) return static_cast<const float*>(args.inputs.out)[at];
  return __uint_as_float(static_cast<uint32_t>(static_cast<const uint16_t*>(args.inputs.out)[at]) << 16);
}

/** Writes two neighbouring values of an output row. */
__device__ inline void writePair(const KernelArgs& args, int64_t at, float a, float b) {
  if (args.outFp32)
    *reinterpret_cast<float2*>(static_cast<float*>(args.inputs.out) + at) = make_float2(a, b);
  else
    *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(args.inputs.out) + at) = packBf16(a, b);
}

/** Writes the thread's values of one of its rows from `at` on, times `factor`, or `filler` where the row saw
 * no key; returns their largest magnitude if it is wanted. */
template <int kRow, bool kFp32, bool kSee>
__device__ inline float writeRow(const KernelArgs& args, int64_t at, const Accumulator<256>& out, bool none,
                                 float factor, float filler) {
  Largest largest;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const float a = none ? filler : out.v[4 * i + 2 * kRow] * factor;
    const float b = none ? filler : out.v[4 * i + 2 * kRow + 1] * factor;
    if constexpr (kFp32) {
      *reinterpret_cast<float2*>(static_cast<float*>(args.inputs.out) + at + 8 * i) = make_float2(a, b);
    } else {
      *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(args.inputs.out) + at + 8 * i) = packBf16(a, b);
    }
    if constexpr (kSee) {
      largest.add(a);
      largest.add(b);
    }
  }
  return largest.value();
}

template <int kRow>
__device__ inline float writeRow(const KernelArgs& args, bool see, int64_t at, const Accumulator<256>& out,
                                 bool none, float factor, float filler) {
  if (see)
    return args.outFp32 ? writeRow<kRow, true, true>(args, at, out, none, factor, filler)
                        : writeRow<kRow, false, true>(args, at, out, none, factor, filler);
  return args.outFp32 ? writeRow<kRow, true, false>(args, at, out, none, factor, filler)
                      : writeRow<kRow, false, false>(args, at, out, none, factor, filler);
}

/** Writes one half of the columns of a segment that no other part shares, with the thread's two rows' factors
 * of values and lse, and the keys that they see. */
__device__ inline void writeWhole(const KernelArgs& args, int request, int rowBlock, int half,
                                  const Fragment& at, const Accumulator<256>& out, const float (&factor)[2],
                                  float (&lse)[2], const int (&bound)[2]) {
  const RowStats stats(args);
  const bool wanted = stats.wanted();
  const int first = rowBlock * kRows + at.row;
  StatsRecord seen[2]{};
  const auto write = [&](auto r) {
    constexpr int kRow = decltype(r)::value;
    const int row = first + 8 * kRow;
    const bool none = factor[kRow] == 0;
    float filler = 0;
    if (row >= args.rows || (none && !emptyRow(args.inputs.emptyRow, filler, lse[kRow]))) return;
    const int64_t to = static_cast<int64_t>(request) * args.rows + row;
    const int64_t values = to * kValueDim + half * kHalf + at.column;
    const uint32_t most = stats.magnitudeOf(
        writeRow<kRow>(args, wanted, values, out, none, factor[kRow] * args.outScale, filler));
    if (!none) lse[kRow] = lseIn(args.inputs.base2, lse[kRow]);
    const bool writesLse = half == 0 && at.column == 0;
    if (writesLse) args.inputs.lse[to] = lse[kRow];
    if (!wanted) return;
    if (finiteBits(most)) {
      seen[kRow].outMost = most;
    } else {
      // Few rows need it: the thread reads what it wrote.
#pragma unroll 1
      for (int i = 0; i < kHalf / 4; ++i)
        RowStats::seeMagnitude(seen[kRow], stats.magnitudeOf(readValue(args, values + i / 2 * 8 + i % 2)));
    }
    if (writesLse) see(seen[kRow], lse[kRow]);
  };
  write(std::integral_constant<int, 0>{});
  write(std::integral_constant<int, 1>{});
  const bool keys[2] = {bound[0] > 0, bound[1] > 0};
  if (wanted) stats.add(request, first - at.lane / 4, first, seen, keys);
}

/** Writes one half of the columns of a finished segment: `total` and, of a shared one, the largest magnitude
 * are of the thread's two rows, as is `state`. */
__device__ inline void writeSegment(const KernelArgs& args, const Segment& segment, int part, int rowBlock,
                                    int half, const Fragment& at, Accumulator<256>& out,
                                    const float (&total)[2], const Softmax& state, const float (&most)[2]) {
  float factor[2];
  float lse[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool none = total[r] == 0;
    factor[r] = none ? 0 : 1 / total[r];
    lse[r] = none ? -INFINITY : state.top[r] + log2f(total[r]);
  }
  if (segment.whole)
    writeWhole(args, segment.request, rowBlock, half, at, out, factor, lse, state.bound);
  else
    writePartial(args, splitSlot(args, part, segment.request, rowBlock), args.rows - rowBlock * kRows, half,
                 at, out, most, factor, lse);
}

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
constexpr int kMostUnits = kUnitsOfPartial + kMostParts;

/** Memory of a combine, in place of queries and keys. */
struct CombineMemory {
  /** Units of a share, of one part after the other. */
  PartialUnit units[kMostUnits];
  /** Sums of warps that share a unit's parts. */
  float4 sums[2][kConsumers];
  /** Of each row of a share, for each part: what it stored, then its weight in place of the lse. */
  PartialRow rows[2 * kUnitRows * (kMostParts | 1)];
  /** Of each row of a share: whether any part has keys of it, and whether it sees any. */
  bool some[kRows];
  bool keys[kRows];
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
        stats_(args),
        request_(request),
        rowBlock_(rowBlock),
        warp_(warp),
        lane_(lane),
        first_(args.plan.firstPart[request]),
        parts_(args.plan.lastPart[request] - first_ + 1),
        firstSlot_(splitSlot(args, first_, request, rowBlock)),
        stride_(parts_ | 1) {
    const int rows = min(kRows, args.rows - rowBlock * kRows);
    const int units = (rows + kUnitRows - 1) / kUnitRows * kUnitsPerGroup;
    begin_ = units * (part - first_) / parts_;
    end_ = units * (part - first_ + 1) / parts_;
    firstRow_ = begin_ / kUnitsPerGroup * kUnitRows;
    if (stats_.wanted()) token_ = stats_.onlyToken(request, rowBlock * kRows, rowBlock * kRows + kRows - 1);
  }

  /** Waits for the partials of all parts and enqueues the copies of the share. All consumers call this. */
  __device__ void bring() const {
    const uint32_t bytes = (end_ - begin_) * sizeof(PartialUnit);
    // Asked for before the wait, which takes longer.
    const int row = warp_ * 32 + lane_;
    const bool looks = stats_.wanted() && row < kRows - firstRow_ && rowOfRequest(row) < args_.rows;
    const bool keys = looks && stats_.hasKeys(request_, rowOfRequest(row));
    if (lane_ == 0) {
      Arrivals(args_, request_, rowBlock_).await();
      // Others wrote the partials, and these warps the memory, by ordinary stores.
      fenceAsyncProxyEverywhere();
      if (warp_ == 0) barrierExpect(arrived_, parts_ * bytes);
      // One thread of each warp: copies by all lanes would be enqueued one after the other.
      for (int i = warp_; i < parts_ && bytes > 0; i += kConsumerWarps)
        copyBytes(sharedAddress(memory_.units) + i * bytes,
                  args_.splitOut + slotOf(i) * kUnitsOfPartial + begin_, bytes, arrived_);
    }
    __syncwarp();
    if (looks) memory_.keys[row] = keys;
  }

  /** Merges the share once it has arrived. All consumers call this together. */
  __device__ void merge(uint32_t parity) {
    const int units = end_ - begin_;
    if (units == 0) return;
    weigh();
    barrierWait(arrived_, parity);
    if (units > kConsumerWarps / 2) {
#pragma unroll 1
      for (int unit = warp_; unit < units; unit += kConsumerWarps) writeUnit(unit, sumOf(unit, 0, 1));
    } else {
      mergeTogether(units);
    }
    if (token_ >= 0 && memory_.keys[0]) stats_.addJoined(token_, seen_);
  }

 private:
  /** Of few units, several warps share each one's parts. */
  __device__ void mergeTogether(int units) {
    const int team = units > 2 ? 2 : units > 1 ? 4 : 8;
    const int unit = warp_ / team;
    const int member = warp_ % team;
    UnitSum sum{};
    if (unit < units) sum = sumOf(unit, member, team);
    if (member > 0) keep(sum);
    meet();
    if (member > 0 || unit >= units) return;
#pragma unroll 1
    for (int i = 1; i < team; ++i) addKept(sum, warp_ + i);
    writeUnit(unit, sum);
  }

  /** Slot of the partial of the i-th part: only the first one can have begun another request before. */
  __device__ int64_t slotOf(int i) const {
    return i == 0 ? firstSlot_ : static_cast<int64_t>(2 * (first_ + i)) * args_.rowBlocks + rowBlock_;
  }

  /** What each part of the share's rows is multiplied with. 16 threads bring the rows of one group. */
  __device__ void weigh() {
    const int groups = (end_ - 1) / kUnitsPerGroup - begin_ / kUnitsPerGroup + 1;
    const int thread = warp_ * 32 + lane_;
    const int row = thread % kUnitRows;
    // A quotient by 1 to 4 of what is below 2^14.
    const int inverse = (0xffff + groups) / groups;
#pragma unroll 4
    for (int entry = thread / kUnitRows; entry < groups * parts_; entry += kConsumers / kUnitRows) {
      const int part = entry * inverse >> 16;
      const int rowOfShare = (entry - part * groups) * kUnitRows + row;
      const float2 stored = __ldcg(
          reinterpret_cast<const float2*>(args_.splitRows + slotOf(part) * kRows + firstRow_ + rowOfShare));
      memory_.rows[rowOfShare * stride_ + part] = {stored.x, stored.y};
    }
    meet();
#pragma unroll 1
    for (int own = warp_; own < groups * kUnitRows; own += kConsumerWarps) weighRow(own);
    meet();
  }

  // Loops that few parts go through once are not unrolled: their instructions come from far, and only once.
  __device__ void weighRow(int row) {
    PartialRow* parts = memory_.rows + row * stride_;
    float most = -INFINITY;
#pragma unroll 1
    for (int i = lane_; i < parts_; i += 32) most = fmaxf(most, parts[i].lse);
#pragma unroll 1
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
    // Nothing but NaN must come out as NaN, nothing at all as 0.
    if (most == -INFINITY) most = 0;
    float total = 0;
#pragma unroll 1
    for (int i = lane_; i < parts_; i += 32) total += exp2Fast(parts[i].lse - most);
#pragma unroll 1
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
    const float factor = total == 0 ? 0 : args_.outScale / total;
#pragma unroll 1
    for (int i = lane_; i < parts_; i += 32)
      parts[i].lse = exp2Fast(parts[i].lse - most) * factor * parts[i].unit;
    if (lane_ > 0) return;
    memory_.some[row] = total != 0;
    // The lse is written by whoever has the row's first columns.
    const int unit = (firstRow_ + row) / kUnitRows * kUnitsPerGroup;
    if (unit >= begin_ && unit < end_) writeLse(row, most, total);
  }

  __device__ void writeLse(int row, float most, float total) {
    float lse = lseIn(args_.inputs.base2, most + log2f(total));
    float filler;
    if (total == 0 && !emptyRow(args_.inputs.emptyRow, filler, lse)) return;
    if (rowOfRequest(row) >= args_.rows) return;
    args_.inputs.lse[outRow(row)] = lse;
    if (token_ >= 0)
      see(seen_, lse);
    else if (stats_.wanted() && memory_.keys[row])
      stats_.addLse(request_, rowOfRequest(row), lse);
  }

  /** Places of a row of the share: in its request, and in out and lse. */
  __device__ int rowOfRequest(int row) const { return rowBlock_ * kRows + firstRow_ + row; }
  __device__ int64_t outRow(int row) const {
    return static_cast<int64_t>(request_) * args_.rows + rowOfRequest(row);
  }

  /** The lane's first row of a unit, from the share's first row on. */
  __device__ int rowOf(int unit) const {
    return (begin_ + unit) / kUnitsPerGroup * kUnitRows - firstRow_ + lane_ / 4;
  }

  /** Weighted sum of a unit over the parts from `first` on, every `step`-th. */
  __device__ UnitSum sumOf(int unit, int first, int step) const {
    const PartialRow* weights = memory_.rows + rowOf(unit) * stride_;
    const PartialRow* weights8 = weights + 8 * stride_;
    const PartialUnit* units = memory_.units + unit;
    const int share = end_ - begin_;
    UnitSum sum{};
#pragma unroll 4
    for (int i = first; i < parts_; i += step)
      sum.add(units[i * share].lane[lane_], weights[i].lse, weights8[i].lse);
    return sum;
  }

  /** Hands the sum of a warp to another. */
  __device__ void keep(const UnitSum& sum) {
    memory_.sums[0][warp_ * 32 + lane_] = make_float4(sum.v[0], sum.v[1], sum.v[2], sum.v[3]);
    memory_.sums[1][warp_ * 32 + lane_] = make_float4(sum.v[4], sum.v[5], sum.v[6], sum.v[7]);
  }
  __device__ void addKept(UnitSum& sum, int warp) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float4 kept = memory_.sums[i][warp * 32 + lane_];
      sum.v[4 * i] += kept.x;
      sum.v[4 * i + 1] += kept.y;
      sum.v[4 * i + 2] += kept.z;
      sum.v[4 * i + 3] += kept.w;
    }
  }

  __device__ void writeUnit(int unit, const UnitSum& sum) {
    StatsRecord seen[2]{};
    write(unit, rowOf(unit), 0, sum, seen[0]);
    write(unit, rowOf(unit) + 8, 2, sum, seen[1]);
    if (!stats_.wanted()) return;
    if (token_ >= 0) {
      RowStats::join(seen_, seen[0]);
      RowStats::join(seen_, seen[1]);
      return;
    }
    const int row = rowOfRequest(rowOf(unit));
    const bool keys[2] = {row < args_.rows && memory_.keys[rowOf(unit)],
                          row + 8 < args_.rows && memory_.keys[rowOf(unit) + 8]};
    stats_.add(request_, row - lane_ / 4, row, seen, keys);
  }

  /** Writes a row of the share: of a unit's sums those from `first` on. */
  __device__ void write(int unit, int row, int first, const UnitSum& sum, StatsRecord& seen) const {
    if (rowOfRequest(row) >= args_.rows) return;
    float filler = 0;
    float lse;
    const bool some = memory_.some[row];
    if (!some && !emptyRow(args_.inputs.emptyRow, filler, lse)) return;
    const int64_t to =
        outRow(row) * kValueDim + (begin_ + unit) % kUnitsPerGroup * kUnitColumns + lane_ % 4 * 2;
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = some ? sum.v[first + i / 2 * 4 + i % 2] : filler;
    writePair(args_, to, values[0], values[1]);
    writePair(args_, to + 8, values[2], values[3]);
    if (stats_.wanted()) stats_.seeValues(seen, values);
  }

  const KernelArgs& args_;
  CombineMemory& memory_;
  /** Barrier of the copies. */
  const uint32_t arrived_;
  const RowStats stats_;
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
  /** With statistics: the token of all rows, -1 where there are several, and what the lane has seen of it. */
  int token_ = -1;
  StatsRecord seen_{};
};

}  // namespace dcpscope::cuda
