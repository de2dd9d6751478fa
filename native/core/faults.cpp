#include "core/faults.h"

#include <algorithm>
#include <array>

namespace dcpscope {
namespace {

/** In the order of FaultKind. */
constexpr std::array kFaultNames = {
    std::string_view("causal-end-aligned"),   std::string_view("coverage-gap"),
    std::string_view("coverage-overlap"),     std::string_view("interleave-mismatch"),
    std::string_view("kv-layout-mismatch"),   std::string_view("length-views-swapped"),
    std::string_view("lse-base-mismatch"),    std::string_view("page-table-not-local"),
    std::string_view("slot-map-ignores-dcp"), std::string_view("split-counter-undersized"),
    std::string_view("stale-graph-metadata"), std::string_view("table-width-mismatch"),
    std::string_view("topk-not-localised"),   std::string_view("topk-sentinel-owned"),
};

bool within(const std::vector<int>& named, int value) {
  return named.empty() || std::find(named.begin(), named.end(), value) != named.end();
}

}  // namespace

std::optional<FaultKind> faultKind(std::string_view name) {
  const auto* found = std::find(kFaultNames.begin(), kFaultNames.end(), name);
  if (found == kFaultNames.end()) return std::nullopt;
  return static_cast<FaultKind>(found - kFaultNames.begin());
}

Faults::Faults(const std::vector<Fault>& faults) : faults_(faults) {
  for (const Fault& fault : faults_) kinds_ |= uint64_t{1} << static_cast<int>(fault.kind);
}

const Fault* Faults::find(FaultKind kind, int rank, int layer, int step) const {
  for (auto fault = faults_.rbegin(); fault != faults_.rend(); ++fault)
    if (fault->kind == kind && (fault->ranks >> rank & 1) != 0 && within(fault->layers, layer) &&
        within(fault->steps, step))
      return &*fault;
  return nullptr;
}

}  // namespace dcpscope
