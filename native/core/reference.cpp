#include "core/reference.h"

#include "core/micro.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

constexpr int kHalf = kLanes / 2;
constexpr double kNegInf = -__builtin_inf();

/** One generated row, rounded as the cache rounds it, as doubles; `row` has room for n floats. */
void generateDouble(const ReferenceTask& task, const RowSpec& spec, float* row, double* out) {
  if (task.bf16) {
    auto* half = reinterpret_cast<uint16_t*>(row);
    task.generate->bf16(spec, task.keyDim, half);
    for (int d = 0; d < task.keyDim; d += kLanes) {
      float wide[kLanes];
      store(wide, widen(load<vh>(half + d)));
      for (int i = 0; i < kLanes; ++i) out[d + i] = static_cast<double>(wide[i]);
    }
    return;
  }
  task.generate->fp32(spec, task.keyDim, row);
  for (int d = 0; d < task.keyDim; d += kHalf)
    store(out + d, __builtin_convertvector(load<vfHalf>(row + d), vd));
}

/** Turns one row's scores into weights against its running maximum; returns the factor for what was summed
 * before. */
double softmaxRow(double* scores, int keys, int padded, double scale2, double& top, double& total) {
  double most = kNegInf;
  for (int k = 0; k < keys; ++k) {
    scores[k] *= scale2;
    most = scores[k] > most ? scores[k] : most;
  }
  for (int k = keys; k < padded; ++k) scores[k] = kNegInf;
  const double before = top;
  top = most > top ? most : top;
  vd tile = {};
  for (int k = 0; k < padded; k += kHalf) {
    const vd weight = exp2Negative(load<vd>(scores + k) - top);
    store(scores + k, weight);
    tile += weight;
  }
  const double factor = before == top       ? 1.0
                        : before == kNegInf ? 0.0
                                            : exp2Negative(splat<vd>(before - top))[0];
  total = total * factor + sum(tile);
  return factor;
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
    generateDouble(task, queryRow(task.source, task.queryPosition, head), row, q + h * stride);
    out.top[h] = kNegInf;
    out.total[h] = 0;
  }
  for (int i = 0; i < task.heads * V; ++i) out.acc[i] = 0;
  for (int64_t begin = task.keyBegin; begin < task.keyEnd; begin += kReferenceTile) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    const auto keys =
        static_cast<int>(task.keyEnd - begin < kReferenceTile ? task.keyEnd - begin : kReferenceTile);
    const int padded = (keys + kLanes - 1) / kLanes * kLanes;
    for (int k = 0; k < keys; ++k)
      generateDouble(task, keyRow(task.source, begin + k), row, tile + k * stride);
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
