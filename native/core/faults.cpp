#include "core/faults.h"

#include <algorithm>
#include <array>

namespace dcpscope {
namespace {

/** In the order of FaultKind. */
constexpr std::array<std::string_view, kFaultKinds> kNames{"coverage-gap", "lse-base-mismatch"};

bool within(const std::vector<int>& named, int value) {
  return named.empty() || std::find(named.begin(), named.end(), value) != named.end();
}

}  // namespace

std::optional<FaultKind> faultKind(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<FaultKind>(found - kNames.begin());
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
