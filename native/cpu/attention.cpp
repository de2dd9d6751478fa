#include "cpu/attention.h"

#include "core/micro.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

// As in cpu/plan.h, which vector sources cannot include.
constexpr int kTile = 64;
constexpr int kRows = 32;
constexpr float kNegInf = -__builtin_inff();

inline void copyRow(const float* from, int n, float* to) { __builtin_memcpy(to, from, sizeof(float) * n); }
inline void copyRow(const uint16_t* from, int n, float* to) {
  for (int d = 0; d < n; d += kLanes) store(to + d, widen(load<vh>(from + d)));
}

/** Local keys begin .. begin + keys as float rows in `tile`; rows up to `padded` become 0. */
template <class T>
void widenTile(const AttentionTask& task, int64_t begin, int keys, int padded, float* tile) {
  const int D = task.keyDim;
  const auto* pool = static_cast<const T*>(task.pool);
  for (int k = 0; k < keys;) {
    const int64_t local = begin + k;
    const auto offset = static_cast<int>(local % task.pageSize);
    const int run = task.pageSize - offset < keys - k ? task.pageSize - offset : keys - k;
    const int64_t page = task.pages[local / task.pageSize];
    copyRow(pool + (page * task.pageSize + offset) * D, run * D, tile + static_cast<int64_t>(k) * D);
    k += run;
  }
  for (int i = keys * D; i < padded * D; i += kLanes) store(tile + i, vf{});
}

/** Turns scores into weights against the row's running maximum; returns the factor for what was summed
 * before. */
float softmaxRow(float* scores, int keys, int padded, float scale2, float& top, float& total) {
  for (int k = keys; k < padded; ++k) scores[k] = kNegInf;
  vf most = splat<vf>(kNegInf);
  for (int k = 0; k < padded; k += kLanes) {
    const vf scaled = load<vf>(scores + k) * scale2;
    store(scores + k, scaled);
    most = maximum(scaled, most);
  }
  const float before = top;
  const float tileTop = largest(most);
  top = tileTop > top ? tileTop : top;
  vf tile = {};
  for (int k = 0; k < padded; k += kLanes) {
    const vf weight = exp2Negative(load<vf>(scores + k) - top);
    store(scores + k, weight);
    tile += weight;
  }
  const float factor = before == top       ? 1.0F
                       : before == kNegInf ? 0.0F
                                           : exp2Negative(splat<vf>(before - top))[0];
  total = total * factor + sum(tile);
  return factor;
}

void softmaxTile(const AttentionTask& task, int64_t begin, int keys, int padded, float* scores,
                 const AttentionPartial& out) {
  const int V = task.valueDim;
  for (int r = 0; r < task.rows; ++r) {
    float* row = scores + r * kTile;
    const int64_t seen = task.bounds[r] - begin;
    const auto visible = static_cast<int>(seen < 0 ? 0 : seen < keys ? seen : keys);
    if (visible == 0) {
      for (int k = 0; k < padded; ++k) row[k] = 0;
      continue;
    }
    const float factor = softmaxRow(row, visible, padded, task.scale2, out.top[r], out.total[r]);
    if (factor != 1.0F)
      for (int v = 0; v < V; v += kLanes) store(out.acc + r * V + v, load<vf>(out.acc + r * V + v) * factor);
  }
}

template <class T>
void attendTyped(const AttentionTask& task, float* scratch, const AttentionPartial& out) {
  const int D = task.keyDim;
  float* q = scratch;
  float* tile = q + kRows * D;
  float* scores = tile + kTile * D;
  copyRow(static_cast<const T*>(task.q), task.rows * D, q);
  for (int r = 0; r < task.rows; ++r) {
    out.top[r] = kNegInf;
    out.total[r] = 0;
  }
  __builtin_memset(out.acc, 0, sizeof(float) * task.rows * task.valueDim);
  for (int64_t begin = task.keyBegin; begin < task.keyEnd; begin += kTile) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    const auto keys = static_cast<int>(task.keyEnd - begin < kTile ? task.keyEnd - begin : kTile);
    const int padded = (keys + kLanes - 1) / kLanes * kLanes;
    widenTile<T>(task, begin, keys, padded, tile);
    dotTile<vf>(q, task.rows, tile, padded, D, scores, kTile);
    softmaxTile(task, begin, keys, padded, scores, out);
    accumulateTile<vf>(scores, task.rows, kTile, tile, padded, D, out.acc, task.valueDim);
  }
}

void attend(const AttentionTask& task, float* scratch, const AttentionPartial& out) {
  if (task.bf16)
    attendTyped<uint16_t>(task, scratch, out);
  else
    attendTyped<float>(task, scratch, out);
}

}  // namespace

extern const AttentionKernels attentionKernels;
const AttentionKernels attentionKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
