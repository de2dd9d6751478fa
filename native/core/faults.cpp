#include "core/faults.h"

#include <algorithm>
#include <iterator>

namespace dcpscope {
namespace {

/** In the order of FaultKind. */
constexpr std::string_view kFaultNames[] = {
    "causal-end-aligned",    "coverage-gap",         "coverage-overlap",     "empty-row-not-neutralised",
    "gqa-head-map-local",    "head-order-permuted",  "interleave-mismatch",  "kv-layout-mismatch",
    "length-views-swapped",  "lse-base-mismatch",    "lse-dropped",          "lse-head-misaligned",
    "lse-layout-transposed", "lse-low-precision",    "merge-missing",        "merged-empty-nan",
    "pad-row-garbage",       "page-table-not-local", "slot-map-ignores-dcp", "split-counter-undersized",
    "stale-graph-metadata",  "table-width-mismatch", "topk-not-localised",   "topk-sentinel-owned",
};

bool actsOnMetadata(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::causalEndAligned:
    case FaultKind::coverageOverlap:
    case FaultKind::interleaveMismatch:
    case FaultKind::lengthViewsSwapped:
    case FaultKind::pageTableNotLocal:
    case FaultKind::slotMapIgnoresDcp:
    case FaultKind::staleGraphMetadata:
    case FaultKind::tableWidthMismatch:
      return true;
    case FaultKind::coverageGap:
      return fault.variant == kGapOfTokens;
    default:
      return false;
  }
}

bool within(const std::vector<int>& named, int value) {
  return named.empty() || std::find(named.begin(), named.end(), value) != named.end();
}

}  // namespace

std::optional<FaultKind> faultKind(std::string_view name) {
  const auto* found = std::find(std::begin(kFaultNames), std::end(kFaultNames), name);
  if (found == std::end(kFaultNames)) return std::nullopt;
  return static_cast<FaultKind>(found - kFaultNames);
}

std::string_view name(FaultKind kind) { return kFaultNames[static_cast<int>(kind)]; }

bool contains(const std::vector<Fault>& faults, FaultKind kind) {
  return std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) { return fault.kind == kind; });
}

Faults::Faults(const std::vector<Fault>& faults) : faults_(faults) {
  for (const Fault& fault : faults_) kinds_ |= uint64_t{1} << static_cast<int>(fault.kind);
}

uint64_t Faults::launchedIn(int step, bool draft) const {
  uint64_t acting = 0;
  for (size_t i = 0; i < faults_.size(); ++i)
    if (faults_[i].draft == draft && !actsOnMetadata(faults_[i]) && within(faults_[i].steps, step))
      acting |= uint64_t{1} << i;
  return acting;
}

const Fault* Faults::find(FaultKind kind, int rank, int layer, int step) const {
  for (auto fault = faults_.rbegin(); fault != faults_.rend(); ++fault)
    if (fault->kind == kind && fault->draft == (layer == kDraftLayer) && (fault->ranks >> rank & 1) != 0 &&
        within(fault->layers, layer) && within(fault->steps, step))
      return &*fault;
  return nullptr;
}

}  // namespace dcpscope
