#include "core/reference.h"

#include "core/micro.h"
#include "core/quantise.h"
#include "core/softmax_row.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

void widenBf16(const uint16_t* values, int n, double* out) {
  for (int d = 0; d < n; ++d) out[d] = static_cast<double>(fromBf16(values[d]));
}

void fp8Double(const uint16_t* values, int n, float scale, double* out) {
  for (int d = 0; d < n; ++d)
    out[d] = static_cast<double>(fromE4m3(toE4m3(exact::quotient(fromBf16(values[d]), scale)))) *
             static_cast<double>(scale);
}

void dsMlaDouble(const uint16_t* values, double* out) {
  alignas(4) uint8_t row[dsmla::kRowBytes];
  dsmla::quantise(values, row);
  for (int g = 0; g < dsmla::kGroups; ++g) {
    float scale;
    __builtin_memcpy(&scale, row + dsmla::kScalesAt + 4 * g, sizeof(scale));
    for (int d = g * dsmla::kGroup; d < (g + 1) * dsmla::kGroup; ++d)
      out[d] = static_cast<double>(dsmla::value(row[d], scale));
  }
  widenBf16(values + dsmla::kLatent, dsmla::kRope, out + dsmla::kLatent);
}

/** A query row as doubles; `row` has room for keyDim floats. */
void queryDouble(const ReferenceTask& task, const RowSpec& spec, float* row, double* out) {
  if (task.kvType == KvType::fp32) {
    task.generate->fp32(spec, task.keyDim, row);
    for (int d = 0; d < task.keyDim; d += kHalf)
      store(out + d, __builtin_convertvector(load<vfHalf>(row + d), vd));
    return;
  }
  auto* half = reinterpret_cast<uint16_t*>(row);
  task.generate->bf16(spec, task.keyDim, half);
  widenBf16(half, task.keyDim, out);
}

/** A row of a token as the cache keeps it, as doubles. */
void cachedDouble(const ReferenceTask& task, int64_t position, int part, float* row, double* out) {
  const RowSpec spec = cachedRow(task.source, position, part, task.kvHeads);
  if (task.kvType == KvType::fp32 || task.kvType == KvType::bf16) return queryDouble(task, spec, row, out);
  auto* half = reinterpret_cast<uint16_t*>(row);
  task.generate->bf16(spec, task.keyDim, half);
  if (task.kvType == KvType::fp8)
    fp8Double(half, task.keyDim, task.kvScale, out);
  else
    dsMlaDouble(half, out);
}

/** Global positions of up to kReferenceTile keys from `at` on, which moves behind them. */
int nextKeys(const ReferenceTask& task, int64_t& at, int64_t* positions) {
  int keys = 0;
  for (; at < task.keyEnd && keys < kReferenceTile; ++at) {
    const int64_t position = task.topk == nullptr ? at : topkId(*task.topk, static_cast<int>(at));
    if (position >= 0) positions[keys++] = position;
  }
  return keys;
}

/** Working memory of one call. */
struct Scratch {
  Scratch(double* from, int keyDim)
      : stride(spreadStride<double>(keyDim)),
        q(from),
        tile(q + kReferenceHeads * stride),
        scores(tile + kReferenceTile * stride),
        row(reinterpret_cast<float*>(scores + kReferenceHeads * kReferenceTile)) {}

  int stride;
  double* q;
  double* tile;
  double* scores;
  float* row;
};

/** Row `part` of some tokens, and rows of zeros behind them. */
void fillTile(const ReferenceTask& task, const int64_t* positions, int keys, int padded, int part,
              const Scratch& to) {
  for (int k = 0; k < keys; ++k) cachedDouble(task, positions[k], part, to.row, to.tile + k * to.stride);
  for (int i = keys * to.stride; i < padded * to.stride; ++i) to.tile[i] = 0;
}

/** The task's heads first .. first + count - 1, which share KV head `kvHead`. */
void attendHeads(const ReferenceTask& task, int first, int count, int kvHead, const Scratch& scratch,
                 ReferencePartial& out) {
  const int V = task.valueDim;
  const int stride = scratch.stride;
  double* acc = out.acc + static_cast<int64_t>(first) * V;
  int64_t positions[kReferenceTile];
  int64_t at = task.keyBegin;
  for (int keys = nextKeys(task, at, positions); keys > 0; keys = nextKeys(task, at, positions)) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    const int padded = (keys + kLanes - 1) / kLanes * kLanes;
    fillTile(task, positions, keys, padded, kvHead, scratch);
    dotTile<vd, double>({scratch.q + first * stride, count, scratch.tile, padded, stride, task.keyDim},
                        scratch.scores, kReferenceTile);
    for (int h = 0; h < count; ++h) {
      const double factor = softmaxRow(scratch.scores + h * kReferenceTile, keys, padded, task.scale2,
                                       out.top[first + h], out.total[first + h]);
      if (factor != 1.0)
        for (int v = 0; v < V; v += kHalf) store(acc + h * V + v, load<vd>(acc + h * V + v) * factor);
    }
    if (task.kvHeads > 0) fillTile(task, positions, keys, padded, task.kvHeads + kvHead, scratch);
    accumulateTile<vd, double>({scratch.scores, count, kReferenceTile, scratch.tile, padded, stride, acc, V});
  }
}

void attend(const ReferenceTask& task, double* memory, ReferencePartial& out) {
  const Scratch scratch(memory, task.keyDim);
  const auto headAt = [&](int h) { return task.firstHead + h * task.headStride; };
  for (int h = 0; h < task.heads; ++h) {
    queryDouble(task, queryRow(task.source, task.queryPosition, headAt(h)), scratch.row,
                scratch.q + h * scratch.stride);
    out.top[h] = kNegInf;
    out.total[h] = 0;
  }
  for (int i = 0; i < task.heads * task.valueDim; ++i) out.acc[i] = 0;
  for (int first = 0; first < task.heads;) {
    const int kvHead = headAt(first) / task.groupHeads;
    int end = first + 1;
    while (end < task.heads && headAt(end) / task.groupHeads == kvHead) ++end;
    attendHeads(task, first, end - first, kvHead, scratch, out);
    first = end;
  }
}

}  // namespace

extern const ReferenceKernels referenceKernels;
const ReferenceKernels referenceKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
