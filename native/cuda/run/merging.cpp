#include "cuda/run/merging.h"

#include "core/fault_rules.h"
#include "cuda/check.h"

namespace dcpscope::cuda {

Merging::Merging(const ExchangeParts& parts)
    : parts_(parts), shape_(transportShape(parts.state.config, parts.state.shape, parts.sizes)) {}

TransportShape Merging::shape(int rank, int layer) const {
  const lse::MergeRule rule = mergeRule(parts_.state, rank, layer);
  TransportShape shape = shape_;
  shape.base2 = rule.base2;
  shape.emptyNan = rule.emptyNan;
  shape.same = rule.same;
  return shape;
}

int Merging::heads(int rank, int layer) const { return headsOf(parts_.state, rank, layer); }

bool Merging::isMissing(int rank, int layer) const {
  return faultOf(parts_.state, FaultKind::mergeMissing, rank, layer) != nullptr;
}

void Merging::keepOwn(int rank, int layer, cudaStream_t stream) const {
  const Shape& s = parts_.state.shape;
  const auto slice = static_cast<size_t>(s.headsPerRank) * static_cast<size_t>(s.valueDim * s.valueBytes);
  const size_t pitch = slice * static_cast<size_t>(parts_.state.config.ranks);
  cudaCheck(
      cudaMemcpy2DAsync(parts_.buffers.merged(layer, rank), slice,
                        parts_.buffers.out(rank, layer) + static_cast<size_t>(rank) * slice, pitch, slice,
                        static_cast<size_t>(parts_.sizes.tokens), cudaMemcpyDeviceToDevice, stream),
      "keeping the own partial");
}

}  // namespace dcpscope::cuda
