#include "cuda/run/injected.h"

#include <limits>

#include "core/stale.h"
#include "cuda/ops/faults.h"

namespace dcpscope::cuda {

Injected::Injected(const RunState& state, const Sizes& sizes, const Buffers& buffers)
    : state_(state),
      c_(state.config),
      s_(state.shape),
      z_(sizes),
      buffers_(buffers),
      ruled_(z_.ruledBounds, "workspace"),
      misread_(z_.misread, "kv_pages") {}

void Injected::fill(int rank, int layer, int token, float out, float lse, cudaStream_t stream) const {
  const int64_t heads = c_.heads;
  fillPartial({token * heads, z_.tokens * heads, s_.valueDim, s_.valueBytes == 4, buffers_.out(rank, layer),
               buffers_.lse(rank, layer), out, lse},
              stream);
}

void Injected::age(int rank, int layer, cudaStream_t stream) const {
  if (c_.emptyRow == EmptyRow::unwritten) fill(rank, layer, 0, kStaleOut, kStaleLse, stream);
}

/** Reads end with the pools of the rank. */
const void* Injected::pool(int rank, int layer, cudaStream_t stream) const {
  const char* own = buffers_.pool(rank, layer);
  if (!acts(FaultKind::kvLayoutMismatch, rank, layer)) return own;
  misread({own, (z_.layers - layer) * z_.pool, s_.poolPages * c_.pageSize, s_.cacheRowBytes,
           otherRowBytes(s_.cacheRowBytes), misread_.at()},
          stream);
  return misread_.at();
}

void Injected::spoil(int rank, int layer, cudaStream_t stream) const {
  if (acts(FaultKind::padRowGarbage, rank, layer))
    fill(rank, layer, s_.batchTokens, std::numeric_limits<float>::quiet_NaN(), kStaleLse, stream);
  if (roundsLse(state_, rank, layer))
    roundToBf16(buffers_.lse(rank, layer), static_cast<int64_t>(z_.tokens) * c_.heads, stream);
}

const int32_t* Injected::ruled(int rank, int layer, const int32_t* bounds, cudaStream_t stream) const {
  const NeutralRule rule = neutralRule(state_, rank, layer);
  if (!rule.all && !rule.keeps && rule.end == s_.tokens) return bounds;
  ruleBounds(rule, z_.tokens, bounds, ruled_.at<int32_t>(), stream);
  return ruled_.at<int32_t>();
}

}  // namespace dcpscope::cuda
