#include "core/fault_rules.h"

namespace dcpscope {

const Fault* faultOf(const RunState& state, FaultKind kind, int rank, int layer) {
  return state.faults.at(kind, rank, isDraft(state.config, layer) ? kDraftLayer : layer, state.frame.step);
}

NeutralRule neutralRule(const RunState& state, int rank, int layer) {
  // Which rank is taken for empty is said once a step.
  const Fault* gap =
      faultOf(state, FaultKind::coverageGap, rank, isDraft(state.config, layer) ? kDraftLayer : kAllLayers);
  const bool leavesPadding = faultOf(state, FaultKind::padRowGarbage, rank, layer) != nullptr;
  return {gap != nullptr && gap->variant == kGapOfRank,
          faultOf(state, FaultKind::emptyRowNotNeutralised, rank, layer) != nullptr,
          leavesPadding ? state.shape.batchTokens : state.shape.tokens};
}

ChoiceRule choiceRule(const RunState& state, int rank, int layer) {
  const Fault* sentinel = faultOf(state, FaultKind::topkSentinelOwned, rank, layer);
  return {rank,
          state.config.ranks,
          state.config.interleave,
          faultOf(state, FaultKind::topkNotLocalised, rank, layer) != nullptr,
          sentinel != nullptr,
          sentinel != nullptr && sentinel->variant == kSentinelIndexed};
}

LseReading lseReading(const RunState& state, int rank, int layer) {
  if (faultOf(state, FaultKind::lseHeadMisaligned, rank, layer) != nullptr) return LseReading::untrimmed;
  if (faultOf(state, FaultKind::lseLayoutTransposed, rank, layer) != nullptr) return LseReading::transposed;
  return LseReading::right;
}

bool roundsLse(const RunState& state, int rank, int layer) {
  return faultOf(state, FaultKind::lseLowPrecision, rank, layer) != nullptr;
}

int64_t countedRows(const RunState& state, int rank, int layer) {
  const Shape& s = state.shape;
  const bool few = faultOf(state, FaultKind::splitCounterUndersized, rank, layer) != nullptr;
  return static_cast<int64_t>(s.tokens) * (few ? s.headsPerRank : state.config.heads);
}

int headsTogether(const RunState& state, int rank, int layer) {
  return faultOf(state, FaultKind::gqaHeadMapLocal, rank, layer) == nullptr
             ? state.shape.groupHeads
             : localGroupHeads(state.config, state.shape);
}

lse::MergeRule mergeRule(const RunState& state, int rank, int layer) {
  const Config& c = state.config;
  lse::MergeRule rule{
      c.base2 != (faultOf(state, FaultKind::lseBaseMismatch, rank, layer) != nullptr),
      c.allEmpty == AllEmpty::nan || faultOf(state, FaultKind::mergedEmptyNan, rank, layer) != nullptr};
  if (const Fault* dropped = faultOf(state, FaultKind::lseDropped, rank, layer))
    rule.same = dropped->variant == kDroppedSum ? 1.0F : 1.0F / static_cast<float>(c.ranks);
  return rule;
}

int headsOf(const RunState& state, int rank, int layer) {
  const Fault* permuted = faultOf(state, FaultKind::headOrderPermuted, rank, layer);
  return static_cast<int>((rank + (permuted == nullptr ? 0 : permuted->amount)) % state.config.ranks);
}

}  // namespace dcpscope
