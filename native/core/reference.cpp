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

/** A key row as the cache keeps it, as doubles. */
void keyDouble(const ReferenceTask& task, int64_t position, float* row, double* out) {
  const RowSpec spec = keyRow(task.source, position);
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

void attend(const ReferenceTask& task, double* scratch, ReferencePartial& out) {
  const int D = task.keyDim;
  const int V = task.valueDim;
  double* q = scratch;
  const int stride = spreadStride<double>(D);
  double* tile = q + kReferenceHeads * stride;
  double* scores = tile + kReferenceTile * stride;
  auto* row = reinterpret_cast<float*>(scores + kReferenceHeads * kReferenceTile);
  for (int h = 0; h < task.heads; ++h) {
    const int head = task.firstHead + h * task.headStride;
    queryDouble(task, queryRow(task.source, task.queryPosition, head), row, q + h * stride);
    out.top[h] = kNegInf;
    out.total[h] = 0;
  }
  for (int i = 0; i < task.heads * V; ++i) out.acc[i] = 0;
  int64_t positions[kReferenceTile];
  int64_t at = task.keyBegin;
  for (int keys = nextKeys(task, at, positions); keys > 0; keys = nextKeys(task, at, positions)) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    const int padded = (keys + kLanes - 1) / kLanes * kLanes;
    for (int k = 0; k < keys; ++k) keyDouble(task, positions[k], row, tile + k * stride);
    for (int i = keys * stride; i < padded * stride; ++i) tile[i] = 0;
    dotTile<vd, double>({q, task.heads, tile, padded, stride, D}, scores, kReferenceTile);
    for (int h = 0; h < task.heads; ++h) {
      const double factor =
          softmaxRow(scores + h * kReferenceTile, keys, padded, task.scale2, out.top[h], out.total[h]);
      if (factor != 1.0)
        for (int v = 0; v < V; v += kHalf) store(out.acc + h * V + v, load<vd>(out.acc + h * V + v) * factor);
    }
    accumulateTile<vd, double>({scores, task.heads, kReferenceTile, tile, padded, stride, out.acc, V});
  }
}

}  // namespace

extern const ReferenceKernels referenceKernels;
const ReferenceKernels referenceKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
